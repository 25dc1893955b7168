"""Graphs: all code that uses LangGraph."""

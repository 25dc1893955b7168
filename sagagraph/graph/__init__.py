"""Graphs: everything that knows LangGraph."""

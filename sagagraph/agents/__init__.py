"""Agents: langchain's `create_agent` as a saga, with plans that a person approves."""

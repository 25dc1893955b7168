"""MCP: the command that serves sagas as tools."""

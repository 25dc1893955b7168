"""MCP: the tools of other servers as operations of sagas."""

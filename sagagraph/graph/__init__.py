"""Everything LangGraph."""

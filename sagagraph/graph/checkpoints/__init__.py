"""Checkpoints of LangGraph: where they are kept, and the fence before them."""

"""Checkpoints of LangGraph: where they are kept, and the fence in front of them."""

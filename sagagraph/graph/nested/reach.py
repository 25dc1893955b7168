"""Reach of a node: the graph that it is, or the graphs that its function calls."""

from __future__ import annotations

from typing import Any

from langgraph.pregel import Pregel
from langgraph.pregel._utils import get_function_nonlocals  # how LangGraph itself finds the graphs that a function calls


def graphs_in(runnable: Any) -> list[Pregel[Any, Any, Any, Any]]:
    """Return the node itself, if it is a graph, or the graphs that its function reaches."""
    functions = [each for each in (getattr(runnable, "func", None), getattr(runnable, "afunc", None)) if each is not None]
    reached = [runnable, *(each for function in functions for each in get_function_nonlocals(function))]
    found = [getattr(each, "__self__", each) for each in reached]
    return list({id(each): each for each in found if isinstance(each, Pregel)}.values())

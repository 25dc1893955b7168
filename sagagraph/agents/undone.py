"""Undone operations: what a compensation took back, as messages that the model reads in the next turn."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage, ToolMessage


def says_what_was_undone(state: Any, undone: tuple[str, ...]) -> dict[str, Any]:
    """Return a function for `compile(on_undone=…)` of graphs with messages; calls that were never answered get an answer, as
    providers require.
    """
    left = [
        ToolMessage("This did not happen: the run was undone.", tool_call_id=each["id"], name=each["name"], status="error")
        for each in unanswered(state["messages"])
    ]
    names = ", ".join(name_of(each) for each in undone)
    what = f"These were undone and are no longer in effect: {names}." if names else "Nothing of it stands."
    return {"messages": [*left, AIMessage(f"The run was undone. {what}")]}


def unanswered(messages: list[Any]) -> list[Any]:
    """Return the calls in the model's last message that no message answers."""
    last = next((each for each in reversed(messages) if isinstance(each, AIMessage)), None)
    answered = {each.tool_call_id for each in messages if isinstance(each, ToolMessage)}
    return [each for each in last.tool_calls if each["id"] not in answered] if last else []


def name_of(operation: str) -> str:
    """Return the name of the tool, or of the node, of an operation such as `3/tools#0/book_car-01a3d65c-1`."""
    name = operation.rpartition("/")[2].partition("#")[0]
    tool, *numbers = name.rsplit("-", 2)
    return tool if len(numbers) == 2 and numbers[1].isdecimal() else name

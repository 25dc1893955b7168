"""Models: a chat model that follows a script, for tests and examples of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

Call = tuple[str, Mapping[str, Any]]
"""The name of a tool and its arguments."""
_SAID_BY = "scripted by"


class ScriptedModel(BaseChatModel):
    """Scripted model: it says what its script has next after the conversation that it is shown, so a killed process continues
    where it was.
    """

    script: list[AIMessage]
    called: str

    @classmethod
    def saying(cls, *said: str | Sequence[Call], name: str = "model") -> ScriptedModel:
        """Make a model. Each of `said` is a text, or calls of tools that are made at once. `name` tells models in one
        conversation apart.
        """
        return cls(script=[_message(each, f"{name}-{number}") for number, each in enumerate(said)], called=name)

    def bind_tools(self, tools: Any, **options: Any) -> ScriptedModel:  # noqa: ARG002 - the base class's signature
        return self

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *_arguments: Any, **_options: Any) -> ChatResult:
        said = sum(each.response_metadata.get(_SAID_BY) == self.called for each in messages)
        message = self.script[min(said, len(self.script) - 1)].model_copy()
        message.response_metadata = {_SAID_BY: self.called}
        return ChatResult(generations=[ChatGeneration(message=message)])


def _message(said: str | Sequence[Call], name: str) -> AIMessage:
    if isinstance(said, str):
        return AIMessage(said)
    calls = [{"name": tool, "args": dict(args), "id": f"{name}-{number}"} for number, (tool, args) in enumerate(said)]
    return AIMessage("", tool_calls=calls)

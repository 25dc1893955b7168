"""What a scripted model may do when it is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Asked:
    """One request, whichever protocol it came by."""

    protocol: str
    """`openai` or `anthropic`."""
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Mapping[str, Any]

    @property
    def system(self) -> str:
        if self.protocol == "anthropic":
            return _text(self.body.get("system", ""))
        return "".join(_text(each["content"]) for each in self.body["messages"] if each["role"] in ("system", "developer"))

    @property
    def user(self) -> str:
        return "".join(_text(each["content"]) for each in self.body["messages"] if each["role"] == "user")

    @property
    def tool(self) -> str | None:
        """The name of the tool that the answer must call."""
        tools = self.body.get("tools")
        return tools[0]["name"] if tools and self.protocol == "anthropic" else None


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


@dataclass(frozen=True, slots=True)
class Say:
    """An answer in the structured form that was asked for."""

    content: Any
    tokens_in: int = 200
    tokens_out: int = 40


class CallTools:
    """An answer that calls tools: pairs of a name and arguments."""

    def __init__(self, *calls: tuple[str, Mapping[str, Any]]) -> None:
        self.calls = calls


@dataclass(frozen=True, slots=True)
class Text:
    """An answer in plain text, whatever was asked for."""

    text: str


@dataclass(frozen=True, slots=True)
class StopShort:
    """An answer that ends in the middle."""

    text: str = '{"offers": ["fl'


@dataclass(frozen=True, slots=True)
class Refuse:
    pass


@dataclass(frozen=True, slots=True)
class Status:
    """An error. `{key}` in the message becomes the key that was sent, as some providers have it."""

    code: int
    message: str = "no, and your key is {key}"


@dataclass(frozen=True, slots=True)
class Hang:
    """No answer for so long; `drips` sends a byte now and then, so that no time limit on reading notices."""

    seconds: float = 30.0
    drips: bool = False


@dataclass(frozen=True, slots=True)
class Flood:
    """An answer that never ends, as fast as it is read."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection is closed without an answer."""


Move = Say | CallTools | Text | StopShort | Refuse | Status | Hang | Flood | Drop
Step = Move | Callable[[Asked], Move]

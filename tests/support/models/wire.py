"""Answers as the two protocols write them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from tests.support.models.script import Asked, CallTools, Refuse, Say, StopShort, Text

Told = Say | CallTools | Text | StopShort | Refuse


def answer(asked: Asked, told: Told) -> Mapping[str, Any]:
    return _of_anthropic(asked, told) if asked.protocol == "anthropic" else _of_openai(asked, told)


def error(asked: Asked, code: int, message: str) -> Mapping[str, Any]:
    told = {"type": "invalid_request_error", "message": message}
    return {"type": "error", "error": told} if asked.protocol == "anthropic" else {"error": {**told, "code": str(code)}}


def _of_openai(asked: Asked, told: Told) -> Mapping[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    reason = "stop"
    match told:
        case Say():
            message["content"] = json.dumps(told.content)
        case CallTools():
            message["tool_calls"], reason = [*map(_called, told.calls)], "tool_calls"
        case Text():
            message["content"] = told.text
        case StopShort():
            message["content"], reason = told.text, "length"
        case Refuse():
            message["refusal"] = "I can not help with that."
    tokens_in, tokens_out = _tokens(told)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": asked.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": {"prompt_tokens": tokens_in, "completion_tokens": tokens_out, "total_tokens": tokens_in + tokens_out},
    }


def _of_anthropic(asked: Asked, told: Told) -> Mapping[str, Any]:
    content: list[dict[str, Any]] = []
    reason = "end_turn"
    match told:
        case Say() if asked.tool is not None:
            content, reason = [{"type": "tool_use", "id": "toolu_1", "name": asked.tool, "input": told.content}], "tool_use"
        case Say():
            content = [{"type": "text", "text": json.dumps(told.content)}]
        case Text():
            content = [{"type": "text", "text": told.text}]
        case StopShort():
            content, reason = [{"type": "text", "text": told.text}], "max_tokens"
        case Refuse():
            reason = "refusal"
    tokens_in, tokens_out = _tokens(told)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": asked.body["model"],
        "content": content,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
    }


def _called(call: tuple[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """As OpenAI writes it, with an id of its own."""
    name, arguments = call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"id": f"call_{uuid4().hex}", "type": "function", "function": function}


def _tokens(told: Told) -> tuple[int, int]:
    return (told.tokens_in, told.tokens_out) if isinstance(told, Say) else (200, 10)

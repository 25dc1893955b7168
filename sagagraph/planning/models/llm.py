"""Language models through LangChain: OpenAI, Anthropic, and any server that speaks OpenAI's protocol.

The SDKs take seconds to import, so that happens in a thread, and not before it is asked for. What a provider says about a failure
is never repeated: it can hold the key that it was sent.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from sagagraph.context.model import Answer, Model, Prices, Question, Usage
from sagagraph.errors import InvalidInputError, ModelError, UnusableAnswerError

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage

TIME_LIMIT_S: Final = 10.0
"""Seconds for one answer, from the question to its last byte."""
LONGEST_ANSWER_B: Final = 256 * 1024
"""Bytes of an answer, with all that a provider sends along: 32 for each of the 8192 tokens that the longest may have."""
_STOPPED_SHORT: Final = frozenset({"length", "max_tokens", "model_context_window_exceeded"})
_REFUSED: Final = frozenset({"content_filter", "refusal"})


@dataclass(frozen=True, slots=True)
class _Provider:
    package: str
    chat_model: str
    key: str
    """The environment variable that holds the key."""
    base_url: str
    """The environment variable with the provider's address, if not the usual one."""
    options: Mapping[str, Any]
    method: str
    """The method of structured output."""
    http: str
    """The attribute of the chat model that is its HTTP client."""


_PROVIDERS: Final[Mapping[str, _Provider]] = {
    "openai": _Provider(
        "langchain_openai",
        "ChatOpenAI",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        {"use_responses_api": False},
        "json_schema",
        "root_async_client._client",
    ),
    "anthropic": _Provider(
        "langchain_anthropic",
        "ChatAnthropic",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
        {},
        "function_calling",
        "_async_client._client",
    ),
}


def init_model(
    name: str,
    *,
    time_limit_s: float = TIME_LIMIT_S,
    prices: Prices | None = None,
    environment: Mapping[str, str] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Model:
    """Return the model named `PROVIDER:NAME`, as in `openai:gpt-5-mini`. Nothing is imported or called yet.

    Its key comes from `OPENAI_API_KEY` or `ANTHROPIC_API_KEY` of the environment, and its address from `OPENAI_BASE_URL` or
    `ANTHROPIC_BASE_URL` if that is set.

    Raises:
        InvalidInputError: there is no such provider.
    """
    provider, _, model = name.partition(":")
    if provider not in _PROVIDERS or not model.strip():
        known = " or ".join(f"{each}:NAME" for each in _PROVIDERS)
        raise InvalidInputError(f"{name[:60]!r} names no model; use {known}", field="SAGAGRAPH_MODEL")
    where = os.environ if environment is None else environment
    return ChatModel(f"{provider}:{model}", _PROVIDERS[provider], model, time_limit_s, prices, where, clock)


@dataclass(slots=True, repr=False, eq=False)  # what the environment holds must never be shown
class ChatModel:
    """A LangChain chat model as a `Model`. `init_model` makes it."""

    name: str
    provider: _Provider
    model: str
    time_limit_s: float
    prices: Prices | None
    environment: Mapping[str, str]
    clock: Callable[[], float]
    opening: Future[BaseChatModel] | None = None

    async def answer(self, question: Question) -> Answer:
        begun = self.clock()
        try:
            async with asyncio.timeout(self.time_limit_s):
                chat = await asyncio.shield(asyncio.wrap_future(self.open()))
                message = await self._asked(chat, question)
        except ModelError:
            raise
        except Exception as exc:  # noqa: BLE001 - whatever breaks in an SDK is an outage of the model
            # The cause is left out: a provider's words about a refused key may contain that key.
            raise self._failure(exc) from None
        counted = message.usage_metadata
        tokens = (counted["input_tokens"], counted["output_tokens"]) if counted else (0, 0)
        usage = Usage(self.name, *tokens, self.clock() - begun, self.prices.of(*tokens) if self.prices else None)
        try:
            return Answer(self._content(message), usage)
        except UnusableAnswerError as exc:
            raise UnusableAnswerError(str(exc), usage=usage) from None

    def open(self) -> Future[BaseChatModel]:
        """Begin to open the client in a thread, unless that was done and has not failed."""
        if self.opening is None or (self.opening.done() and self.opening.exception() is not None):
            thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="model")
            self.opening = thread.submit(self._opened)
            thread.shutdown(wait=False)
        return self.opening

    def _opened(self) -> BaseChatModel:
        provider = self.provider
        key = self.environment.get(provider.key, "")
        if not key.strip():
            raise ModelError(f"{self.name}: no key is set: set {provider.key}, or unset SAGAGRAPH_MODEL to plan without a model")
        try:
            make = getattr(importlib.import_module(provider.package), provider.chat_model)
        except ImportError:
            raise ModelError(f"{self.name}: {provider.package} is not installed: pip install 'sagagraph[llm]'") from None
        address = {"base_url": url} if (url := self.environment.get(provider.base_url)) else {}
        chat: BaseChatModel = make(
            model=self.model,
            api_key=key,
            max_retries=0,
            timeout=self.time_limit_s,
            # LangChain shares one connection pool in the process: a pooled connection would outlive its event loop.
            default_headers={"Connection": "close"},
            **address,
            **provider.options,
        )
        attrgetter(provider.http)(chat).event_hooks = {"response": [_shorten]}
        return chat

    async def _asked(self, chat: BaseChatModel, question: Question) -> AIMessage:
        from langchain_core.messages import HumanMessage, SystemMessage

        # The limit is set on a copy: structured output does not accept it as an option everywhere.
        limited = chat.model_copy(update={"max_tokens": question.max_tokens})
        asking: Any = limited.with_structured_output(dict(question.schema), method=self.provider.method, include_raw=True)
        # Its second step is a parser that takes the square of the length of what is no JSON, and that nothing can interrupt.
        answered = await asking.first.ainvoke([SystemMessage(question.instructions), HumanMessage(question.data.text)])
        message: AIMessage = answered["raw"]
        return message

    def _content(self, message: AIMessage) -> Any:
        """Return the model's answer, read strictly."""
        reason = message.response_metadata.get("finish_reason") or message.response_metadata.get("stop_reason")
        if reason in _STOPPED_SHORT:
            raise UnusableAnswerError(f"{self.name} stopped in the middle of its answer ({reason})")
        if reason in _REFUSED or message.additional_kwargs.get("refusal"):
            raise UnusableAnswerError(f"{self.name} refused to answer")
        if message.tool_calls:
            return message.tool_calls[0]["args"]
        try:
            return json.loads(message.text, parse_constant=_no_number)
        except (ValueError, RecursionError):
            raise UnusableAnswerError(f"{self.name} answered something that is not JSON") from None

    def _failure(self, exc: Exception) -> ModelError:
        """Put a failure into our own words."""
        if any(isinstance(each, _TooLongError) for each in _causes(exc)):  # an SDK takes it for a broken connection
            return UnusableAnswerError(f"{self.name} answered more than {LONGEST_ANSWER_B:,} bytes")
        kind, status = type(exc).__name__, getattr(exc, "status_code", None)
        if isinstance(exc, TimeoutError) or "Timeout" in kind:
            return ModelError(f"{self.name}: no answer within {self.time_limit_s:g} s; try again later")
        if kind == "LengthFinishReasonError":
            return UnusableAnswerError(f"{self.name} stopped in the middle of its answer (length)")
        if kind == "ContentFilterFinishReasonError":
            return UnusableAnswerError(f"{self.name} refused to answer")
        if isinstance(status, int):
            return ModelError(f"{self.name}: {self._meaning(status)} (HTTP {status})")
        if "Connection" in kind:
            return ModelError(f"{self.name}: cannot be reached; see {self.provider.base_url}")
        return UnusableAnswerError(f"{self.name} answered something that cannot be read ({kind})")

    def _meaning(self, status: int) -> str:
        refused = f"the key in {self.provider.key} is refused"
        meanings = {
            401: refused,
            402: "the account has no credit",
            403: refused,
            404: f"there is no model {self.model!r}",
            429: "the rate limit is reached; try again later",
        }
        otherwise = "the provider has an outage; try again later" if status >= 500 else "the question was not accepted"
        return meanings.get(status, otherwise)


def _no_number(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    while exc is not None:
        yield exc
        exc = exc.__cause__


class _TooLongError(Exception):
    """Raised where an answer is longer than any that is of use."""


async def _shorten(response: Any) -> None:  # of httpx or httpx2, as the SDK has it
    """End the reading of an answer where it is longer than any that is of use."""
    read = response.aiter_bytes

    async def parts() -> AsyncIterator[bytes]:
        length = 0
        async for part in read():
            length += len(part)
            if length > LONGEST_ANSWER_B:
                raise _TooLongError
            yield part

    response.aiter_bytes = parts

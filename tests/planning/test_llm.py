"""The real clients of OpenAI and Anthropic over HTTP, against a provider on loopback that plays what providers do."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

import pytest

from sagagraph.context.model import Answer, Prices, Question
from sagagraph.context.quoting import Quoted
from sagagraph.errors import InvalidInputError, ModelError, UnusableAnswerError
from sagagraph.planning.models.llm import ChatModel, init_model
from tests.support.models import Asked, Drop, Flood, Hang, ModelServer, Refuse, Say, Status, StopShort, Text
from tests.support.models.script import Step

pytestmark = pytest.mark.skipif(find_spec("langchain_openai") is None, reason="the optional extra 'llm' is not installed")

KEY = "sk-canary-7d1f0c9e"
PROVIDERS = ("openai", "anthropic")
SCHEMA = {
    "title": "Choice",
    "type": "object",
    "properties": {"offers": {"type": "array", "items": {"type": "string"}}},
    "required": ["offers"],
    "additionalProperties": False,
}
QUESTION = Question("Choose.", Quoted({"offers": ["a", "b"]}, "nonce"), SCHEMA, max_tokens=77)


async def answered(provider: str, *script: Step, keys: Iterable[str] = (), **options: Any) -> tuple[Answer, list[Asked]]:
    with ModelServer(script, keys=keys) as server:
        model = init_model(f"{provider}:m", environment=server.environment(KEY), **{"time_limit_s": 20.0, **options})
        assert isinstance(model, ChatModel)
        await asyncio.wrap_future(model.open())  # a slow machine's time, not the provider's
        return await model.answer(QUESTION), server.asked


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_structured_answer_comes_back_with_what_it_cost(provider: str) -> None:
    ticks = iter([10.0, 12.5])
    answer, (asked,) = await answered(
        provider, Say({"offers": ["a"]}, 1000, 500), prices=Prices(2.0, 4.0), clock=lambda: next(ticks)
    )
    assert answer.content == {"offers": ["a"]}
    usage = answer.usage
    assert (usage.model, usage.tokens_in, usage.tokens_out, usage.seconds) == (f"{provider}:m", 1000, 500, 2.5)
    assert usage.cost_usd == pytest.approx(0.004)
    assert (asked.protocol, asked.system, asked.user) == (provider, "Choose.", QUESTION.data.text)


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_the_schema_the_limit_and_the_key_are_sent(provider: str) -> None:
    _, (asked,) = await answered(provider, Say({"offers": []}), keys=[KEY])
    body = asked.body
    if provider == "openai":
        sent, limit = body["response_format"]["json_schema"]["schema"], body["max_completion_tokens"]
    else:
        sent, limit = body["tools"][0]["input_schema"], body["max_tokens"]
        assert body["tool_choice"] == {"type": "tool", "name": "Choice"}
    assert (sent["properties"], sent["required"], limit) == (SCHEMA["properties"], ["offers"], 77)
    assert asked.headers["authorization"] == f"Bearer {KEY}"


OUTAGES: dict[str, tuple[Step, str]] = {
    "a refused key": (Status(401), "is refused (HTTP 401)"),
    "a forbidden key": (Status(403), "is refused (HTTP 403)"),
    "no credit": (Status(402), "no credit"),
    "an unknown model": (Status(404), "there is no model 'm'"),
    "a rate limit": (Status(429), "rate limit"),
    "a question that is not accepted": (Status(400), "not accepted (HTTP 400)"),
    "an outage": (Status(500), "outage"),
    "an overload": (Status(529), "outage"),
    "a connection that is cut": (Drop(), "cannot be reached"),
}
UNUSABLE: dict[str, tuple[Step, str]] = {
    "a refusal": (Refuse(), "refused to answer"),
    "an answer cut short": (StopShort(), "stopped in the middle"),
    "prose": (Text("Sure! Here is your plan:"), "not JSON"),
    "half an object": (Text('{"offers": ["a"'), "not JSON"),
    "a number that JSON has not": (Text('{"offers": NaN}'), "not JSON"),
    "an empty text": (Text(""), "not JSON"),
    "code": (Text("__import__('os').system('true')"), "not JSON"),
}


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", OUTAGES)
async def test_an_outage_is_told_by_the_provider_s_name_once_and_without_the_key(
    provider: str, fault: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    step, told = OUTAGES[fault]
    caplog.set_level(logging.DEBUG, logger="sagagraph")
    with ModelServer([step, Say({"offers": []})]) as server, pytest.raises(ModelError, match=f"^{provider}:m: ") as failed:
        model = init_model(f"{provider}:m", environment=server.environment(KEY), time_limit_s=20)
        await model.answer(QUESTION)
    assert told in str(failed.value)
    assert not isinstance(failed.value, UnusableAnswerError)
    assert failed.value.exit_code == 3
    assert server.left == 1  # the SDK does not ask again by itself
    said = capfd.readouterr()
    assert KEY not in "".join([repr(failed.value), str(failed.value.__cause__), repr(model), caplog.text, said.out, said.err])
    assert failed.value.__suppress_context__


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("fault", UNUSABLE)
async def test_an_answer_that_cannot_be_used_is_told_from_an_outage(provider: str, fault: str) -> None:
    step, told = UNUSABLE[fault]
    with pytest.raises(UnusableAnswerError, match=f"^{provider}:m .*{told}"):
        await answered(provider, step)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("drips", [False, True], ids=["in silence", "byte by byte"])
async def test_a_provider_that_hangs_is_left_after_the_time_limit(provider: str, drips: bool) -> None:
    async with asyncio.timeout(30):  # a slow machine's time, not the provider's
        with pytest.raises(ModelError, match=r"no answer within 0\.6 s"):
            await answered(provider, Hang(60, drips), time_limit_s=0.6)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "step", [Text("x" * 20_000_000), Say({"offers": ["x" * 300_000]}), Flood()], ids=["prose", "JSON", "endless"]
)
async def test_an_answer_longer_than_any_of_use_is_not_read_to_its_end(provider: str, step: Step) -> None:
    with pytest.raises(UnusableAnswerError, match=f"^{provider}:m answered more than 262,144 bytes$"):
        await answered(provider, step)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    "text",
    ["x" * 200_000, '{"offers": ["' + "x" * 200_000, "[" * 200_000, '{"offers": [' + "1," * 100_000],
    ids=["prose", "half a text", "brackets", "half a list"],
)
async def test_a_long_answer_that_is_no_json_takes_no_time(provider: str, text: str) -> None:
    with pytest.raises(UnusableAnswerError, match="not JSON"):
        await answered(provider, Text(text))


FIRST_QUESTION = """
import asyncio, json, time
from tests.planning.test_llm import QUESTION, init_model

async def main():
    model, slowest = init_model("openai:m", time_limit_s=0.5), 0.0
    begun = time.monotonic()
    asked = asyncio.create_task(model.answer(QUESTION))
    while not asked.done():
        before = time.monotonic()
        await asyncio.sleep(0.01)
        slowest = max(slowest, time.monotonic() - before)
    print(json.dumps([time.monotonic() - begun, slowest]))
    asked.exception()

asyncio.run(main())
"""


def test_the_first_question_takes_no_longer_than_the_limit_and_holds_up_nobody() -> None:
    with ModelServer([Say({"offers": []})]) as server:
        environment = {**os.environ, **server.environment()}
        command = [sys.executable, "-c", FIRST_QUESTION]
        told = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    took, slowest = json.loads(told.stdout)
    assert took < 2, "0.5 s, and a slow machine's time"
    assert slowest < 1.5


async def test_a_client_that_could_not_be_opened_is_opened_by_the_next_question() -> None:
    with ModelServer([Say({"offers": ["a"]})]) as server:
        environment = {**server.environment(), "OPENAI_API_KEY": ""}
        model = init_model("openai:m", environment=environment, time_limit_s=20)
        with pytest.raises(ModelError, match="no key is set"):
            await model.answer(QUESTION)
        environment["OPENAI_API_KEY"] = KEY
        assert (await model.answer(QUESTION)).content == {"offers": ["a"]}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_nobody_at_the_address_is_an_outage(provider: str) -> None:
    with ModelServer() as server:
        environment = server.environment(KEY)
    with pytest.raises(ModelError, match="cannot be reached"):
        await init_model(f"{provider}:m", environment=environment).answer(QUESTION)


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("key", [None, "", "  "])
async def test_without_a_key_nobody_is_asked(provider: str, key: str | None) -> None:
    with ModelServer([Say({"offers": []})]) as server:
        environment = server.environment(key or "")
        if key is None:
            environment = {name: value for name, value in environment.items() if not name.endswith("_KEY")}
        with pytest.raises(ModelError, match=f"{provider}:m: no key is set: set {provider.upper()}_API_KEY"):
            await init_model(f"{provider}:m", environment=environment).answer(QUESTION)
        assert server.asked == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_model_outlives_the_event_loop_of_its_first_question(provider: str) -> None:
    with ModelServer([Say({"offers": ["a"]}), Say({"offers": ["b"]})]) as server:
        model = init_model(f"{provider}:m", environment=server.environment())
        for expected in ("a", "b"):
            assert asyncio.run(model.answer(QUESTION)).content == {"offers": [expected]}


@pytest.mark.parametrize("name", ["", "gpt-5", "openai:", "openai: ", "mistral:x", ":x", "OPENAI:x"])
def test_a_name_that_names_no_model_is_refused_at_once(name: str) -> None:
    with pytest.raises(InvalidInputError, match=r"SAGAGRAPH_MODEL: .*use openai:NAME or anthropic:NAME") as refused:
        init_model(name)
    assert refused.value.exit_code == 2


async def test_two_questions_share_nothing() -> None:
    with ModelServer([Say({"offers": ["a"]}), Say({"offers": ["b"]})]) as server:
        model = init_model("openai:m", environment=server.environment())
        for expected in ("a", "b"):
            assert (await model.answer(QUESTION)).content == {"offers": [expected]}
    first, second = server.asked
    assert first.body["messages"] == second.body["messages"]


def test_naming_a_model_imports_no_sdk() -> None:
    code = (
        "import sys; from sagagraph.planning.models.llm import init_model; init_model('openai:m');"
        "print(sorted({'openai', 'anthropic', 'langchain_core', 'langchain_openai'} & set(sys.modules)))"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert json.loads(told.stdout.replace("'", '"')) == []

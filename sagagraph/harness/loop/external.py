"""External validators: rules that an external program judges, such as a simulator.

A harness names one (`uses: NAME@VERSION`); what is run for that name is in the operator's configuration, and nowhere else. An
outage is UNKNOWN: never a pass, but not a failure of the artifact either.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.files import text_file
from sagagraph.harness.judging.check import RuleResult, RuleVerdict, exact, shown
from sagagraph.harness.registry.harness import Harness, Rule

_FIELD: Final = "SAGAGRAPH_HARNESS_VALIDATORS"
_CALL: Final = """
import importlib, json, sys
module, _, name = sys.argv[1].partition(":")
answer = getattr(importlib.import_module(module), name)(json.load(sys.stdin))
print("\\n" + json.dumps(answer))
"""
_LONGEST: Final = 100_000


class Server(BaseModel, frozen=True, extra="forbid"):
    """Server that speaks MCP over stdio, and one of its tools."""

    command: Annotated[list[str], Field(min_length=1)]
    tool: str


class Validator(BaseModel, frozen=True, extra="forbid"):
    """Validator: either a function, `package.module:name`, or a tool. Both take the values of a rule's `inputs`, and return an
    `Answer`.
    """

    version: str = "1"
    seconds: float = Field(default=5.0, gt=0, le=600)
    python: str = Field(default="", pattern=r"^([A-Za-z_][\w.]*:[A-Za-z_]\w*)?$")
    mcp: Server | None = None


class Answer(BaseModel, frozen=True, extra="forbid", strict=True):
    verdict: Literal["PASS", "FAIL", "ERROR"]
    margin: Annotated[float, Field(allow_inf_nan=False)] | None = None
    reason: str = Field(default="", max_length=500)


Validators = Mapping[str, Validator]


def validators_of(path: str) -> Validators:
    """Return what the operator allows: the JSON object in this file, by name. Raises `InvalidInputError`."""
    if not path:
        return {}
    try:
        found = TypeAdapter(dict[str, Validator]).validate_json(text_file(Path(path), _FIELD))
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise InvalidInputError(f"{place}: {first['msg'].replace('Input should be', 'must be')}", field=_FIELD) from exc
    for name, each in found.items():
        if bool(each.python) is (each.mcp is not None):
            raise InvalidInputError(f"{name} needs `python` or `mcp`, one of them", field=_FIELD)
    return found


async def judged_outside(harness: Harness, artifact: Mapping[str, Any], allowed: Validators) -> dict[str, RuleResult]:
    """Return the verdicts of all rules that external validators judge, by rule."""
    return {rule.id: await ask(harness, rule, artifact, allowed) for rule in harness.rules if rule.uses}


async def ask(harness: Harness, rule: Rule, artifact: Mapping[str, Any], allowed: Validators) -> RuleResult:
    """Ask the validator of a rule, within its time limit."""
    name, _, version = rule.uses.partition("@")
    known = allowed.get(name)
    if known is None:
        return RuleResult(rule.id, RuleVerdict.UNKNOWN, reason=f"{_FIELD} allows no validator {name!r}")
    if version != known.version:
        return RuleResult(rule.id, RuleVerdict.UNKNOWN, reason=f"{name} is version {known.version} here, not {version or 'any'}")
    fixed = {each: harness.variables[each].value for each in rule.inputs}
    given = {each: shown(exact(artifact.get(each)) if value is None else value) for each, value in fixed.items()}
    missing = next((each for each, value in given.items() if value is None), None)
    if missing is not None:
        return RuleResult(rule.id, RuleVerdict.ERROR, trace=given, reason=f"{missing} is missing")
    try:
        async with asyncio.timeout(known.seconds):
            said = await (_called(known.python, given) if known.mcp is None else _tool(known.mcp, given))
        answer = Answer.model_validate(said)
    except TimeoutError:
        return RuleResult(rule.id, RuleVerdict.UNKNOWN, trace=given, reason=f"{name} gave no answer in {known.seconds:g} s")
    except ValidationError:
        return RuleResult(rule.id, RuleVerdict.UNKNOWN, trace=given, reason=f"the answer of {name} is not in the required form")
    except Exception as exc:  # noqa: BLE001 - whatever is wrong with a validator is no failure of the artifact
        return RuleResult(rule.id, RuleVerdict.UNKNOWN, trace=given, reason=f"{name} has failed ({type(exc).__name__})")
    return RuleResult(rule.id, RuleVerdict(answer.verdict), answer.margin, trace=given, reason=answer.reason)


async def _called(target: str, given: Mapping[str, Any]) -> Any:
    """Call a function in a separate process, which ends with the question."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", _CALL, target, stdin=pipe, stdout=pipe,
                                                   stderr=asyncio.subprocess.DEVNULL)  # fmt: skip
    try:
        told, _ = await process.communicate(json.dumps(given).encode())
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return json.loads(told[-_LONGEST:].decode().strip().splitlines()[-1])


async def _tool(server: Server, given: Mapping[str, Any]) -> Any:
    with needing("mcp"):
        from mcp import ClientSession, StdioServerParameters
        from mcp.client.stdio import stdio_client
    started = StdioServerParameters(command=server.command[0], args=server.command[1:])
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        answer = await session.call_tool(server.tool, dict(given))
    return answer.structuredContent

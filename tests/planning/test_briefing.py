"""What agents are shown over a long conversation: their own scopes, in a bounded slice, the same again after a crash."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sagagraph.context.manager import ContextManager, Issued
from sagagraph.domains.travel.planning.agents import ROLES
from sagagraph.errors import ContextMismatchError
from sagagraph.planning.agents.briefing import DECIDED, PROMISED, before, need_of, source_at
from sagagraph.planning.agents.team import Option, Said, Task
from sagagraph.saga.core import events as e
from sagagraph.validators.verdict import Verdict, Violation

pytestmark = pytest.mark.quick

BY_NAME = {role.name: role for role in ROLES}
WISHES = sorted({wish for role in ROLES for wish in role.reads})
OTHERS = {"telephone": "canary of nobody"}
INPUTS: dict[str, Any] = {role.name: {f"part of {role.name}": [{"id": f"option of {role.name}"}]} for role in ROLES}


def request(turn: int) -> dict[str, Any]:
    return {**{wish: f"canary of {wish}, turn {turn}" for wish in WISHES}, **OTHERS}


def conversation(turns: int) -> list[e.Entry]:
    """Wishes that change at every turn, a plan that is judged, one that is rejected, one that is accepted."""
    told: list[e.Event] = [e.SagaBegun(e.Driver.WORKFLOW, "travel", request(0))]
    for turn in range(1, turns):
        told += [e.RequestChanged(request(turn), "ann"), e.PlanProposed(f"h{turn}", {"n": turn}, {})]
    wrong = Violation(code="WRONG", message="the hotel is full", scope={"leg": "part of hotel"})
    told += [e.PlanJudged(f"h{turns - 1}", Verdict.of([wrong]).model_dump())]
    told += [e.PlanRejected("h", "ann", "too early for us")]
    return [e.Entry(version, 1, float(version), event) for version, event in enumerate(told, 1)]


def said() -> dict[str, Said]:
    chosen = {
        role: {part: [{"choose": options[0]["id"], "reason": "so", "confidence": 1}] for part, options in parts.items()}
        for role, parts in INPUTS.items()
    }
    return {
        role: Said.model_validate(
            {"agent": role, "slice_hash": "", "slice_tokens": 0, "inputs": parts, "candidates": chosen[role]}
        )
        for role, parts in INPUTS.items()
    }


def manager(entries: list[e.Entry]) -> ContextManager:
    return ContextManager(source_at(entries, BY_NAME, INPUTS, said()))


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.name)
def test_no_canary_of_another_scope_is_in_a_slice(role: Any) -> None:
    shown = manager(conversation(6)).issue(role.name, role.name, need_of(role), 12).facts
    text = json.dumps(shown)
    for wish in WISHES:
        assert (f"canary of {wish}," in text) == (wish in role.reads), wish
    assert "canary of nobody" not in text
    depends = {name for name in BY_NAME if f"option of {name}" in text}
    assert depends - {role.name} <= _ancestors(role.name)
    assert set(role.after) <= depends


def _ancestors(name: str) -> set[str]:
    after = set(BY_NAME[name].after)
    return after.union(*(_ancestors(each) for each in after))


def test_what_was_said_before_decided_and_objected_to_reaches_those_that_it_concerns() -> None:
    entries = conversation(6)
    shown = {role.name: manager(entries).issue(role.name, role.name, need_of(role), len(entries)).facts for role in ROLES}
    assert shown["hotel"]["stars"] == "canary of stars, turn 5"
    assert shown["hotel"][before("stars")] == [f"canary of stars, turn {turn}" for turn in (2, 3, 4)]
    assert all(each[DECIDED] == ["a plan was rejected: too early for us"] and PROMISED not in each for each in shown.values())
    assert {name: each.get("condition") for name, each in shown.items()} == {
        **dict.fromkeys(BY_NAME),
        "hotel": ["the hotel is full"],
    }


def test_a_slice_stays_as_small_however_long_the_conversation_is() -> None:
    tokens = []
    for turns in (6, 60, 600):
        entries = conversation(turns)
        told = [manager(entries).issue(role.name, role.name, need_of(role), len(entries)).tokens for role in ROLES]
        tokens.append(max(told))
    assert max(tokens) <= 800
    assert max(tokens) - min(tokens) <= 40, tokens  # the turns' numbers get longer


def test_a_restarted_process_gives_the_same_slices_hash_for_hash_and_notices_another_journal() -> None:
    entries = conversation(8)
    for version in range(2, len(entries) + 1):
        issued = []
        first = manager(entries[:version])
        for role in ROLES:
            first.issue(role.name, role.name, need_of(role), version)
        issued = list(first.issued)
        again = manager(entries)
        assert [again.restore(each).hash for each in issued] == [each.hash for each in issued]
    forged = [*entries[:1], e.Entry(2, 1, 2.0, e.RequestChanged({**request(1), "stars": "forged"}, "mallory")), *entries[2:]]
    (hotel,) = [each for each in issued if each.agent == "hotel"]
    late = Issued("hotel", "hotel", hotel.need, 4, manager(entries).issue("hotel", "hotel", hotel.need, 4).hash, 0)
    with pytest.raises(ContextMismatchError):
        manager(forged).restore(late)


def test_options_that_do_not_fit_are_left_out_from_the_end_and_the_first_stays() -> None:
    options = {part: tuple(Option(f"{part}-{n}", {"what": "x" * 100}) for n in range(9)) for part in ("T1", "T2")}
    kept = Task(options, {}).within(300)
    assert [each["id"] for each in kept["T1"]] == [f"T1-{n}" for n in range(len(kept["T1"]))]
    assert 1 <= len(kept["T2"]) < 9
    assert [len(each) for each in Task(options, {}).within(1).values()] == [1, 1]

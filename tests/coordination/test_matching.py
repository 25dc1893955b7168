"""PRD-102's acceptance point 11: sixty scores to three decimals, and the same ranking however the roster is shuffled."""

from __future__ import annotations

from random import Random

import pytest

from sagagraph.coordination.core.likeness import by_words
from sagagraph.coordination.core.matching import Profile, Tier, ranked
from sagagraph.coordination.core.plan import TaskSpec, TaskType

CASES: list[tuple[str, str, str, str, str, float | None, int, int, bool, float | None]] = [
    # type of task, tools wanted, skill, tools had, tier, history, busy, limit, online, score: None is not eligible
    ("review", "search read", "review", "search read write", "top", 1.0, 0, 1, True, 0.97),
    ("review", "search read", "research", "search", "mid", 0.25, 0, 1, True, None),
    ("simple", "search read", "analysis", "", "mid", 0.8, 4, 4, True, None),
    ("analysis", "", "research", "", "cheap", 0.0, 0, 1, True, 0.48),
    ("coding", "search", "analysis", "search", "cheap", 0.25, 0, 2, True, 0.518),
    ("review", "search read", "review", "search read", "top", None, 2, 4, True, 0.845),
    ("writing", "search read", "research", "search read", "cheap", 1.0, 1, 1, True, 0.53),
    ("coding", "search", "research", "", "top", None, 0, 1, True, None),
    ("research", "search", "simple", "search read write", "mid", 0.8, 0, 1, True, 0.72),
    ("coding", "search", "coding", "", "mid", None, 0, 2, True, None),
    ("simple", "", "research", "", "mid", 0.8, 0, 1, True, 0.645),
    ("writing", "search read", "review", "search", "top", 0.8, 1, 1, True, None),
    ("writing", "", "analysis", "search read", "mid", None, 0, 1, True, 0.675),
    ("analysis", "search read", "research", "", "cheap", 0.0, 1, 2, False, None),
    ("analysis", "search", "review", "search read", "cheap", None, 0, 1, True, 0.555),
    ("writing", "", "coding", "search read", "top", 0.8, 1, 1, True, 0.59),
    ("writing", "search", "simple", "search", "cheap", 0.25, 0, 1, True, 0.518),
    ("writing", "search read", "simple", "search", "mid", 0.8, 0, 4, True, None),
    ("research", "", "analysis", "", "mid", 0.0, 3, 4, True, 0.525),
    ("analysis", "search", "analysis", "search read", "cheap", None, 0, 1, True, 0.805),
    ("simple", "search read", "coding", "", "cheap", 0.0, 0, 4, False, None),
    ("review", "search", "research", "search", "cheap", 0.0, 1, 2, True, 0.43),
    ("writing", "", "writing", "search read", "mid", 0.25, 4, 4, True, 0.788),
    ("writing", "search read", "research", "", "mid", 0.25, 2, 4, True, None),
    ("research", "search read", "review", "", "cheap", 0.25, 0, 2, True, None),
    ("research", "search", "simple", "search read", "cheap", 0.0, 1, 2, False, None),
    ("review", "", "research", "search read write", "mid", 1.0, 1, 1, True, 0.65),
    ("research", "search read", "research", "", "cheap", None, 1, 2, True, None),
    ("review", "search read", "review", "search read write", "mid", 1.0, 0, 1, True, 1.0),
    ("research", "search", "writing", "", "top", None, 2, 2, True, None),
    ("review", "search", "coding", "", "mid", 0.0, 4, 4, True, None),
    ("writing", "search", "review", "search read write", "cheap", 0.25, 2, 2, True, 0.418),
    ("simple", "search", "writing", "search", "mid", 0.0, 2, 4, True, 0.475),
    ("writing", "search", "research", "search read", "top", None, 0, 2, True, 0.645),
    ("review", "search", "review", "search", "mid", 1.0, 2, 2, True, 0.9),
    ("analysis", "search", "research", "search read", "cheap", 0.25, 0, 4, True, 0.518),
    ("coding", "search read", "coding", "search read", "top", 1.0, 0, 1, True, 1.0),
    ("writing", "", "writing", "search read", "cheap", None, 0, 4, True, 0.805),
    ("simple", "search read", "research", "search read", "top", 0.0, 1, 1, True, 0.425),
    ("simple", "", "analysis", "search read write", "top", None, 0, 1, True, 0.6),
    ("coding", "search read", "review", "search", "top", 0.0, 1, 1, True, None),
    ("simple", "search", "review", "search", "mid", 0.0, 0, 4, True, 0.525),
    ("analysis", "search read", "review", "search read", "mid", 0.0, 0, 1, True, 0.6),
    ("review", "", "analysis", "search read", "mid", 0.25, 0, 4, True, 0.638),
    ("research", "", "coding", "search read write", "top", 0.8, 1, 2, True, 0.64),
    ("writing", "", "research", "search read write", "cheap", 1.0, 2, 2, True, 0.53),
    ("writing", "search", "analysis", "search", "top", 1.0, 3, 4, True, 0.645),
    ("review", "search read", "writing", "", "mid", 1.0, 2, 4, True, None),
    ("analysis", "search read", "analysis", "search", "top", 1.0, 1, 2, True, None),
    ("analysis", "", "writing", "search read", "top", 1.0, 2, 2, True, 0.62),
    ("review", "search read", "analysis", "", "cheap", 1.0, 0, 2, True, None),
    ("research", "search read", "analysis", "search read write", "top", None, 0, 2, True, 0.645),
    ("research", "search read", "review", "search read write", "mid", 0.25, 1, 1, True, 0.538),
    ("coding", "search", "analysis", "search read write", "mid", None, 1, 1, True, 0.5),
    ("coding", "", "research", "", "cheap", 0.0, 0, 1, True, 0.48),
    ("coding", "search read", "writing", "search read", "top", 0.8, 1, 1, True, 0.62),
    ("research", "search read", "simple", "search read", "cheap", 1.0, 0, 2, True, 0.63),
    ("review", "search read", "analysis", "search", "cheap", 1.0, 1, 4, True, None),
    ("analysis", "search read", "writing", "search", "top", 0.25, 1, 1, True, None),
    ("writing", "", "research", "search", "cheap", 0.0, 0, 1, True, 0.48),
]


@pytest.mark.quick
def test_point_11_sixty_scores() -> None:
    assert len(CASES) == 60
    for kind, wanted, skill, has, tier, history, busy, limit, online, score in CASES:
        past = {} if history is None else {kind: history}
        one = Profile("a", (skill,), frozenset(has.split()), Tier(tier), "", past, busy, limit, online)
        found = ranked(TaskSpec(1, "t", type=TaskType(kind), tools=tuple(wanted.split())), [one], by_words)
        assert [round(each.score + 1e-12, 3) for each in found] == ([] if score is None else [score]), (kind, skill, tier)


@pytest.mark.quick
def test_point_11_the_order_of_the_roster_does_not_matter() -> None:
    random = Random(11)
    roster = [
        Profile(f"a{n}", (skill,), frozenset({"search"}), tier)
        for n, (skill, tier) in enumerate((s, t) for s in ("research", "writing") for t in Tier for _again in range(2))
    ]
    task = TaskSpec(1, "t", type=TaskType.RESEARCH, tools=("search",))
    first = ranked(task, roster, by_words)
    assert [each.score for each in first] == sorted((each.score for each in first), reverse=True)
    assert first[0].agent < first[1].agent  # equal ones by id
    for _number in range(1000):
        random.shuffle(roster)
        assert ranked(task, roster, by_words) == first


def test_nobody_reviews_its_relatives() -> None:
    roster = [Profile("a", ("review",), family="own"), Profile("b", ("review",), family="other")]
    found = ranked(TaskSpec(1, "t", type=TaskType.REVIEW), roster, by_words, families={"own"})
    assert [each.agent for each in found] == ["b"]

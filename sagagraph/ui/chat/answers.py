"""Answers: what can be said to a question from the plan, its journal and its offers. Nothing here changes anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any, Final

from sagagraph.language.calendar import Expression
from sagagraph.language.tagging import tagged
from sagagraph.language.utterance.questions import Topic
from sagagraph.planning.page import Detail, Draft, Line, Page
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.saga.engine.views.preview import CancelPreview
from sagagraph.saga.engine.views.view import reasons_of
from sagagraph.ui.chat.narration import in_names, left_over, narrate
from sagagraph.ui.differences import price_change, told
from sagagraph.ui.pictures.comparison import choices_of

IDENTITY: Final = (
    "I am SagaGraph, a program that plans, books and repairs. I am no person. Where “Practice world” stands above, nothing is "
    "really bought."
)
_HELP: Final = (
    "I make a plan from what you say, change it as you like ({change}“undo that”), try things out{supposition}, answer questions "
    "about it, and do it once you say so. If something falls through, tell me, and I look for a replacement."
)
_UNKNOWN: Final = "I know nothing about that: only what is in the plan, its price, times, reasons and terms."
_OPEN: Final = "Nothing is booked"
_FIRST: Final = re.compile(r"\b(?:leave|leaving|start|begin|depart|outbound|there|first)\b", re.IGNORECASE)
_LAST: Final = re.compile(r"\b(?:back|home|return\w*|end|last)\b", re.IGNORECASE)
_MORE: Final = re.compile(r"\b(?:changed?|more|less|extra|cheaper|dearer|difference)\b", re.IGNORECASE)
_KINDS: Final = {
    "hotel": re.compile(r"\b(?:hotels?|stay\w*|check|rooms?|nights?|stars?|sleep\w*)\b", re.IGNORECASE),
    "flight": re.compile(r"\b(?:flights?|fly\w*|airlines?|planes?|direct|travel)\b", re.IGNORECASE),
    "train": re.compile(r"\b(?:trains?|railways?|rides?|travel)\b", re.IGNORECASE),
}
"""What parts of a trip are asked about with."""
_HOW_MANY: Final = re.compile(
    r"\b(?:how many (?:people|persons|of us|travell?ers|guests|rooms?|adults|kids|children|beds)|(?:\d|one|two|three|own"
    r"|same) rooms?"
    r"|for (?:both|all|the \w+) of us|who (?:is|are|'s) (?:coming|going|travell?ing|booked))\b",
    re.IGNORECASE,
)
_COMMON: Final = frozenset(
    {"the", "and", "from", "with", "hotel", "flight", "train", "stay", "for", "stars", "star", "night", "nights"}
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts known when somebody asks. `before`: plan and cost that the shown ones replace, or would replace."""

    page: Page
    draft: Draft
    saga: Saga | None = None
    preview: CancelPreview | None = None
    before: tuple[Any, Any] | None = None

    @property
    def lines(self) -> Sequence[Line]:
        return () if self.saga is None else self.page.view(self.saga.plan.content).lines

    @property
    def details(self) -> dict[str, Detail]:
        return {} if self.saga is None else {each.key: each for each in self.page.details(self.saga)}

    @property
    def is_booked(self) -> bool:
        return self.saga is not None and status_of(self.saga) in (SagaStatus.COMMITTED, SagaStatus.RUNNING)

    def counted(self, asked: str) -> list[str]:
        """Return the wishes that say how many people or rooms there are, where that is what is asked for."""
        if self.saga is None or not _HOW_MANY.search(asked):
            return []
        return [each.text for each in self.page.draft_of(self.saga.request).wishes if each.label in ("Who", "Rooms")]

    def about(self, asked: str) -> list[Line]:
        """Return the lines that a question is about, by the words that it shares with them; all if it names none."""
        said = set(re.findall(r"\w{3,}", asked.casefold())) - _COMMON
        scored = [(len(said & set(re.findall(r"\w{3,}", f"{each.key} {each.what}".casefold()))), each) for each in self.lines]
        ways = [each for each in self.lines if each.kind in ("flight", "train")]
        meant = [name for name, words in _KINDS.items() if words.search(asked)]
        kind = [each for each in self.lines if each.kind in meant] or list(self.lines)
        if (there := self._on_the_day(asked, kind)) is not None:
            return [there]
        best = [each for score, each in scored if score and score == max(score for score, _ in scored) and each in kind]
        if best:
            return best
        if ways and "hotel" not in meant and (_LAST.search(asked) or _FIRST.search(asked)):
            ways = [each for each in kind if each in ways] or ways
            return ways[-1:] if _LAST.search(asked) else ways[:1]
        return kind

    def _on_the_day(self, asked: str, lines: Sequence[Line]) -> Line | None:
        """Return what a day is spent on, if one is named."""
        dated = sorted(((each.begins.date(), each) for each in lines if each.begins is not None), key=itemgetter(0))
        said = [each.first[0] for each in tagged(asked, today=dated[0][0]).values(Expression) if each.first] if dated else []
        for day in (each for each in said if each.part is None):
            before = [line for begins, line in dated if (begins.month, begins.day) <= (day.month or begins.month, day.begins)]
            return before[-1] if before else None
        return None


def _help(facts: Facts) -> str:
    """Say what can be said, and what is asked for next."""
    change, supposition = facts.page.change, facts.page.supposition
    can = _HELP.format(change=f"“{change}”, " if change else "", supposition=f" (“{supposition}”)" if supposition else "")
    opening = () if facts.saga is not None or facts.draft.questions else (facts.page.opening,)
    return " ".join((can, *facts.draft.questions[:1], *opening))


def answer(topic: Topic | None, asked: str, facts: Facts) -> str:
    """Answer in sentences; if the answer is not known, say so."""
    if topic is Topic.IDENTITY:
        return IDENTITY
    if topic is Topic.HELP:
        return _help(facts)
    if topic in (Topic.OUTSIDE, None):
        return _UNKNOWN
    if topic is Topic.UNDERSTOOD:
        return _understood(facts)
    saga = facts.saga
    if saga is None:
        return f"Nothing is planned yet, and nothing is booked. {(*facts.draft.questions, facts.page.opening)[0]}"
    if saga.plan.content is None:
        counted = " and ".join(facts.counted(asked))
        standing = _STANDS.get(status_of(saga), "I am still planning: the answer comes with the plan.")
        return f"You wish for {counted}." if counted else standing
    return "\n".join(_ANSWERS[topic](_Asked(asked, facts, saga)))


def _understood(facts: Facts) -> str:
    wishes = [each.text for each in facts.draft.wishes]
    if facts.saga is not None:
        wishes += [each.text for each in facts.page.happened(facts.saga.request)]
    if not wishes:
        return f"Nothing yet. {facts.page.opening}"
    still = facts.draft.questions[:1] or tuple(f"“{each}” means nothing to me." for each in facts.draft.not_understood)
    open_ = f" Still open: {' '.join(still)}" if still else ""
    return f"I have understood: {'; '.join(wishes)}.{open_}"


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question about a plan."""

    words: str
    facts: Facts
    saga: Saga


def _price(ask: _Asked) -> Iterator[str]:
    plan, cost = ask.saga.plan.content, ask.saga.plan.cost
    price = ask.facts.page.price(plan, cost)
    if not price:
        yield "It costs nothing here: nobody is paid."
        return
    if ask.facts.before is not None and _MORE.search(ask.words):
        yield f"{price_change(ask.facts.page, ask.facts.before, (plan, cost)) or 'It costs the same'}."
    if counted := ask.facts.counted(ask.words):
        yield f"The plan is for {' and '.join(counted)}."
    verb = "You paid" if ask.facts.is_booked else "It costs"
    about = ask.facts.about(ask.words)
    if len(about) < len(ask.facts.lines):
        yield from (f"– {each.what}: {each.price}" for each in about if each.price)
        yield f"Everything together: {price}."
        return
    yield f"{verb} {price} in all, for everybody and everything in the plan:"
    yield from (f"– {each.what}: {each.price}" for each in ask.facts.lines if each.price)
    yield from (f"{each[:1].upper()}{each[1:]}." for each in reasons_of(ask.saga.plan) if "rate of" in each or "budget" in each)


def _status(ask: _Asked) -> Iterator[str]:
    status = status_of(ask.saga)
    if status is SagaStatus.AWAITING_APPROVAL:
        yield (
            "This plan is only proposed: it waits for your decision, and nothing of it has been done."
            if not ask.saga.plan.version
            else ("A changed plan waits for your decision; until then the one before holds.")
        )
    elif status is SagaStatus.COMMITTED:
        outcome = ask.facts.page.outcome
        yield f"{outcome[:1].upper()}{outcome[1:]}." if not ask.saga.missing else "Not all of it stands."
    else:
        yield _STANDS.get(status, f"It is {status.value.replace('_', ' ')}.")
    details = ask.facts.details
    for line in ask.facts.about(ask.words):
        state = details[line.key].state if line.key in details else line.when
        yield f"– {line.what}: {state}"
    yield from (f"– {each.text}" for each in ask.facts.page.happened(ask.saga.request))
    if details:
        yield "That is what the journal says; nobody has told me anything else."


_STANDS: Final = {
    SagaStatus.COMPENSATED: "All of it is cancelled: nothing is booked any more.",
    SagaStatus.REJECTED: "Nothing is booked: the plan was turned down.",
    SagaStatus.INFEASIBLE: "Nothing is booked: no plan keeps all the wishes.",
    SagaStatus.RUNNING: "It is under way.",
}


def _refund(ask: _Asked) -> Iterator[str]:
    preview, details = ask.facts.preview, ask.facts.details
    if preview is not None and preview.undo:
        fees = ask.facts.page.price(ask.saga.plan.content, {"total": preview.fees, "currency": preview.currency}) or "no fees"
        yield f"Cancelling everything now would cost {fees}. “Cancel…” shows it in full, and does nothing before you confirm."
        yield from (f"– remains: {each}" for each in in_names(preview.residue, ask.saga, ask.facts.page))
    elif status_of(ask.saga) is SagaStatus.COMPENSATED:
        yield left_over(ask.saga, ask.facts.page) or "It is cancelled, and everything was given back."
    elif ask.saga.plan.content is not None:
        yield f"{_OPEN}: leaving it costs nothing."
    for line in ask.facts.about(ask.words):
        if line.key in details and details[line.key].terms:
            yield f"– {line.what}: {details[line.key].terms}"


def _why(ask: _Asked) -> Iterator[str]:
    if ask.facts.before is not None and _MORE.search(ask.words):
        yield from _changed(ask)
        return
    if status_of(ask.saga) in _STANDS.keys() - {SagaStatus.RUNNING}:
        yield narrate(ask.saga, ask.facts.page)
        return
    details, lines = ask.facts.details, ask.facts.about(ask.words)
    is_of_all = len(lines) == len(ask.facts.lines)
    if is_of_all or not details:
        yield from (f"– {each}" for each in reasons_of(ask.saga.plan))
    if not details:
        yield from (f"– {each.what}: {each.when}" for each in lines)
    elif is_of_all and len(lines) > 1:
        yield "Ask about one part of it, and I say what else there was."
    else:
        yield from _chosen(lines, details)


def _chosen(lines: Sequence[Line], details: Mapping[str, Detail]) -> Iterator[str]:
    """Say why parts of the plan were chosen, and what else there was."""
    for line in lines:
        detail = details.get(line.key)
        if detail is not None and detail.why:
            yield f"– {line.what}: {detail.why}."
            yield from (f"   Instead: {each}" for each in detail.others)


def _alternatives(ask: _Asked) -> Iterator[str]:
    page, shown = ask.facts.page, (ask.saga.plan.content, ask.saga.plan.cost)
    for each in choices_of(ask.saga, page):
        if each.hash:
            why = f"; {each.reasons[0]}" if each.reasons else ""
            offered = each.plan, each.cost
            price = price_change(page, shown, offered) or page.price(*offered) or "costs the same"
            yield f"– Number {each.number}: {price}{why}"
    for line in ask.facts.about(ask.words):
        detail = ask.facts.details.get(line.key)
        if detail is not None and detail.others:
            yield f"– Instead of {line.what}: {'; '.join(detail.others)}"
    if not ask.saga.plan.alternatives and not ask.facts.details:
        yield "I have no other plan for these wishes: change one of them."


def _advice(ask: _Asked) -> Iterator[str]:
    yield "That is for you to decide. What speaks for it, and against it:"
    yield from (f"– {each}" for each in reasons_of(ask.saga.plan))
    yield from _refund(replace(ask, words="")) if not ask.facts.is_booked else ()


def _plan(ask: _Asked) -> Iterator[str]:
    if counted := ask.facts.counted(ask.words):
        yield f"The plan is for {' and '.join(counted)}."
        return
    lines = ask.facts.about(ask.words)
    named = [
        each
        for each in ask.facts.lines
        if set(re.findall(r"\w{4,}", ask.words.casefold())) & set(re.findall(r"\w{4,}", each.when.casefold()))
    ]
    for each in lines if len(lines) < len(ask.facts.lines) or not named else named:
        price = f" ({each.price})" if each.price else ""
        yield f"– {each.what}: {each.when}{price}"


def _changed(ask: _Asked) -> Iterator[str]:
    if ask.facts.before is None:
        yield "Nothing has changed since this plan was made."
        return
    plan, cost = ask.facts.before
    if ask.saga.plan.disruption:
        yield f"The reason: {ask.saga.plan.disruption}."
    yield from (f"– {each}" for each in told(ask.facts.page.view(plan).lines, ask.facts.lines))
    price = price_change(ask.facts.page, (plan, cost), (ask.saga.plan.content, ask.saga.plan.cost))
    yield from [f"– {price}"] if price else []


def _next(ask: _Asked) -> Iterator[str]:
    match status_of(ask.saga):
        case SagaStatus.AWAITING_APPROVAL:
            yield "The plan waits for you: book it, change something, or leave it for now."
        case status if status in _STANDS and status is not SagaStatus.RUNNING:
            yield f"{_STANDS[status]} Say “plan it again”, or what you wish instead."
        case SagaStatus.COMMITTED if not ask.saga.missing:
            yield "Nothing is left to do: all of it stands. If something falls through, tell me, and I look for a replacement."
        case _:
            yield "Say what has happened or what you wish instead, or press “Cancel…” to see what cancelling would undo."


def _numbers(ask: _Asked) -> Iterator[str]:
    about = ask.facts.about(ask.words)
    found = [f"– {each.what}: {ask.facts.details[each.key].reference}" for each in about if each.key in ask.facts.details]
    known = [each for each in found if not each.endswith(": ")]
    yield from known or ["There are none yet: nothing is booked."]


_ANSWERS: Final = {
    Topic.PRICE: _price,
    Topic.STATUS: _status,
    Topic.REFUND: _refund,
    Topic.WHY: _why,
    Topic.ALTERNATIVES: _alternatives,
    Topic.ADVICE: _advice,
    Topic.PLAN: _plan,
    Topic.CHANGED: _changed,
    Topic.NEXT: _next,
    Topic.NUMBERS: _numbers,
}

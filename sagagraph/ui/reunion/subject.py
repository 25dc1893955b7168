"""Reunions on a page: what was said sentence by sentence, what people forget to say, and everybody's day."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, Final

from sagagraph.context.model import Model
from sagagraph.domains.reunion.calendar import invitation_ics
from sagagraph.domains.reunion.common_sense import Suggestion, accept, suggestions
from sagagraph.domains.reunion.day import DayPlan, as_json, parse_request
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.parts import parts_of
from sagagraph.domains.reunion.problem import ReunionProblem
from sagagraph.domains.reunion.reading.clauses import sentences, tidy
from sagagraph.domains.reunion.reading.partial import PartialProblem
from sagagraph.domains.reunion.reading.reader import read_reunion
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.errors import InvalidInputError
from sagagraph.saga.model import Saga
from sagagraph.ui.reunion.disruptions import disruption_in, disruptions
from sagagraph.ui.reunion.schedule import bars_of, lines_of, route_of
from sagagraph.ui.subject import Bar, Disruption, Download, Draft, Line, Preference, Route, Wish

_ADD: Final = re.compile(
    r"^\W*(?:yes,? )?(?:please )?add (?:(?P<all>all|them|them all|everything)|(?P<numbers>[\d ,and]+))\W*$", re.IGNORECASE
)
_SENTENCE, _SENSE = "sentence", "sense"


@dataclass(frozen=True, slots=True)
class Said:
    """`problem`: one that came as a whole, and not in sentences. `sense`: of what people forget, what was added, by id."""

    sentences: tuple[str, ...] = ()
    sense: tuple[str, ...] = ()
    problem: ReunionProblem | None = None


class ReunionSubject:
    name = "reunion"
    title = "A reunion"
    opening = "Who comes together, where and by when? Say who is where, who drives, and what has to be done."
    outcome = "everybody has been told their part"
    under_way = "Everybody has been told their part, and the day is open: tell me what happens, and I shall repair the plan."
    examples: tuple[str, ...] = (
        "Thanksgiving dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Emily "
        "lands at 2:30 pm and needs a ride. Michael drives from New York, leaving at 11. Grandma needs a pick-up. Turkey takes "
        "4 hours in the oven, someone must watch it; sides take 2 hours. Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30, "
        "New York-Home 4 hours",
        *(name.replace("_", " ") for name in SHIPPED),
    )
    desk = None

    def __init__(
        self, reunion: Reunion, _model: Model | None = None, today: Callable[[], date] = lambda: datetime.now(UTC).date()
    ) -> None:
        self.domain = reunion
        self._today = today

    # -- wishes --------------------------------------------------------------------------------------------------------

    async def read(self, text: str, known: Any | None) -> Draft:
        said: Said = known or Said()
        if text.strip().casefold().replace(" ", "_") in SHIPPED:
            return self._draft(Said(problem=shipped(text.strip().casefold().replace(" ", "_"))))
        if added := _ADD.match(text):
            return self._draft(self._with_sense(said, added))
        if said.problem is not None:
            raise InvalidInputError("This reunion did not come in sentences: tell what happens, or begin anew.", field="text")
        return self._draft(replace(said, sentences=(*said.sentences, *sentences(tidy(text)))))

    def _with_sense(self, said: Said, added: re.Match[str]) -> Said:
        proposed = self._left(said)
        numbers = range(1, len(proposed) + 1) if added["all"] else [int(each) for each in re.findall(r"\d+", added["numbers"])]
        if any(not 1 <= each <= len(proposed) for each in numbers):
            raise InvalidInputError(f"There are {len(proposed)} of them.", field="text")
        return replace(said, sense=(*said.sense, *(proposed[each - 1].id for each in numbers)))

    def _left(self, said: Said) -> tuple[Suggestion, ...]:
        partial = _partial(said)
        problem = said.problem if partial is None else None if partial.missing() else partial.complete()
        return () if problem is None else suggestions(_with_sense(problem, said.sense))

    async def checked(self, request: Any) -> Any:
        fields = request if "problem" in request else {"problem": request}
        return as_json(parse_request({"day": self._today().isoformat(), **fields}))

    def draft_of(self, request: Any) -> Draft:
        return self._draft(Said(problem=parse_request(request).problem))

    def without(self, known: Any, key: str) -> Draft:
        kind, _, rest = key.partition(":")
        said: Said = known
        if kind == _SENSE:
            return self._draft(replace(said, sense=tuple(each for each in said.sense if each != rest)))
        return self._draft(replace(said, sentences=tuple(each for n, each in enumerate(said.sentences) if str(n) != rest)))

    async def reworded(self, known: Any, key: str, text: str) -> Draft:
        kind, _, rest = key.partition(":")
        if kind != _SENTENCE:
            raise InvalidInputError("this was not said in words: remove it, and say what holds instead", field=key)
        said: Said = known
        new = tuple(tidy(text) if str(n) == rest else each for n, each in enumerate(said.sentences))
        return self._draft(replace(said, sentences=new))

    def _draft(self, said: Said) -> Draft:
        partial = _partial(said)
        wishes = tuple(Wish(f"{_SENTENCE}:{n}", "Said", each) for n, each in enumerate(said.sentences))
        questions = tuple(each.text for each in partial.missing()) if partial else ()
        unread = partial.unread if partial else ()
        if questions or (partial is None and said.problem is None):
            return Draft(said, wishes, questions or ("Who takes part, and where are they?",), unread)
        problem = partial.complete() if partial else said.problem
        if problem is None:
            raise AssertionError("there is a problem once nothing is missing")
        words = {each.id: each.sentence for each in suggestions(problem)}
        sense = tuple(each for each in said.sense if each in words)
        wanted = _with_sense(problem, sense)
        request = as_json(parse_request({"problem": as_json(wanted), "day": self._today().isoformat()}))
        added = tuple(Wish(f"{_SENSE}:{each}", "Added", words[each]) for each in sense)
        remarks = (*_notes(partial), *_forgotten(suggestions(wanted)))
        return Draft(replace(said, sense=sense), (*wishes, *added), (), unread, request, remarks)

    def on_top(self, request: Any, saga: Saga) -> Any:
        """What has happened has happened, whatever is wished now."""
        before = parse_request(saga.request)
        kept = {"day": before.day.isoformat(), "events": [as_json(each) for each in before.events]}
        return as_json(parse_request({**request, **kept}))

    async def preferred(self, text: str, saga: Saga) -> Preference | None:  # noqa: ARG002 - its plans have no prices to compare
        return None

    def sentence(self, request: Any) -> str:
        wanted = parse_request(request)
        names = ", ".join(person.name for person in wanted.problem.people)
        return f"A reunion ({wanted.problem.name}) of {names} on {wanted.day.isoformat()}."

    # -- plans ---------------------------------------------------------------------------------------------------------

    def bars(self, plan: Any) -> tuple[Bar, ...]:
        return bars_of(DayPlan.model_validate(plan))

    def route(self, plan: Any) -> Route:
        return route_of(DayPlan.model_validate(plan))

    def lines(self, plan: Any) -> tuple[Line, ...]:
        return lines_of(DayPlan.model_validate(plan))

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:
        return disruptions(saga)

    def disruption_in(self, text: str, saga: Saga) -> Disruption | None:
        return disruption_in(text, saga)

    async def happens(self, saga: Saga, disruption: Disruption) -> None:
        """The world outside is people: whoever tells of it has seen it happen."""

    def downloads(self, saga: Saga) -> tuple[Download, ...]:
        if saga.plan.content is None:
            return ()
        sent = datetime.fromtimestamp(saga.last_at, UTC)
        parts = parts_of(DayPlan.model_validate(saga.plan.content))
        return tuple(
            Download(f"{_file_name(part.who)}.ics", "text/calendar", invitation_ics(part, f"{saga.id}/{part.who}", sent=sent))
            for part in parts
        )


def _partial(said: Said) -> PartialProblem | None:
    """What the sentences say, in their order: an answer is read after the question that it answers."""
    partial: PartialProblem | None = None
    unread: list[str] = []
    for each in said.sentences:
        partial = read_reunion(each, partial)
        unread += partial.unread
    return None if partial is None else replace(partial, unread=tuple(unread))


def _with_sense(problem: ReunionProblem, ids: tuple[str, ...]) -> ReunionProblem:
    return accept(problem, [each for each in ids if each in {known.id for known in suggestions(problem)}])


def _notes(partial: PartialProblem | None) -> tuple[str, ...]:
    return (f"I took for granted: {'; '.join(partial.notes)}.",) if partial and partial.notes else ()


def _forgotten(left: tuple[Suggestion, ...]) -> tuple[str, ...]:
    if not left:
        return ()
    listed = [f"{number}. {each.sentence}" for number, each in enumerate(left, 1)]
    return ("\n".join(["People often forget:", *listed, "Say “add all”, or “add 1”, if that holds here."]),)


def _file_name(who: str) -> str:
    return re.sub(r"[^\w-]+", "_", who, flags=re.ASCII).strip("_") or "part"

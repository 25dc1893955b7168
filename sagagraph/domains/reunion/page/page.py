"""The reunion page: what was said sentence by sentence, what people forget to say, and everybody's day."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any, Final

from sagagraph.context.model import Model
from sagagraph.domains.reunion.actions.actions import ASSIGN
from sagagraph.domains.reunion.actions.calendar import invitation_ics
from sagagraph.domains.reunion.completion import Completed, completed
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, Sending, as_json, parse_request
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.events import in_words
from sagagraph.domains.reunion.page.answers import Answers
from sagagraph.domains.reunion.page.disruptions import Day, disruption_in, disruptions
from sagagraph.domains.reunion.page.fields import DAY, day_of, fields_of, with_cars, with_value, without_left_places
from sagagraph.domains.reunion.page.model_reading import SLOTS, is_named
from sagagraph.domains.reunion.page.preferences import preferred
from sagagraph.domains.reunion.page.schedule import view_of
from sagagraph.domains.reunion.parts import parts_of
from sagagraph.domains.reunion.planning.measure import tradeoffs
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.text.days import days_in
from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.transcript import EMPTY, Filled, Transcript
from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import Part
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Slot
from sagagraph.planning.page import (
    Detail,
    Disruption,
    Download,
    Draft,
    Figures,
    Measure,
    Page,
    PlanView,
    Preference,
    Wish,
    showcase_of,
)
from sagagraph.saga.core.state import Saga

_ADD: Final = re.compile(
    r"^\W*(?:yes,? )?(?:please )?add (?:(?P<all>all|them|them all|everything)|(?P<numbers>[\d ,and]+))\W*$", re.IGNORECASE
)
_BETTER: Final = "Say it where you know better, like “it is 60 minutes from the airport to home”."
_HAPPENED = "happened"


class ReunionPage(Page):
    domain: Reunion
    title = "A reunion"
    rows_have_names = True
    opening = "Who comes together, where and by when? Say who is where, who drives, and what has to be done."
    change = "dinner at 7 instead"
    supposition = "what if James is an hour late?"
    promise = "Who drives whom, who watches the oven, and what changes when a flight is late."
    showcase = showcase_of(
        ("James", (("rental car", 13.5, 15), ("rental car", 15, 16))),
        ("Emily", (("rental car", 15, 16),)),
        ("Michael", (("Michael's car", 11, 15),)),
        ("Sarah", (("oven", 14, 18),)),
    )
    go_ahead = "Tell everybody"
    outcome = "everybody has been told their part"
    under_way = "Everybody has been told their part, and the day is open: tell me what happens, and I will repair the plan."
    examples = (
        "Thanksgiving dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Emily "
        "lands at 2:30 pm and needs a ride. Michael drives from New York, leaving at 11. Grandma needs a pick-up. Turkey takes "
        "4 hours in the oven, someone must watch it; sides take 2 hours. Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30, "
        "New York-Home 4 hours",
        *(name.replace("_", " ") for name in SHIPPED),
    )

    def __init__(
        self, reunion: Reunion, model: Model | None = None, today: Callable[[], date] = lambda: datetime.now(UTC).date()
    ) -> None:
        super().__init__(reunion, model)
        self._today = today

    # -- wishes --------------------------------------------------------------------------------------------------------

    async def read(self, text: str, known: Any | None) -> Draft:
        before: Filled = known or EMPTY
        if (name := text.strip().casefold().replace(" ", "_")) in SHIPPED:
            if before.problem["people"]:
                raise InvalidInputError(f"{text.strip()} is a different, complete reunion: begin a new plan for it", field="text")
            return self._draft(Filled(problem=as_json(shipped(name)), day=None if DAY in before.assumed else before.day))
        if added := _ADD.match(text):
            return self._draft(_with_added(before, added))
        days, found = days_in(text, self._today()), told(before, text)
        words = {word for each in (*days.named.values(), *days.unclear) for word in each.casefold().split()}
        unread = tuple(each for each in found.unread if not words.issuperset(each.casefold().split()))
        if len(days.named) == 1 and _is_of_all(before, found.filled, unread):
            return self._draft(_on(found.filled, next(iter(days.named))), (*unread, *days.unclear))
        others = tuple(each for day, each in days.named.items() if day != before.day)
        return self._draft(found.filled.model_copy(update={"day": before.day}), (*unread, *days.unclear, *others))

    async def drafted(self, known: Any | None) -> Draft:
        return self._draft(known or EMPTY)

    def slots(self, draft: Draft) -> tuple[Slot, ...]:  # noqa: ARG002 - the same for every reunion
        return SLOTS

    def states(self, anchor: Anchor, value: str, quote: str) -> bool:
        return is_named(value, quote) if anchor is Anchor.NAME else super().states(anchor, value, quote)

    def beside(self, before: Any, ours: Any, theirs: Any, touched: frozenset[str]) -> Filled:  # noqa: ARG002
        """Return the model's reading, which was filled in over the rules', without places where only the rules had anybody."""
        return with_cars(without_left_places(theirs, ours, before or EMPTY))

    async def checked(self, request: Any, before: Any = None) -> Any:
        fields = request if "problem" in request else {"problem": request}
        day = before["day"] if before else self._today().isoformat()
        return as_json(parse_request({"day": day, **fields}))

    def draft_of(self, request: Any) -> Draft:
        """Return the draft as it was filled in; what an earlier release kept otherwise, as the problem that became of it."""
        wanted = parse_request(request)
        filled = wanted.told.filled if wanted.told else None
        is_so = filled is not None and not (wanted.told and wanted.told.sentences) and _problem_of(filled) == wanted.problem
        return self._draft(filled if filled and is_so else Filled(problem=as_json(wanted.problem), day=wanted.day))

    def fields(self, draft: Draft) -> tuple[Part, ...]:
        told = draft.partial or (as_json(parse_request(draft.request).problem) if draft.request else EMPTY.problem)
        asked = dict(zip(draft.missing, draft.questions, strict=True))
        own: Filled = draft.known or EMPTY
        parts = fields_of(told, asked, draft.assumed, day=own.day or self._today(), has_mail=self.domain.sends_mail)
        return tuple(part.marked(lambda field: field.beside(draft.others)) for part in parts)

    async def with_field(self, known: Any, name: str, value: str) -> Draft:
        before: Filled = known or EMPTY
        if name != DAY:
            return self._draft(with_value(before, name, value))
        day = day_of(value)
        if day is not None and day < self._today() and day != before.day:
            raise InvalidInputError(f"{day:%-d %B %Y} is over", field=DAY)
        return self._draft(_on(before, day))

    def _draft(self, filled: Filled, unread: tuple[str, ...] = ()) -> Draft:
        if filled.day is None:
            assumed = {DAY: "no other day was read", **filled.assumed}
            filled = filled.model_copy(update={"day": self._today(), "assumed": assumed})
        known = completed(filled)
        if (problem := known.whole) is None:
            return Draft(
                filled,
                (),
                tuple(each.text for each in known.questions),
                unread,
                field=known.questions[0].field,
                missing=tuple(each.field for each in known.questions),
                assumed=known.assumed,
                partial=known.problem,
            )
        told = Transcript(filled=filled) if known.assumed else None
        request = as_json(ReunionRequest(problem=problem, day=filled.day, told=told))
        remarks = _remarks(known, [each.sentence for each in suggestions(problem)])
        return Draft(filled, (), (), unread, request, remarks, assumed=known.assumed)

    def happened(self, request: Any) -> tuple[Wish, ...]:
        wanted = parse_request(request)
        told = (in_words(each, wanted.problem) for each in wanted.events)
        return tuple(Wish(f"{_HAPPENED}:{number}", "Happened", each) for number, each in enumerate(told))

    def on_top(self, request: Any, saga: Saga) -> Any:
        """Apply the request after the events: what has happened has happened; the same request in other words is not a new
        request.
        """
        before = parse_request(saga.request)
        wanted = parse_request({**request, "events": [as_json(each) for each in before.events]})
        if saga.plan.version and wanted.day != before.day:
            on = f"{before.day:%-d %B}"
            raise InvalidInputError(
                f"everybody has been told {on}: cancel this plan, and begin another for another day", field=DAY
            )
        return saga.request if wanted.wishes_for_the_same_as(before) else as_json(wanted)

    async def preferred(self, text: str, saga: Saga) -> Preference | None:
        known: Filled = self.draft_of(saga.request).known
        with suppress(InvalidInputError):
            if told(known, text).filled != known:  # something else is wanted, too
                return None
        return preferred(text, saga)

    def sentence(self, request: Any) -> str:
        wanted = parse_request(request)
        if wanted.told and wanted.told.sentences:
            return ". ".join(wanted.told.sentences)
        names = ", ".join(person.name for person in wanted.problem.people)
        return f"A reunion ({wanted.problem.name}) of {names} on {wanted.day.isoformat()}."

    def answer(self, asked: str, saga: Saga) -> str | None:
        return Answers(saga, Day(saga).now).answer(asked)

    # -- plans ---------------------------------------------------------------------------------------------------------

    def view(self, plan: Any) -> PlanView:
        return view_of(DayPlan.model_validate(plan))

    def names(self, saga: Saga) -> dict[str, str]:
        return {each.id: f"what {each.spec.inputs['who']} was told" for each in saga.in_order() if each.spec.action == ASSIGN}

    def figures(self, saga: Saga, plan: Any, cost: Mapping[str, Any] | None) -> Figures | None:  # noqa: ARG002
        found = tradeoffs(parse_request(saga.request).problem, DayPlan.model_validate(plan).plan)
        return (
            Measure("driving", found.driving_minutes, f"{found.driving_minutes:g} minutes of driving"),
            Measure("everything done", found.ends, f"done at {text_of(found.ends)}"),
            Measure("waiting", found.waiting, f"{found.waiting:g} minutes of waiting"),
        )

    def details(self, saga: Saga) -> tuple[Detail, ...]:
        """Return who is sent what they are told, and where to."""
        sent = DayPlan.model_validate(saga.plan.content).sent if saga.plan.content else {}
        return tuple(Detail(name, f"{ASSIGN} {name}", terms=_sent_to(each)) for name, each in sent.items())

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:
        return disruptions(saga)

    def disruption_in(self, text: str, saga: Saga) -> Disruption | None:
        return disruption_in(text, saga)

    def downloads(self, saga: Saga) -> tuple[Download, ...]:
        if saga.plan.content is None:
            return ()
        sent, is_open = datetime.fromtimestamp(saga.last_at, UTC), not saga.plan.version
        parts = parts_of(DayPlan.model_validate(saga.plan.content))
        names = [re.sub(r"[^\w-]+", "_", part.who, flags=re.ASCII).strip("_") or "part" for part in parts]
        return tuple(
            Download(
                f"{name}.ics", "text/calendar", invitation_ics(part, f"{saga.id}/{part.who}", sent=sent, is_tentative=is_open)
            )
            for name, part in zip(names, parts, strict=True)
        )


def _on(filled: Filled, day: date | None) -> Filled:
    """Return it on that day, which is no assumption; without one, it is assumed anew."""
    assumed = {name: why for name, why in filled.assumed.items() if name != DAY}
    return filled.model_copy(update={"day": day, "assumed": assumed})


def _is_of_all(before: Filled, after: Filled, unread: tuple[str, ...]) -> bool:
    """Tell whether a day that is named with this change is that on which all meet, and not one of somebody or something."""
    if before.problem == EMPTY.problem or before.problem["goals"] != after.problem["goals"]:
        return True
    return before.problem == after.problem and not unread


def _problem_of(filled: Filled) -> ReunionProblem | None:
    try:
        return completed(filled).whole
    except InvalidInputError:
        return None


def _with_added(before: Filled, said: re.Match[str]) -> Filled:
    problem = _problem_of(before)
    proposed = () if problem is None else suggestions(problem)
    if problem is None or not proposed:
        raise InvalidInputError("There is nothing left to add.", field="text")
    numbers = range(1, len(proposed) + 1) if said["all"] else [int(each) for each in re.findall(r"\d+", said["numbers"])]
    if any(not 1 <= each <= len(proposed) for each in numbers):
        raise InvalidInputError(f"There are {len(proposed)} of them.", field="text")
    accepted = as_json(accept(problem, [proposed[each - 1].id for each in numbers]))
    own = [
        row
        for row in accepted["travel_minutes"]
        if row[:2] not in [[each.here, each.there] for each in completed(before).estimates]
    ]
    return before.model_copy(update={"problem": {**accepted, "travel_minutes": own}})


def _sent_to(sending: Sending) -> str:
    """Say where it goes, and how it is taken back."""
    mail = f"mail to {sending.mail}, and another one if it no longer holds" if sending.mail else ""
    calendar = f"an event in the calendar {sending.calendar}, cancelled if it no longer holds" if sending.calendar else ""
    return "; ".join(filter(None, (mail, calendar)))


def _remarks(known: Completed, forgotten: list[str]) -> tuple[str, ...]:
    guessed = (f"{each}. {_BETTER}" for each in known.guess)
    listed = [f"{number}. {sentence}" for number, sentence in enumerate(forgotten, 1)]
    said = "\n".join(["People often forget:", *listed, "Say “add all”, or “add 1”, if that holds here."])
    return (
        *((f"I took for granted: {'; '.join(known.notes)}.",) if known.notes else ()),
        *guessed,
        *((said,) if forgotten else ()),
    )

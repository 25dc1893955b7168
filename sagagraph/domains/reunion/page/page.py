"""The reunion page: what was said sentence by sentence, what people forget to say, and everybody's day."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Any, Final

from sagagraph.context.model import Model
from sagagraph.context.slice import content_hash
from sagagraph.domains.reunion.actions.calendar import invitation_ics
from sagagraph.domains.reunion.day import DayPlan, ReunionRequest, as_json, parse_request
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.events import in_words
from sagagraph.domains.reunion.page.answers import Answers
from sagagraph.domains.reunion.page.disruptions import Day, disruption_in, disruptions
from sagagraph.domains.reunion.page.fields import EMPTY, fields_of, with_cars, with_value
from sagagraph.domains.reunion.page.preferences import preferred
from sagagraph.domains.reunion.page.schedule import view_of
from sagagraph.domains.reunion.parts import parts_of
from sagagraph.domains.reunion.planning.measure import tradeoffs
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.domains.reunion.suggestions import suggestions
from sagagraph.domains.reunion.text.model_reading import SLOTS, is_named
from sagagraph.domains.reunion.text.partial import ESTIMATED
from sagagraph.domains.reunion.text.revision import Revision, meaning_of, with_said, with_said_instead, without
from sagagraph.domains.reunion.times import text_of
from sagagraph.domains.reunion.transcript import Filled, Transcript
from sagagraph.errors import InvalidInputError
from sagagraph.planning.fields import Fields, Part, State
from sagagraph.planning.models.anchors import Anchor
from sagagraph.planning.models.reading import Slot
from sagagraph.planning.page import Disruption, Download, Draft, Figures, Measure, Page, PlanView, Preference, Wish, showcase_of
from sagagraph.saga.core.state import Saga

_ADD: Final = re.compile(
    r"^\W*(?:yes,? )?(?:please )?add (?:(?P<all>all|them|them all|everything)|(?P<numbers>[\d ,and]+))\W*$", re.IGNORECASE
)
_BETTER: Final = "Say it where you know better, like “it is 60 minutes from the airport to home”."
_SENTENCE, _SENSE, _HAPPENED = "sentence", "sense", "happened"


class ReunionPage(Page):
    domain: Reunion
    title = "A reunion"
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
        transcript: Transcript = known or Transcript()
        if (name := text.strip().casefold().replace(" ", "_")) in SHIPPED:
            if transcript.sentences:
                raise InvalidInputError(f"{text.strip()} is a different, complete reunion: begin a new plan for it", field="text")
            return self._draft(Revision(Transcript(base=shipped(name))))
        if added := _ADD.match(text):
            return self._draft(Revision(_with_added(transcript, added)))
        return self._draft(with_said(transcript, text))

    async def drafted(self, known: Any | None) -> Draft:
        return self._draft(Revision(known or Transcript(filled=EMPTY)))

    def slots(self, draft: Draft) -> tuple[Slot, ...]:  # noqa: ARG002 - the same for every reunion
        return SLOTS

    def states(self, anchor: Anchor, value: str, quote: str) -> bool:
        return is_named(value, quote) if anchor is Anchor.NAME else super().states(anchor, value, quote)

    def beside(self, ours: Any, theirs: Any, touched: frozenset[str]) -> Transcript:  # noqa: ARG002 - all of it is one board
        """Return the model's reading alone: the rules read a reunion as a whole, or not at all."""
        return Transcript(filled=with_cars(theirs.filled))

    async def checked(self, request: Any) -> Any:
        fields = request if "problem" in request else {"problem": request}
        return as_json(parse_request({"day": self._today().isoformat(), **fields}))

    def draft_of(self, request: Any) -> Draft:
        """Return the draft as it was told; if another reader understands that differently from the plan, the problem as a
        whole.
        """
        wanted = parse_request(request)
        told = wanted.told or Transcript(base=wanted.problem)
        try:
            is_so = meaning_of(told).problem == wanted.problem
        except InvalidInputError:
            is_so = False
        return self._draft(Revision(told if is_so else Transcript(base=wanted.problem)))

    def fields(self, draft: Draft) -> tuple[Part, ...]:
        told = draft.partial or (as_json(parse_request(draft.request).problem) if draft.request else EMPTY.problem)
        said = super().fields(draft)
        words = tuple(replace(each, state=State.OPEN) for part in said if isinstance(part, Fields) for each in part.fields)
        folded = (Fields("In your words", words, is_rare=True),) if words else ()
        asked = dict(zip(draft.missing, draft.questions, strict=True))
        return (*fields_of(told, asked, draft.assumed), *folded)

    async def with_field(self, known: Any, name: str, value: str) -> Draft:
        """Change a sentence, or what is filled in: what was said before is then part of it."""
        transcript: Transcript = known or Transcript(filled=EMPTY)
        if name.partition(":")[0] in (_SENTENCE, _SENSE):
            return self._with_sentence(transcript, name, value.strip())
        before = transcript.filled
        if before is None or transcript.sentences or transcript.added:
            meant = meaning_of(transcript)
            before = Filled(problem=as_json(meant.problem) if meant.problem else meant.partial, assumed=meant.assumed)
        return self._draft(Revision(Transcript(filled=with_value(before, name, value))))

    def _with_sentence(self, transcript: Transcript, key: str, text: str) -> Draft:
        """Leave out the sentence under that key, or say `text` instead."""
        kind, _, rest = key.partition(":")
        if not text and kind == _SENSE:
            left = tuple(each for each in transcript.added if each != rest)
            return self._draft(Revision(transcript.model_copy(update={"added": left})))
        if not text:
            return self._draft(Revision(without(transcript, _number(key, transcript))))
        if kind != _SENTENCE:
            raise InvalidInputError("this was not said in words: remove it, and say what holds instead", field=key)
        return self._draft(with_said_instead(transcript, _number(key, transcript), text))

    def _draft(self, found: Revision, *asides: str) -> Draft:
        transcript = found.transcript
        wishes = tuple(Wish(_key(each), "Said", each) for each in transcript.sentences)
        overtaken = (f"Instead of “{old}”: “{new}”." if new else f"No more: “{old}”." for old, new in found.overtaken)
        asides = (*asides, *overtaken)
        meant = meaning_of(transcript)
        if meant.problem is None:
            missing = tuple(each.field for each in meant.questions)
            questions = tuple(each.text for each in meant.questions)
            return Draft(
                transcript,
                wishes,
                questions,
                found.unread,
                asides=asides,
                field=missing[0],
                missing=missing,
                assumed=meant.assumed,
                partial=meant.partial,
            )
        plain = meaning_of(transcript.model_copy(update={"added": ()})).problem
        words = {each.id: each.sentence for each in suggestions(plain)} if plain else {}
        transcript = transcript.model_copy(update={"added": tuple(each for each in transcript.added if each in words)})
        told = transcript if transcript.sentences or transcript.added or transcript.filled else None
        request = as_json(ReunionRequest(problem=meant.problem, day=self._today(), told=told))
        added = tuple(Wish(f"{_SENSE}:{each}", "Added", words[each]) for each in transcript.added)
        remarks = _remarks(meant.notes, [each.sentence for each in suggestions(meant.problem)])
        return Draft(transcript, (*wishes, *added), (), found.unread, request, remarks, asides, assumed=meant.assumed)

    def happened(self, request: Any) -> tuple[Wish, ...]:
        wanted = parse_request(request)
        told = (in_words(each, wanted.problem) for each in wanted.events)
        return tuple(Wish(f"{_HAPPENED}:{number}", "Happened", each) for number, each in enumerate(told))

    def on_top(self, request: Any, saga: Saga) -> Any:
        """Apply the request after the events: what has happened has happened; the same request in other words is not a new
        request.
        """
        before = parse_request(saga.request)
        kept = {"day": before.day.isoformat(), "events": [as_json(each) for each in before.events]}
        wanted = parse_request({**request, **kept})
        return saga.request if wanted.wishes_for_the_same_as(before) else as_json(wanted)

    async def preferred(self, text: str, saga: Saga) -> Preference | None:
        transcript: Transcript = self.draft_of(saga.request).known
        with suppress(InvalidInputError):
            if with_said(transcript, text).transcript != transcript:  # something else is wanted, too
                return None
        return preferred(text, saga)

    def sentence(self, request: Any) -> str:
        wanted = parse_request(request)
        if wanted.told and wanted.told.base is None:
            return ". ".join(wanted.told.sentences)
        names = ", ".join(person.name for person in wanted.problem.people)
        return f"A reunion ({wanted.problem.name}) of {names} on {wanted.day.isoformat()}."

    def answer(self, asked: str, saga: Saga) -> str | None:
        return Answers(saga, Day(saga).now).answer(asked)

    # -- plans ---------------------------------------------------------------------------------------------------------

    def view(self, plan: Any) -> PlanView:
        return view_of(DayPlan.model_validate(plan))

    def figures(self, saga: Saga, plan: Any, cost: Mapping[str, Any] | None) -> Figures | None:  # noqa: ARG002
        found = tradeoffs(parse_request(saga.request).problem, DayPlan.model_validate(plan).plan)
        return (
            Measure("driving", found.driving_minutes, f"{found.driving_minutes:g} minutes of driving"),
            Measure("everything done", found.ends, f"done at {text_of(found.ends)}"),
            Measure("waiting", found.waiting, f"{found.waiting:g} minutes of waiting"),
        )

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


def _key(sentence: str) -> str:
    """Return a key made of the sentence's text, so that a page showing an old list cannot change another sentence by its
    position.
    """
    return f"{_SENTENCE}:{content_hash(sentence)[:12]}"


def _number(key: str, transcript: Transcript) -> int:
    for number, each in enumerate(transcript.sentences):
        if _key(each) == key:
            return number
    raise InvalidInputError("this is no longer in the list: look at the list again", field=key)


def _with_added(transcript: Transcript, said: re.Match[str]) -> Transcript:
    problem = meaning_of(transcript).problem if transcript.base or transcript.sentences else None
    proposed = () if problem is None else suggestions(problem)
    if not proposed:
        raise InvalidInputError("There is nothing left to add.", field="text")
    numbers = range(1, len(proposed) + 1) if said["all"] else [int(each) for each in re.findall(r"\d+", said["numbers"])]
    if any(not 1 <= each <= len(proposed) for each in numbers):
        raise InvalidInputError(f"There are {len(proposed)} of them.", field="text")
    return transcript.model_copy(update={"added": (*transcript.added, *(proposed[each - 1].id for each in numbers))})


def _remarks(notes: tuple[str, ...], forgotten: list[str]) -> tuple[str, ...]:
    granted = [each for each in notes if not each.startswith(ESTIMATED)]
    guessed = [f"{each[0].upper()}{each[1:]}. {_BETTER}" for each in notes if each.startswith(ESTIMATED)]
    listed = [f"{number}. {sentence}" for number, sentence in enumerate(forgotten, 1)]
    said = "\n".join(["People often forget:", *listed, "Say “add all”, or “add 1”, if that holds here."])
    return (*((f"I took for granted: {'; '.join(granted)}.",) if granted else ()), *guessed, *((said,) if forgotten else ()))

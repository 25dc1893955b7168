"""Pages: what the app, and the command line if it reads sentences, need from a domain.

A domain's page is a subclass of `Page`. A simple one defines only `title`, `opening` and `read`; it overrides the defaults of
whatever else it supports.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any, Final

from pydantic import BaseModel

from sagagraph.context.model import Model
from sagagraph.errors import InvalidInputError, ModelError
from sagagraph.language.utterance.questions import Topic
from sagagraph.language.utterance.utterances import Kind
from sagagraph.money import cost_text, money_text
from sagagraph.planning.domain import Domain
from sagagraph.planning.fault_desk import FaultDesk
from sagagraph.planning.fields import Field, Fields, Part, State
from sagagraph.planning.forms import any_named, fields_of, to_name, with_value
from sagagraph.planning.models.anchors import Anchor, stated
from sagagraph.planning.models.reading import Slot, heard, slots_of
from sagagraph.planning.remedies import Remedy
from sagagraph.saga.core.state import Saga

Known = Any
"""What a domain knows of a request so far, in its own form: callers only hand it back."""
Json = Any
"""A request or a plan, whose form only its domain knows."""

COUNT_BEGINS: Final = datetime(2000, 1, 1)  # noqa: DTZ001 - bars have the local time of a place


@dataclass(frozen=True, slots=True)
class Wish:
    """Wish that somebody has expressed and that still holds. `text` is a phrase that `Page.read` understands as exactly this
    wish.
    """

    key: str
    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Draft:
    """Draft of a request, as far as it is known."""

    known: Known
    wishes: tuple[Wish, ...] = ()
    questions: tuple[str, ...] = ()
    """What has to be answered before there is a request; the first is asked."""
    not_understood: tuple[str, ...] = ()
    request: Json = None
    """The request, once nothing is missing."""
    remarks: tuple[str, ...] = ()
    """Remarks about the request: what was assumed, what is often forgotten."""
    asides: tuple[str, ...] = ()
    """Remarks about this change alone."""
    field: str = ""
    """The field that the first question asks for."""
    missing: tuple[str, ...] = ()
    """The fields that the questions ask for, in their order."""
    remedies: tuple[Remedy, ...] = ()
    """What can be asked for instead, where what was said cannot be had together."""
    assumed: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What nobody has said, by its field: why it is taken to be so, in a few words."""
    others: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """What the rules have read differently from the model, by its field, as it is typed there."""
    partial: Json = None
    """The request in its JSON form, as far as it is known, where something is missing."""
    by: str = ""
    """The model that has read the sentence."""
    failed: ModelError | None = None
    """Why the model could not be asked; then only the rules have read the sentence."""
    kind: Kind | None = None
    """What kind of utterance the model takes it for; None: no model has read it."""
    topic: Topic | None = None
    """Of a question, according to the model."""


@dataclass(frozen=True, slots=True)
class Line:
    """Line: one part of a plan, for comparison with the same part of another."""

    key: str
    what: str
    when: str = ""
    price: str = ""
    begins: datetime | None = None
    """Where a plan is read day by day."""
    kind: str = ""
    """What it is, for questions: `hotel`, `flight`, `train`."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Bar: a stretch of time on a row of a timeline. `begins`, `ends`: local time of the place, as its clocks show it."""

    row: str
    label: str
    kind: str
    begins: datetime
    ends: datetime
    operation: str = ""
    """The operation that carries it out, where there is one."""


@dataclass(frozen=True, slots=True)
class Place:
    """Place. `x`, `y`: degrees of longitude and latitude on a map, or any plane on a schematic."""

    name: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Connection:
    origin: Place
    destination: Place
    kind: str
    label: str


@dataclass(frozen=True, slots=True)
class Route:
    connections: tuple[Connection, ...] = ()
    is_map: bool = False
    """Whether places are on the globe; if so, connections follow great circles."""


@dataclass(frozen=True, slots=True)
class PlanView:
    """View of a plan for display: in lines, and in pictures if the domain has any."""

    lines: tuple[Line, ...] = ()
    bars: tuple[Bar, ...] = ()
    route: Route = Route()
    is_counted: bool = False
    """Whether the times of bars are minutes since `COUNT_BEGINS`, whatever a minute stands for, and are shown as numbers."""

    @property
    def kinds(self) -> tuple[str, ...]:
        """Return all kinds in the pictures: each has a colour of its own, the same in all of them."""
        kinds = [*(bar.kind for bar in self.bars), *(each.kind for each in self.route.connections)]
        return tuple(dict.fromkeys(kinds))


@dataclass(frozen=True, slots=True)
class Measure:
    """Measure of a plan, for comparison with others: less is better. `text`: with its unit."""

    name: str
    value: float
    text: str


Figures = tuple[Measure, Measure, Measure]
"""What a plan costs, how long it takes, and what it lacks in comfort."""


@dataclass(frozen=True, slots=True)
class Detail:
    """Detail of one line of a plan beyond the line itself, in sentences without a full stop; empty if there is none."""

    key: str
    """The key of the line."""
    operation: str = ""
    why: str = ""
    others: tuple[str, ...] = ()
    """What could be booked instead, the next best first, with its cost."""
    terms: str = ""
    """Until when it can be undone, and at what fee."""
    state: str = ""
    """The provider's view of it."""
    reference: str = ""
    """The confirmation number."""


@dataclass(frozen=True, slots=True)
class Disruption:
    """Disruption: something that can go wrong with a plan at the press of a button; `words` say it as a person would."""

    key: str
    words: str
    request: Json = None
    """The request once it has happened; None: the same as before."""
    lost: tuple[str, ...] = ()
    """Operations that have fallen through; they are given up, so the page asks somebody who only reports it before it acts."""


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Preference:
    """Preference: the plan that a person prefers among those on offer, if there is a better one, and the answer to the person."""

    plan_hash: str | None = None
    said: str = ""
    draft: Draft | None = None
    """A change of the request that is meant instead, if no plan on offer is meant."""


ALONE: Final = "There is no other plan to compare this one with. Change one of your wishes, and I will plan again."
"""The answer to a preference when no alternative to the shown plan is offered."""


def better_offer(saga: Saga, figure: Callable[[Json], float]) -> tuple[str, Json] | None:
    """Return hash and plan of the alternative with the least `figure`; None if none beats the plan that is shown."""
    offered = [(str(each["plan_hash"]), each["plan"]) for each in saga.plan.alternatives]
    best = min(offered, key=lambda offer: figure(offer[1]))
    return best if figure(best[1]) < figure(saga.plan.content) else None


class Page:
    """Page of one domain in the app. Everything is pure except `read`, `checked` and `changed`, which may ask a clock or
    a model.
    """

    title: str
    """What is planned, as in `A trip`."""
    opening: str
    """The page's first question."""
    promise: str = ""
    """What it does for people, in a sentence."""
    showcase: PlanView = PlanView()
    """A plan to look at before there is any."""
    examples: tuple[str, ...] = ()
    go_ahead: str = "Book"
    """What approving a plan does, as a verb."""
    outcome: str = "it is done"
    """What has been achieved once a saga has committed."""
    change: str = ""
    """An example of how a plan is changed; empty: there is none."""
    supposition: str = ""
    """An example of how something is tried out; empty: there is none."""
    hint: str = "Say what should be different, or ask me about the plan."
    """What can be said instead of what was not understood."""
    elsewhere: str = "That is not mine to arrange, and the plan stays without it."
    """The answer to wishes that nobody here can take care of."""
    acts: Mapping[str, str] = {}
    """What people call the actions that no bar of a plan stands for."""
    under_way: str = ""
    """The message while a plan is carried out and nothing moves; empty if that does not happen."""
    suggestions: Mapping[str, Sequence[str]] = {}
    """Lists from which fields suggest values."""
    plans_quickly: bool = False
    """Whether a change is tried out before it is made, so that the plan that stands is not lost to one that cannot be had."""
    rows_have_names: bool = False
    """Whether a row of a table is known by its name, so that two readings of a text are one table: what a model has read is
    filled in over what the rules have, and their other rows stay.
    """
    form: type[BaseModel] | None = None
    """The request's model, from which a page without fields of its own has its board."""
    desk: FaultDesk | None = None
    """Where faults can be injected; None if the provider is not a sandbox."""

    def __init__(self, domain: Domain, model: Model | None = None) -> None:
        self.domain = domain
        self.model = model

    @property
    def name(self) -> str:
        return self.domain.name

    async def today(self) -> date:
        """Return today's date for the page, by its provider's clock."""
        return datetime.now(UTC).date()

    # -- wishes: by default, what is known is the request as far as it goes, and each of its fields is a wish --------------

    async def hear(self, text: str, known: Known | None) -> Draft:
        """Read what was said on top of what is known. Raises `InvalidInputError` for what cannot be read at all."""
        return await heard(self, text, known)

    async def read(self, text: str, known: Known | None) -> Draft:
        """Read by rules, without a model. Raises `InvalidInputError` for what cannot be read at all."""
        raise NotImplementedError

    async def drafted(self, known: Known | None) -> Draft:
        """Return the draft of what is known."""
        try:
            return self.draft_of(await self.checked(known or {}))
        except InvalidInputError as exc:
            return Draft(known, questions=(self.opening,), field=str(exc.field))

    def slots(self, draft: Draft) -> tuple[Slot, ...]:
        """Return what a model may fill in; by default every field of the board."""
        if self.form is not None:
            return slots_of((fields_of(self.form, draft.known or {}), Fields("", tuple(any_named(self.form)))))
        return slots_of(self.fields(draft))

    def states(self, anchor: Anchor, value: str, quote: str) -> bool:
        """Tell whether these words state a value that a model has read in them."""
        return stated(anchor, value, quote)

    def beside(self, before: Known, ours: Known, theirs: Known, touched: frozenset[str]) -> Known:  # noqa: ARG002
        """Return what the model has read, with what the rules have read of whatever it has not `touched`. `before`: what was
        known before.
        """
        return {**ours, **{name: value for name, value in theirs.items() if name in touched}}

    async def checked(self, request: Json, before: Json | None = None) -> Json:  # noqa: ARG002 - for those that keep some of it
        """Check a request that was made elsewhere. Raises `InvalidInputError`, naming the field. `before`: the one it changes."""
        return request

    def draft_of(self, request: Json) -> Draft:
        """Return the draft of a complete request."""
        return Draft(request, tuple(Wish(name, name, f"{name} {value}") for name, value in request.items()), request=request)

    def fields(self, draft: Draft) -> tuple[Part, ...]:
        """Return what is known as fields to change, for `NOTHING_KNOWN` the empty ones; by default those of the `form` or,
        without one, each wish in words.
        """
        if self.form is not None:
            parts = (fields_of(self.form, draft.known or {}), to_name(self.form))
            return tuple(part for part in parts if part.fields)
        said = tuple(Field(wish.key, wish.label, wish.text, size=40, state=State.SAID) for wish in draft.wishes)
        return (Fields("What you have said", said),) if said else ()

    async def with_field(self, known: Known, name: str, value: str) -> Draft:
        """Return the request with another value of one of its `fields`, as it is typed; an empty one takes it away.

        Raises `InvalidInputError` for a value that cannot be meant.
        """
        if self.form is not None:
            return await self.drafted(with_value(self.form, known or {}, name, value.strip()))
        return await self.read(value, {key: each for key, each in known.items() if key != name})

    def on_top(self, request: Json, saga: Saga) -> Json:  # noqa: ARG002 - where all of a request is wishes
        """Return the request as a change of the saga's request: whatever is not a wish stays."""
        return request

    def as_before(self, draft: Draft, last: Json) -> Draft:  # noqa: ARG002 - what a domain has no habits of
        """Return a draft that lacks something, with what is usual: as in the `last` request of the same visitor."""
        return draft

    def sentence(self, request: Json) -> str:
        """Return the request as a person would say it."""
        return f"{self.title} {', '.join(wish.text for wish in self.draft_of(request).wishes)}."

    # -- plans -------------------------------------------------------------------------------------------------------------

    def view(self, plan: Json) -> PlanView:
        return PlanView(tuple(Line(part, part) for part in self.domain.title(plan).split("; ")))

    def names(self, saga: Saga) -> dict[str, str]:
        """Return what people call the saga's operations: by default, the labels of the bars of its plan."""
        plan = saga.plan.content if saga.plan.accepted is None else saga.plan.accepted.content
        return {} if plan is None else {bar.operation: bar.label for bar in self.view(plan).bars if bar.operation}

    def money(self, plan: Json, amount: Decimal, currency: str) -> str:  # noqa: ARG002 - for those that know rates
        """Format an amount that the plan costs, in the currency of the request."""
        return money_text(amount, currency)

    def price(self, plan: Json, cost: Mapping[str, Any] | None) -> str:
        """Return what the plan costs, or part of it, in the currency of the request; empty if that is nothing."""
        return cost_text(cost, partial(self.money, plan))

    async def price_as_asked(self, asked: str, saga: Saga) -> str:  # noqa: ARG002  # for those that override it
        """Return the price in the currency that a question names; empty if it names none, or no rate is known."""
        return ""

    def figures(self, saga: Saga, plan: Json, cost: Mapping[str, Any] | None) -> Figures | None:  # noqa: ARG002
        """Return what one of the saga's plans is compared by; None: only by its price."""
        return None

    def details(self, saga: Saga) -> tuple[Detail, ...]:  # noqa: ARG002
        """Return details about the lines of the saga's plan, for when somebody asks."""
        return ()

    def answer(self, asked: str, saga: Saga) -> str | None:  # noqa: ARG002
        """Answer what only this domain can say about the plan that the saga shows; None: nothing."""
        return None

    async def preferred(self, text: str, saga: Saga) -> Preference | None:  # noqa: ARG002
        """Handle `make it cheaper`: return the plan meant among those on offer; None if something else is meant."""
        return None

    def downloads(self, saga: Saga) -> Sequence[Download]:  # noqa: ARG002
        return ()

    # -- what goes wrong ---------------------------------------------------------------------------------------------------

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:  # noqa: ARG002
        """Return what can go wrong with it now."""
        return ()

    def disruption_in(self, text: str, saga: Saga) -> Disruption | None:
        """Return the disruption that a person describes; None if it is about something else.

        Raises `InvalidInputError` if it is unclear.
        """
        said = text.strip(" .!").casefold()
        return next((each for each in self.disruptions(saga) if each.words.casefold() == said), None)

    async def happens(self, saga: Saga, disruption: Disruption) -> None:
        """Make it happen at the provider too, if that is a sandbox."""

    def happened(self, request: Json) -> tuple[Wish, ...]:  # noqa: ARG002
        """Return facts learnt since then, which hold in addition to the wishes; nobody can withdraw them."""
        return ()


def showcase_of(*rows: tuple[str, tuple[tuple[str, float, float], ...]]) -> PlanView:
    """Return a plan to look at: of each row its kinds of bars, and from which hour until which."""
    bars = (
        Bar(row, kind, kind, COUNT_BEGINS + timedelta(hours=begins), COUNT_BEGINS + timedelta(hours=ends))
        for row, kinds in rows
        for kind, begins, ends in kinds
    )
    return PlanView(bars=tuple(bars))


NOTHING_KNOWN: Final = Draft(None)

"""What a page needs of a domain beside planning: to understand sentences, to list wishes, and to draw plans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Protocol

from sagagraph.errors import ModelError
from sagagraph.planning.domain import Domain
from sagagraph.planning.fault_desk import FaultDesk
from sagagraph.saga.core.state import Saga


@dataclass(frozen=True, slots=True)
class Wish:
    """Something that was said and holds. `text` is a phrase that `Subject.read` understands as just this wish."""

    key: str
    label: str
    text: str
    removable: bool = True


@dataclass(frozen=True, slots=True)
class Draft:
    """What is known of a request so far. `known` is the domain's own; pages only hand it back."""

    known: Any
    wishes: tuple[Wish, ...]
    questions: tuple[str, ...]
    """What has to be answered before there is a request; the first is asked."""
    not_understood: tuple[str, ...] = ()
    request: Any = None
    """JSON, once nothing is missing."""
    remarks: tuple[str, ...] = ()
    """What there is to say of it: what was taken for granted, what is often forgotten."""
    asides: tuple[str, ...] = ()
    """What there is to say of this change of it alone."""
    field: str = ""
    """What the first question asks for, as requests name it."""
    by: str = ""
    """The model that put the sentence in plainer words."""
    failed: ModelError | None = None
    """Why the model could not be asked; the rules alone have read the sentence."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A stretch of time on a row of a timeline. `begins`, `ends`: local time of the place, as its clocks show it."""

    row: str
    label: str
    kind: str
    begins: datetime
    ends: datetime
    operation: str = ""
    """The operation that carries it out, where there is one."""


@dataclass(frozen=True, slots=True)
class Place:
    """`x`, `y`: degrees of longitude and latitude on a map, or any plane on a schematic."""

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
    connections: tuple[Connection, ...]
    is_map: bool
    """Places are on the globe; connections follow great circles."""
    lights: tuple[tuple[float, float], ...] = ()
    """Longitude and latitude of what else is known on the globe, to be seen in the background."""


@dataclass(frozen=True, slots=True)
class Disruption:
    """Something that can go wrong with a plan at the press of a button; `words` say it as a person would."""

    key: str
    words: str
    request: Any = None
    """What is wished once it has happened, as JSON; None: the same as before."""
    lost: tuple[str, ...] = ()
    """Operations that have fallen through."""


@dataclass(frozen=True, slots=True)
class Download:
    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Line:
    """One part of a plan, to be compared with the same part of another."""

    key: str
    what: str
    when: str
    price: str = ""


@dataclass(frozen=True, slots=True)
class Preference:
    """What a person asked for among the plans that there are: one of them, or a change of the request."""

    plan_hash: str | None = None
    draft: Draft | None = None
    said: str = ""


ALONE: Final = "There is no other plan to compare this one with. Change one of your wishes, and I shall plan again."
"""What is said to a preference where nothing is offered beside the plan that is shown."""


class Subject(Protocol):
    """One domain's pages. Everything is pure but `read`, which may ask the domain's clock."""

    @property
    def domain(self) -> Domain: ...

    @property
    def desk(self) -> FaultDesk | None:
        """Where faults can be ordered; None where the world outside is no sandbox."""
        ...

    name: str
    title: str
    opening: str
    """What the page asks at first."""
    examples: tuple[str, ...]
    outcome: str
    """What is done once a saga has committed."""
    under_way: str
    """What there is to say while a plan is carried out and nothing moves; empty where that does not happen."""

    async def read(self, text: str, known: Any | None) -> Draft:
        """What was said, on top of what is known. Raises `InvalidInputError` for what can not be read at all."""
        ...

    async def checked(self, request: Any) -> Any:
        """A request from JSON, as JSON. Raises `InvalidInputError`, naming the field."""
        ...

    def draft_of(self, request: Any) -> Draft:
        """Of a request that is complete."""
        ...

    def without(self, known: Any, key: str) -> Draft:
        """One wish less."""
        ...

    async def reworded(self, known: Any, key: str, text: str) -> Draft:
        """One wish replaced by what `text` says."""
        ...

    def happened(self, request: Any) -> tuple[Wish, ...]:
        """What has become known since, and holds beside the wishes; nobody can take it back."""
        ...

    def on_top(self, request: Any, saga: Saga) -> Any:
        """The request as a change of the saga's: what is no wish stays."""
        ...

    async def preferred(self, text: str, saga: Saga) -> Preference | None:
        """`make it cheaper`: what is meant among the plans that are offered; None where it means something else."""
        ...

    def sentence(self, request: Any) -> str:
        """The request as somebody would say it."""
        ...

    def bars(self, plan: Any) -> tuple[Bar, ...]: ...

    def route(self, plan: Any) -> Route: ...

    def lines(self, plan: Any) -> tuple[Line, ...]: ...

    def disruptions(self, saga: Saga) -> tuple[Disruption, ...]:
        """What can go wrong with it now."""
        ...

    def disruption_in(self, text: str, saga: Saga) -> Disruption | None:
        """The one that somebody tells of; None where it is about something else. Raises `InvalidInputError` if it is unclear."""
        ...

    async def happens(self, saga: Saga, disruption: Disruption) -> None:
        """Lets it happen in the world outside too, where that is a sandbox."""
        ...

    def downloads(self, saga: Saga) -> Sequence[Download]: ...


NOTHING_KNOWN = Draft(None, (), ())

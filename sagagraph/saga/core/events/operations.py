"""Operations, going forward: intents, and what became of them."""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.words import Fault, ProbeAnswer, Via
from sagagraph.workflow.values import Json


class AttemptStarted(Struct, frozen=True, omit_defaults=True):
    """The intent: durable before the call goes out (docs/protocol.md rule 1)."""

    operation: str
    generation: int
    attempt: int
    key: str
    deadline: float
    claim: bool = False
    """Called again under the same key only to be undone (docs/protocol.md rule 3b)."""


class OperationDoubted(Struct, frozen=True, omit_defaults=True):
    """The store was restored: a call of it, or of its compensation if it had succeeded, may have gone out that no journal shows
    (docs/protocol.md rule 11).
    """

    operation: str
    since: float
    """The earliest moment of such a call."""
    deadline: float
    """The latest that such a call can have had."""
    given_up: bool = False
    """It is not called any more, only sealed."""
    removed: bool = False
    """Its condition does not hold now, though it may have held: the plan does without it, and it is undone if it was done."""


class OperationSucceeded(Struct, frozen=True, omit_defaults=True):
    operation: str
    output: Json
    via: Via = Via.REPLY
    verdicts: tuple[Json, ...] = ()


class OperationRejected(Struct, frozen=True, omit_defaults=True):
    """It landed, and a validator found its output INVALID: the output does not count, and the operation is undone."""

    operation: str
    output: Json
    fault: Fault
    via: Via
    verdicts: tuple[Json, ...]


class AttemptRefused(Struct, frozen=True, omit_defaults=True):
    """A definite refusal that may be tried again: under the next generation's key, from `retry_at`."""

    operation: str
    fault: Fault
    retry_at: float


class OperationFailed(Struct, frozen=True, omit_defaults=True):
    """Definitely without effect, and not tried again."""

    operation: str
    fault: Fault
    via: Via = Via.REPLY
    verdicts: tuple[Json, ...] = ()


class AttemptLost(Struct, frozen=True, omit_defaults=True):
    """The call ended without a definite answer: the operation is in doubt."""

    operation: str
    fault: Fault
    retry_at: float
    verdicts: tuple[Json, ...] = ()
    sender: str = ""
    """Whose function did not stop when its time was over, and may still send something; empty if the call has ended."""


class CallsEnded(Struct, frozen=True, omit_defaults=True):
    """Nothing that these senders had under way for it goes on: their processes have ended, or their calls."""

    operation: str
    senders: tuple[str, ...]


class OperationProbed(Struct, frozen=True, omit_defaults=True):
    """A probe that settled nothing on its own; the answer LANDED is journalled as `OperationSucceeded`."""

    operation: str
    answer: ProbeAnswer
    detail: str
    retry_at: float
    asked_at: float
    """The moment before the question was sent."""
    verdicts: tuple[Json, ...] = ()


class OperationGivenUp(Struct, frozen=True, omit_defaults=True):
    """No further attempt will be made; since it is in doubt it must be sealed (docs/protocol.md rule 3b)."""

    operation: str
    reason: str
    fault: Fault | None = None


class OperationHeld(Struct, frozen=True, omit_defaults=True):
    operation: str
    reason: str


class OperationSkipped(Struct, frozen=True, omit_defaults=True):
    operation: str
    reason: str


OperationEvent = (
    AttemptStarted
    | OperationDoubted
    | OperationSucceeded
    | OperationRejected
    | AttemptRefused
    | OperationFailed
    | AttemptLost
    | CallsEnded
    | OperationProbed
    | OperationGivenUp
    | OperationHeld
    | OperationSkipped
)

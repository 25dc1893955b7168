"""Errors: every error of SagaGraph, on one screen.

A failed plan is a verdict and a failed operation is an outcome; neither is an exception here. What is raised says which saga,
which operation, and what to do next. `exit_code` is what the command line returns for it (docs/commands.md).
"""

from __future__ import annotations

from typing import ClassVar


class SagaGraphError(RuntimeError):  # servers that show clients no message of an unknown kind of error show this one's
    """Root of the family.

    `leaves_saga_open` tells the engine what an exception that leaves the body of a saga means: errors about *running* a saga
    (a conflict, a lost lease, a held operation) leave it open and resumable; all others compensate it.
    """

    exit_code: ClassVar[int] = 2
    leaves_saga_open: ClassVar[bool] = True

    def __init__(self, message: str, *, saga_id: str | None = None, operation_id: str | None = None) -> None:
        super().__init__(message)
        self.saga_id = saga_id
        self.operation_id = operation_id


def words_of(exc: BaseException) -> str:
    """Return its message as text that can be written down: what is not valid Unicode is replaced."""
    return str(exc).encode(errors="replace").decode()


# -- what the caller gave us -----------------------------------------------------------------------------------------


class InvalidInputError(SagaGraphError):
    """A request, file or setting is unusable; `field` names what to change."""

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.field = field


class MissingStoreError(SagaGraphError):
    """No store is at this address, and this command does not create one: a store that vanished is not a new one."""


class MissingExtraError(SagaGraphError):
    """An optional part is not installed; the message has the command that installs it."""

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(f"{module} is not installed; it comes with: pip install 'sagagraph[{extra}]'")
        self.module = module
        self.extra = extra


class UnknownSagaError(SagaGraphError):
    """No journal exists for this saga id."""


class UnknownOperationError(SagaGraphError):
    """The saga has no operation with this id."""


class UnknownActionError(SagaGraphError):
    """An operation names an action (and version) that this process has not registered."""


class ConflictError(SagaGraphError):
    """The same id with other content: a second effect is refused (docs/protocol.md rule 2)."""


class ProviderMismatchError(ConflictError):
    """The provider here is not the one that the saga works with (docs/protocol.md rule 2a): nothing went out.

    `known` and `found` are their identities.
    """

    def __init__(self, message: str, *, saga_id: str, known: str, found: str, operation_id: str | None = None) -> None:
        super().__init__(message, saga_id=saga_id, operation_id=operation_id)
        self.known = known
        self.found = found


class RetiredError(ConflictError):
    """The saga's journal was archived or dropped; its id is not used again."""


class ForkDecisionRequired(ConflictError):  # noqa: N818 - it asks for something
    """A thread is about to continue from another point: for each of `effects` (operation ids), say "keep" or "compensate"."""

    def __init__(self, message: str, *, saga_id: str, effects: tuple[str, ...]) -> None:
        super().__init__(message, saga_id=saga_id)
        self.effects = effects


class NotAllowedError(SagaGraphError):
    """The saga is in a state in which this cannot be done; the message says what can."""


class WorkflowError(SagaGraphError):
    """A workflow is not well-formed: a cycle, an unknown prerequisite, a misplaced pivot."""


class ContextBudgetError(SagaGraphError):
    """What is marked critical does not fit into the token budget of a context slice."""


class ContextMismatchError(SagaGraphError):
    """A restored context differs from the one that was given out."""


# -- what happened to an operation -----------------------------------------------------------------------------------


class Refused(SagaGraphError):  # noqa: N818 - the name is part of the public contract; it reads as the answer that it is
    """Raised by an action: the provider said no, and nothing happened (docs/protocol.md rule 3a).

    `transient=True` says that the same request may be accepted later (a rate limit): the policy may retry it, under the key of
    the next generation, but not before `retry_after_s` seconds have passed.
    """

    leaves_saga_open = False

    def __init__(
        self, message: str, *, code: str = "refused", transient: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.transient = transient
        self.retry_after_s = retry_after_s


class OperationFailedError(SagaGraphError):
    """An operation was refused or used up its policy's attempts, and has no effect; the saga compensates unless the body handles
    it.
    """

    exit_code = 1
    leaves_saga_open = False


class OperationHeldError(SagaGraphError):
    """An operation is in doubt, and only a person (`resolve`) or a later probe (`resume`) can settle it."""

    exit_code = 1


class SagaClosedError(SagaGraphError):
    """The saga is compensating or has ended; it starts no further operation."""

    exit_code = 1


# -- what happened to the machinery ----------------------------------------------------------------------------------


class SupersededError(SagaGraphError):
    """Another worker has taken over the saga; this one appends nothing more (docs/protocol.md rule 6)."""

    exit_code = 3


class BusyError(SagaGraphError):
    """Another worker holds the lease of the saga."""

    exit_code = 3


class LockedError(SagaGraphError):
    """Other sagas have locked what this one needs, and it has waited long enough (docs/protocol.md rule 12): nothing was taken.

    `holders`: the ids of those sagas; `blockers`: their locks (`sagagraph.saga.core.locks.Holding`).
    """

    exit_code = 3

    def __init__(self, message: str, *, saga_id: str, holders: tuple[str, ...], blockers: tuple[object, ...] = ()) -> None:
        super().__init__(message, saga_id=saga_id)
        self.holders = holders
        self.blockers = blockers


class DrainedError(SagaGraphError):
    """This worker was told to stop: its running work has ended and is journalled; any worker can resume the saga."""

    exit_code = 143


class ParkedError(SagaGraphError):
    """Nothing of the saga is due before `until` (seconds since the epoch): its driver lets go of it until then."""

    exit_code = 3

    def __init__(self, message: str, *, saga_id: str, until: float) -> None:
        super().__init__(message, saga_id=saga_id)
        self.until = until


class StoreError(SagaGraphError):
    """The journal cannot be read or written."""

    exit_code = 3


class LostStoreError(StoreError):
    """The store's file was removed, replaced or damaged while it was in use; nothing more is sent on the strength of it."""


class JournalError(StoreError):
    """The journal's content is damaged: a missing, foreign or unreadable event."""


class ProviderError(SagaGraphError):
    """An outside part failed or cannot be reached. It asks for no other call before `retry_after_s` seconds have passed."""

    exit_code = 3

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class FleetError(SagaGraphError):
    """The server of a fleet does not answer. The journals are not affected: workers without it can go on."""

    exit_code = 3


class PlannerError(SagaGraphError):
    """A planner's process ended without an answer; the journal has the saga's state, and it can be resumed."""

    exit_code = 3


class ModelError(SagaGraphError):
    """A language model cannot be asked: no key, a refused key, a rate limit, no answer in time. The message names the model's
    provider.

    It repeats nothing that the provider said, which may contain a key.
    """

    exit_code = 3


class UnusableAnswerError(ModelError):
    """A language model was asked, but refused, stopped half-way or gave an unreadable answer.

    `usage`: what that cost, if known.
    """

    def __init__(self, message: str, *, usage: object = None) -> None:
        super().__init__(message)
        self.usage = usage

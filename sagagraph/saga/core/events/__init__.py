"""Events: what can have happened to a saga, in the past tense: the journal's vocabulary.

Events are facts. They carry plain JSON values and workflow types only, so that any journal can be folded by any later release
(docs/protocol.md rules 8 and 10). Instants are seconds since the epoch, UTC.
"""

from __future__ import annotations

from msgspec import Struct

from sagagraph.saga.core.events.amendments import AmendmentBegun as AmendmentBegun
from sagagraph.saga.core.events.amendments import AmendmentEnded as AmendmentEnded
from sagagraph.saga.core.events.amendments import AmendmentEvent
from sagagraph.saga.core.events.amendments import BroughtIn as BroughtIn
from sagagraph.saga.core.events.amendments import SagaAmended as SagaAmended
from sagagraph.saga.core.events.bodies import BodyCompleted as BodyCompleted
from sagagraph.saga.core.events.bodies import BodyEvent
from sagagraph.saga.core.events.bodies import BodyFailed as BodyFailed
from sagagraph.saga.core.events.bodies import OperationPlanned as OperationPlanned
from sagagraph.saga.core.events.bodies import PrerequisitesAdded as PrerequisitesAdded
from sagagraph.saga.core.events.compensations import CompensationEvent
from sagagraph.saga.core.events.compensations import CompensationFailed as CompensationFailed
from sagagraph.saga.core.events.compensations import CompensationLost as CompensationLost
from sagagraph.saga.core.events.compensations import CompensationRefused as CompensationRefused
from sagagraph.saga.core.events.compensations import CompensationStarted as CompensationStarted
from sagagraph.saga.core.events.compensations import OperationCompensated as OperationCompensated
from sagagraph.saga.core.events.compensations import OperationVoided as OperationVoided
from sagagraph.saga.core.events.compensations import VoidStarted as VoidStarted
from sagagraph.saga.core.events.locks import LockEvent
from sagagraph.saga.core.events.locks import LocksAwaited as LocksAwaited
from sagagraph.saga.core.events.locks import LocksRetaken as LocksRetaken
from sagagraph.saga.core.events.locks import LocksYielded as LocksYielded
from sagagraph.saga.core.events.locks import ReadingsConfirmed as ReadingsConfirmed
from sagagraph.saga.core.events.operations import AttemptLost as AttemptLost
from sagagraph.saga.core.events.operations import AttemptRefused as AttemptRefused
from sagagraph.saga.core.events.operations import AttemptStarted as AttemptStarted
from sagagraph.saga.core.events.operations import CallsEnded as CallsEnded
from sagagraph.saga.core.events.operations import OperationDoubted as OperationDoubted
from sagagraph.saga.core.events.operations import OperationEvent
from sagagraph.saga.core.events.operations import OperationFailed as OperationFailed
from sagagraph.saga.core.events.operations import OperationGivenUp as OperationGivenUp
from sagagraph.saga.core.events.operations import OperationHeld as OperationHeld
from sagagraph.saga.core.events.operations import OperationProbed as OperationProbed
from sagagraph.saga.core.events.operations import OperationRejected as OperationRejected
from sagagraph.saga.core.events.operations import OperationSkipped as OperationSkipped
from sagagraph.saga.core.events.operations import OperationSucceeded as OperationSucceeded
from sagagraph.saga.core.events.people import CancelRefused as CancelRefused
from sagagraph.saga.core.events.people import CancelRequested as CancelRequested
from sagagraph.saga.core.events.people import OperationResolved as OperationResolved
from sagagraph.saga.core.events.people import PersonEvent
from sagagraph.saga.core.events.people import RequestRefused as RequestRefused
from sagagraph.saga.core.events.plans import ApprovalAsked as ApprovalAsked
from sagagraph.saga.core.events.plans import ModelAsked as ModelAsked
from sagagraph.saga.core.events.plans import PlanAccepted as PlanAccepted
from sagagraph.saga.core.events.plans import PlanApproved as PlanApproved
from sagagraph.saga.core.events.plans import PlanDisrupted as PlanDisrupted
from sagagraph.saga.core.events.plans import PlanEvent
from sagagraph.saga.core.events.plans import PlanFoundInfeasible as PlanFoundInfeasible
from sagagraph.saga.core.events.plans import PlanJudged as PlanJudged
from sagagraph.saga.core.events.plans import PlanProposed as PlanProposed
from sagagraph.saga.core.events.plans import PlanRejected as PlanRejected
from sagagraph.saga.core.events.plans import RepairGivenUp as RepairGivenUp
from sagagraph.saga.core.events.plans import RequestChanged as RequestChanged
from sagagraph.saga.core.events.reversals import ReversalBegun as ReversalBegun
from sagagraph.saga.core.events.reversals import ReversalEvent
from sagagraph.saga.core.events.reversals import ReversalHeld as ReversalHeld
from sagagraph.saga.core.events.reversals import SagaReversed as SagaReversed
from sagagraph.saga.core.events.sagas import ExceptionsTrusted as ExceptionsTrusted
from sagagraph.saga.core.events.sagas import FieldsRedacted as FieldsRedacted
from sagagraph.saga.core.events.sagas import LeaseTaken as LeaseTaken
from sagagraph.saga.core.events.sagas import ProviderNamed as ProviderNamed
from sagagraph.saga.core.events.sagas import SagaBegun as SagaBegun
from sagagraph.saga.core.events.sagas import SagaCommitted as SagaCommitted
from sagagraph.saga.core.events.sagas import SagaCompensated as SagaCompensated
from sagagraph.saga.core.events.sagas import SagaEvent
from sagagraph.saga.core.events.sagas import SagaTurnedBack as SagaTurnedBack
from sagagraph.saga.core.events.sagas import SameProviderStated as SameProviderStated
from sagagraph.saga.core.events.words import Blocker as Blocker
from sagagraph.saga.core.events.words import Driver as Driver
from sagagraph.saga.core.events.words import Fault as Fault
from sagagraph.saga.core.events.words import ProbeAnswer as ProbeAnswer
from sagagraph.saga.core.events.words import Resolution as Resolution
from sagagraph.saga.core.events.words import Via as Via

Event = (
    SagaEvent
    | PlanEvent
    | BodyEvent
    | LockEvent
    | OperationEvent
    | CompensationEvent
    | PersonEvent
    | ReversalEvent
    | AmendmentEvent
)

Events = tuple[Event, ...]


class Entry(Struct, frozen=True, omit_defaults=True):
    """One line of a journal: `version` counts from 1 without gaps, `epoch` is the writer's."""

    version: int
    epoch: int
    at: float
    event: Event

"""All that one page shows of one visitor's conversation, at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sagagraph.saga.events import Entry, PlanAccepted, PlanProposed
from sagagraph.saga.model import Saga
from sagagraph.ui.conversation import Conversation, Conversations, about
from sagagraph.ui.service import Service
from sagagraph.ui.subject import Subject
from sagagraph.ui.visitors import Visitor


@dataclass(frozen=True, slots=True)
class Scene:
    conversation: Conversation
    subject: Subject
    saga: Saga | None = None
    plan_before: Any = None
    """The plan whose place the one that is shown takes, or has taken."""
    is_busy: bool = False
    problem: str = ""


async def scene_of(service: Service, conversations: Conversations, visitor: Visitor) -> Scene:
    """Who comes back after a restart finds the last saga again: the journal has it."""
    if not conversations.knows(visitor) and (own := await service.sagas(visitor)):
        conversations.keep(visitor, about(own[0], service.subjects[own[0].domain]))
    conversation = conversations.of(visitor)
    subject = service.subjects[conversation.subject]
    saga_id = conversation.saga_id
    if saga_id is None:
        return Scene(conversation, subject)
    is_busy = service.is_busy(saga_id)  # before the saga is read: what ends in between is seen in it
    saga = await service.saga(visitor, saga_id)
    before = plan_before(await service.journal(visitor, saga_id)) if saga.plan.version else None
    return Scene(conversation, subject, saga, before, is_busy, service.problem(saga_id))


def plan_before(entries: tuple[Entry, ...]) -> Any:
    """Of the plans that were accepted, and the one that waits for that, the last but one; None where there is one only."""
    proposed: Any = None
    accepted: list[Any] = []
    for entry in entries:
        if isinstance(entry.event, PlanProposed):
            proposed = entry.event.plan
        elif isinstance(entry.event, PlanAccepted):
            accepted.append(proposed)
            proposed = None
    plans = [*accepted, *([proposed] if proposed is not None else [])]
    return plans[-2] if len(plans) > 1 else None

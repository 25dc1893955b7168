"""The page model: everything that one page shows of one visitor's conversation at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sagagraph.planning.page import Page
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.events import Driver, Entry
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Conversation, Conversations, about
from sagagraph.ui.service import Service
from sagagraph.ui.visitors import Visitor


@dataclass(frozen=True, slots=True)
class PageModel:
    conversation: Conversation
    page: Page
    saga: Saga | None = None
    shown: Saga | None = None
    """The saga whose plan is shown: the one that changes `saga` after its commit, while there is one."""
    plan_before: Any = None
    """The plan, as its domain writes it, that the shown plan replaces or has replaced."""
    is_busy: bool = False
    problem: str = ""

    @property
    def is_open(self) -> bool:
        return self.saga is not None and self.saga.stage not in FINAL

    @property
    def waits(self) -> bool:
        """Whether a plan waits for a decision."""
        return self.shown is not None and status_of(self.shown) is SagaStatus.AWAITING_APPROVAL and not self.is_busy

    @property
    def is_asking(self) -> bool:
        """Whether the plan that waits covers all that was said; otherwise it can only be booked without the rest."""
        return self.waits and not self.conversation.is_open


async def page_model(service: Service, conversations: Conversations, visitor: Visitor) -> PageModel:
    """Builds the model. A visitor who returns after a restart finds the last saga again: it is in the journal."""
    if not conversations.knows(visitor):
        own = [each for each in await service.sagas(visitor) if stands_alone(each) and each.domain in service.pages]
        if own:
            conversations.keep(visitor, about(own[0], service.pages[own[0].domain]))
    conversation = conversations.of(visitor)
    page = service.pages[conversation.domain]
    saga_id = conversation.saga_id
    if saga_id is None:
        return PageModel(conversation, page)
    is_busy = service.is_busy(saga_id)  # read before the saga, so that whatever ends in between shows in it
    saga = await service.saga(visitor, saga_id)
    shown = await service.shown(saga)
    before = saga.plan.content
    if shown is saga:
        before = plan_before(saga_id, await service.journal(visitor, saga_id)) if saga.plan.version else None
    return PageModel(conversation, page, saga, shown, before, is_busy, service.problem(saga_id))


def stands_alone(saga: Saga) -> bool:
    """Whether the saga neither undoes nor changes another one."""
    return saga.driver is Driver.WORKFLOW and parent_of(saga.id) is None


def plan_before(saga_id: str, entries: tuple[Entry, ...]) -> Any:
    """The last but one of the accepted plans and the one that awaits approval; None where there is only one."""
    saga = begin(saga_id, entries[0])
    plans: list[Any] = []
    for entry in entries[1:]:
        saga = evolve(saga, entry)
        if saga.plan.accepted is not None and saga.plan.accepted.content not in plans[-1:]:
            plans.append(saga.plan.accepted.content)
    if saga.plan.content not in plans[-1:]:
        plans.append(saga.plan.content)
    return plans[-2] if len(plans) > 1 else None

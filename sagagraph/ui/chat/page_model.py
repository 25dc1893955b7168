"""The page model: everything that one page shows of one visitor's conversation at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as replace_draft
from datetime import date

from msgspec.structs import replace

from sagagraph.planning.monitor import grave
from sagagraph.planning.page import Page
from sagagraph.planning.remedies import Remedy
from sagagraph.saga.core.amendments import parent_of
from sagagraph.saga.core.events import Driver, Entry, LeaseTaken
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.next_steps import status_of
from sagagraph.saga.core.state import FINAL, AcceptedPlan, PlanState, Saga
from sagagraph.saga.core.status import SagaStatus
from sagagraph.ui.chat.conversation import Before, Conversation, Conversations, Message, about
from sagagraph.ui.progress import Progress, progress_of
from sagagraph.ui.service import Service
from sagagraph.ui.versions import Version, versions_of
from sagagraph.ui.visitors import Visitor


@dataclass(frozen=True, slots=True)
class PageModel:
    conversation: Conversation
    page: Page
    saga: Saga | None = None
    shown: Saga | None = None
    """The saga whose plan is shown: the one that changes `saga` after its commit, while there is one."""
    before: Before | None = None
    """What the shown plan replaces or has replaced, and its cost."""
    interrupted: Progress | None = None
    """How far it had come when a server ended in the middle of a call, and another one took over."""
    today: date | None = None
    is_busy: bool = False
    problem: str = ""
    foreseen: tuple[str, ...] = ()
    """What is foreseen and would strain the plan, or break it."""
    is_sketch: bool = False
    """Whether the shown plan is the best so far, while a better one is sought."""
    shared: str = ""
    """The path at which others can look at the plan; empty if they cannot."""
    versions: tuple[Version, ...] = ()
    """Every plan that was shown; `Version.is_of(saga)` marks the one that is."""
    remedies: tuple[Remedy, ...] = ()
    """What can be asked for instead of what was refused last."""

    @property
    def stamp(self) -> str:
        """Return a stamp that differs whenever the page does."""
        versions = [each.version for each in (self.saga, self.shown) if each is not None]
        switches = f"{self.is_busy} {self.is_sketch} {bool(self.shared)}"
        return f"{self.conversation.domain} {versions} {len(self.conversation.messages)} {switches}"

    @property
    def is_open(self) -> bool:
        return self.saga is not None and self.saga.stage not in FINAL

    @property
    def waits(self) -> bool:
        """Tell whether a plan waits for a decision."""
        return self.shown is not None and status_of(self.shown) is SagaStatus.AWAITING_APPROVAL and not self.is_busy

    @property
    def is_asking(self) -> bool:
        """Tell whether the waiting plan covers everything that was said; otherwise it can only be booked without the rest."""
        return self.waits and not self.conversation.is_open


async def page_model(service: Service, conversations: Conversations, visitor: Visitor) -> PageModel:
    """Build the model. A visitor who returns after a restart finds the last saga again: it is in the journal."""
    if not conversations.knows(visitor) and (own := await own_plans(service, visitor)):
        await reopen(service, conversations, visitor, own[0])
    conversation = conversations.of(visitor)
    page = service.pages[conversation.domain]
    today, saga_id = await service.today(page.name), conversation.saga_id
    if saga_id is None:
        return PageModel(conversation, page, today=today, remedies=conversation.remedies)
    is_busy = service.is_busy(saga_id)  # read before the saga, so that whatever ends in between shows in it
    saga = await service.saga(visitor, saga_id)
    shown = await service.shown(saga)
    sketch = service.sketch(saga_id) if status_of(shown) is SagaStatus.PLANNING and shown.plan.hash is None else None
    if sketch is not None:
        shown = replace(shown, plan=replace(shown.plan, content=sketch))
    entries = await service.journal(visitor, saga_id) if saga.plan.version or not is_busy else ()
    before, interrupted = looking_back(saga_id, entries)
    if shown.id != saga.id:
        before = Before(saga.plan.content, saga.plan.cost)
    if before is None and status_of(shown) is SagaStatus.AWAITING_APPROVAL:
        before = conversation.before
    is_in_vain = saga.amendment_note or (saga.plan.infeasible and status_of(saga) is SagaStatus.AWAITING_APPROVAL)
    if is_in_vain and not conversation.is_open:
        conversation = replace_draft(conversation, draft=page.draft_of(saga.request))  # what was refused holds no longer
    problem, is_sketch = service.problem(saga_id), sketch is not None
    foreseen = grave(await service.foreseen(saga_id), saga.plan.version)
    versions = () if is_busy else versions_of(saga_id, entries)
    at = "" if is_busy else await service.shared_at(visitor, saga_id)
    remedies = conversation.remedies or await service.remedies(saga)
    return PageModel(
        conversation,
        page,
        saga,
        shown,
        before,
        interrupted,
        today,
        is_busy,
        problem,
        foreseen,
        is_sketch,
        shared=at,
        versions=versions,
        remedies=remedies,
    )


async def own_plans(service: Service, visitor: Visitor) -> list[Saga]:
    """Return the visitor's own plans, the latest first."""
    return [each for each in await service.sagas(visitor) if stands_alone(each) and each.domain in service.pages]


async def reopen(service: Service, conversations: Conversations, visitor: Visitor, saga: Saga) -> None:
    """Open the conversation about a plan, where it was left if this server still knows it."""
    conversations.open(visitor, saga.domain)
    if conversations.of(visitor).saga_id != saga.id:
        told = await service.said(visitor, saga.id)
        said = tuple(Message("user" if each["role"] == "user" else "assistant", each["text"]) for each in told)
        conversations.keep(visitor, about(saga, service.pages[saga.domain], said))


def stands_alone(saga: Saga) -> bool:
    """Tell whether the saga neither undoes nor changes another one."""
    return saga.driver is Driver.WORKFLOW and parent_of(saga.id) is None


def looking_back(saga_id: str, entries: tuple[Entry, ...]) -> tuple[Before | None, Progress | None]:
    """Return what the last plan replaced, and how far it was when a server last ended in the middle of a call."""
    if not entries:
        return None, None
    saga, plans, interrupted = begin(saga_id, entries[0]), list[Before](), None
    for entry in entries[1:]:
        if isinstance(entry.event, LeaseTaken) and any(each.in_flight for each in saga.in_order()):
            interrupted = progress_of(saga)
        saga = evolve(saga, entry)
        _add(plans, saga.plan.accepted)
    _add(plans, saga.plan)
    return plans[-2] if len(plans) > 1 else None, interrupted


def _add(plans: list[Before], plan: AcceptedPlan | PlanState | None) -> None:
    if plan is not None and (not plans or plan.content != plans[-1].plan):
        plans.append(Before(plan.content, plan.cost))

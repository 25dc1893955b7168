"""Agents elsewhere, over A2A: a call is a message that bears the key of its operation, by which it is found again."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sagagraph.errors import ProviderError, Refused
from sagagraph.extras import needing
from sagagraph.saga.core.call import Call
from sagagraph.saga.engine.actions import Action, Guarantees, action
from sagagraph.saga.engine.call import Probe
from sagagraph.workflow.values import Json

if TYPE_CHECKING:
    from a2a.client import Client
    from a2a.types import Artifact, Message


Tells = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class RemoteAgent:
    """Agent whose card is at this address. `headers`: secrets, sent to that host only. `undo`: what it is told when its work is
    to be undone; without that it is taken to change nothing.
    """

    url: str
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    undo: str = ""
    guarantees: Guarantees | None = None
    name: str = "the remote agent"

    def action(self, name: str, tells: Tells | None = None) -> Action:
        """Return its work as an action. `tells`: hears that something happens, again and again."""

        async def ask(request: Any, call: Call) -> Any:
            return await self.tell(request, call, tells)

        async def take_back(_request: Any, _result: Any, call: Call) -> None:
            await self.tell(self.undo, call)

        about: Any = {"compensate": take_back, "probe": self.look, "provider": f"a2a:{name}"} if self.undo else {}
        return action(ask, name=f"agent.{name}", guarantees=self.guarantees or Guarantees(), **about)

    async def tell(self, said: Json, call: Call, tells: Tells | None = None) -> Json:
        """Send a message, and return what came of it. Raises `Refused` if it was not sent, or was turned down."""
        from a2a.types import GetTaskRequest, Message, Part, Role, SendMessageRequest, Task, TaskState

        parts = [Part(text=said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))]
        message = Message(message_id=call.idempotency_key, context_id=call.operation_key, role=Role.ROLE_USER, parts=parts)
        task = Task()
        async with self._client() as client:
            async for event in client.send_message(SendMessageRequest(message=message)):
                if event.HasField("message"):
                    return _given(event.message)
                task.id = event.task.id or event.status_update.task_id or task.id
                if tells is not None:
                    await tells("it is at work elsewhere")
            task = await client.get_task(GetTaskRequest(id=task.id))
        state = TaskState.Name(task.status.state).removeprefix("TASK_STATE_").lower()
        why = f"{self.name} {state}: {_given(task.status.message) or ''}"
        if state in ("rejected", "auth_required"):
            raise Refused(why, code="configuration")
        if state != "completed":
            raise ProviderError(why)
        return _given(*task.artifacts)

    async def look(self, _request: Any, call: Call) -> Probe:
        """Look for the task that the message with this key began."""
        from a2a.types import ListTasksRequest, TaskState

        async with self._client() as client:
            asked = ListTasksRequest(context_id=call.operation_key, include_artifacts=True, history_length=1000)
            found = (await client.list_tasks(asked)).tasks
        mine = [task for task in found if any(each.message_id == call.idempotency_key for each in task.history)]
        if any(each.status.state != TaskState.TASK_STATE_COMPLETED for each in mine):
            return Probe.unknown(f"{self.name} has begun it, and not completed it")
        outputs = [_given(*each.artifacts) for each in mine]
        if len(outputs) == 1:
            return Probe.landed(outputs[0])
        return Probe.multiple(outputs) if outputs else Probe.absent()

    @asynccontextmanager
    async def _client(self) -> AsyncIterator[Client]:
        with needing("a2a"):
            import httpx
            from a2a.client import A2ACardResolver, A2AClientError, AgentCardResolutionError, ClientConfig, ClientFactory
        async with httpx.AsyncClient(headers=dict(self.headers), timeout=86_400.0) as http:
            try:
                card = await A2ACardResolver(http, self.url).get_agent_card()
            except AgentCardResolutionError as exc:
                code = "auth" if exc.status_code in (401, 403) else "unreachable"
                raise Refused(f"{self.name} does not show its card: {exc.status_code or 'no answer'}", code=code) from exc
            if any(urlsplit(each.url)[:2] != urlsplit(self.url)[:2] for each in card.supported_interfaces):
                raise Refused(f"{self.name} lies elsewhere by its card, where secrets do not belong", code="configuration")
            try:
                yield ClientFactory(ClientConfig(httpx_client=http)).create(card)
            except A2AClientError as exc:
                raise ProviderError(f"{self.name} did not answer: {type(exc).__name__}") from exc


def _given(*said: Message | Artifact) -> Json:
    """Return the data of what was said, or else its text."""
    from a2a.helpers import get_data_parts, get_text_parts

    parts = [part for each in said for part in each.parts]
    data: list[Json] = get_data_parts(parts)
    return data[0] if data else "\n".join(get_text_parts(parts))

"""An agent elsewhere: a real A2A server on loopback, with a ledger of what it was asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from starlette.middleware.base import BaseHTTPMiddleware
from starlette.responses import PlainTextResponse

from sagagraph.sockets import listen, url_of


@dataclass
class Elsewhere(AgentExecutor):
    """`token`: without it nobody is heard. `does`: how each next task ends, instead of being done. `lies`: its card names another
    host. `loses`: so many answers are lost after their work was done.
    """

    token: str = "s3cret"
    does: list[str] = field(default_factory=list)
    lies: bool = False
    loses: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Key of the message, text."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        self.asked.append((context.message.message_id, context.get_user_input()))
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        does = self.does.pop(0) if self.does else ""
        if does:
            await getattr(updater, does)()
            return
        await updater.add_artifact([new_text_part(f"done: {context.get_user_input()[-20:]}")])
        await updater.complete()

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError

    async def guarded(self, request: Any, call_next: Any) -> Any:
        if request.headers.get("authorization") != f"Bearer {self.token}":
            return PlainTextResponse("who are you?", 401)
        is_told = request.method == "POST" and "SendStreamingMessage" in (await request.body()).decode()
        answer = await call_next(request)
        if is_told and self.loses:
            async for _each in answer.body_iterator:
                pass
            self.loses -= 1
            return PlainTextResponse("lost", 502)
        return answer


@contextmanager
def serving(agent: Elsewhere) -> Iterator[str]:
    listener = listen("127.0.0.1", 0)
    url = url_of(listener)
    card = AgentCard(
        name="elsewhere",
        description="does what it is told",
        version="1",
        supported_interfaces=[
            AgentInterface(
                url="http://127.0.0.1:9/" if agent.lies else f"{url}/", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(streaming=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="any", name="any", description="any", tags=["any"])],
    )
    handler = DefaultRequestHandler(agent, InMemoryTaskStore(), card)
    app = Starlette(routes=[*create_agent_card_routes(card), *create_jsonrpc_routes(handler, "/")])
    app.add_middleware(BaseHTTPMiddleware, dispatch=agent.guarded)
    server = uvicorn.Server(uvicorn.Config(app, log_level="error"))
    running = threading.Thread(target=server.run, args=([listener],), daemon=True)
    running.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield url
    finally:
        server.should_exit = True
        running.join(10)

"""Interrupts: questions of nodes to people and their answers, journalled alongside the node and replayed."""

from __future__ import annotations

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphInterrupt

from sagagraph.graph.nested.frontier import RECORD
from sagagraph.graph.running.run import GraphRun
from sagagraph.graph.state.values import decode, encode
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.workflow.values import Json

_SCRATCHPAD = "__pregel_scratchpad"
"""Where LangGraph keeps the answers of the task that runs, in `configurable`."""


async def hand_out_answers(run: GraphRun, node: str, config: RunnableConfig) -> None:
    """Journal what LangGraph brings for the interrupt at which `node` waits; restore what LangGraph has lost."""
    scratchpad = config["configurable"][_SCRATCHPAD]
    answers = answers_of(run.saga, node)
    known = run.saga.operations.get(node)
    if len(scratchpad.resume) < len(answers):
        scratchpad.resume.extend(decode(each) for each in answers[len(scratchpad.resume) :])
    elif run.recorded(_interrupt(node, len(answers))) is not None and (known is None or not known.succeeded):
        given = _given(scratchpad, len(answers))
        if given is not None:
            await record_answer(run, node, given)


async def record_answer(run: GraphRun, node: str, answer: Json) -> None:
    """Record the answer to the interrupt at which `node` waits."""
    number = len(answers_of(run.saga, node))
    await run.record(_answer(node, number, _refusals(run.saga, node, number)), answer, what="answer")


async def record_interrupt(run: GraphRun, node: str, config: RunnableConfig, raised: GraphInterrupt) -> None:
    """Record the interrupt, unless a node of a graph that `node` runs raised it."""
    interrupts = [each for each in raised.args[0] if each.id not in run.asked_interrupts] if raised.args else []
    run.asked_interrupts.update(each.id for each in interrupts)
    for each in interrupts:
        await run.record(_interrupt(node, len(config["configurable"][_SCRATCHPAD].resume)), each.value, what="interrupt")


async def refuse_last_answer(run: GraphRun, node: str) -> None:
    """Refuse the last answer, which does not match the interrupt's schema: another one may be given."""
    number = len(answers_of(run.saga, node)) - 1
    if number >= 0:
        await run.record(f"{_answer(node, number, _refusals(run.saga, node, number))}-refused", None, what="refusal")


def answers_of(saga: Saga, node: str) -> list[Json]:
    """Return the answers given to `node` so far, in order, as JSON."""
    found: list[Json] = []
    while (answer := saga.operations.get(_answer(node, len(found), _refusals(saga, node, len(found))))) is not None:
        if not answer.succeeded:
            break
        found.append(answer.output)
    return found


def last_answer(saga: Saga) -> Json:
    """Return the newest answer of all, as JSON in a tuple of one; None if there is none."""
    answers = [each for each in saga.in_order() if each.succeeded and each.spec.action == RECORD + "answer"]
    return (answers[-1].output,) if answers else None


def waiting_nodes(saga: Saga) -> list[str]:
    """Return the operations that wait for an answer."""
    asked = (each.id.rpartition("/interrupt-")[0] for each in saga.in_order() if each.spec.action == RECORD + "interrupt")
    return [node for node in dict.fromkeys(asked) if _waits(saga, saga.operations.get(node))]


def _waits(saga: Saga, node: Operation | None) -> bool:
    if node is None or node.succeeded or node.removed:
        return False
    return _interrupt(node.id, len(answers_of(saga, node.id))) in saga.operations


def is_answered_by(saga: Saga, answer: Json) -> bool:
    """Tell whether `answer` is the one that was journalled last: a client asks again after a crash."""
    return bool(last_answer(saga) == (encode(answer),))


def _given(scratchpad: Json, number: int) -> Json:
    return scratchpad.resume[number] if len(scratchpad.resume) > number else scratchpad.get_null_resume(False)


def _refusals(saga: Saga, node: str, number: int) -> int:
    count = 0
    while f"{_answer(node, number, count)}-refused" in saga.operations:
        count += 1
    return count


def _interrupt(node: str, number: int) -> str:
    return f"{node}/interrupt-{number}"


def _answer(node: str, number: int, refusals: int) -> str:
    return f"{node}/answer-{number}" + (f".{refusals}" if refusals else "")

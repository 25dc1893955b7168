"""A saga of the pure core that is told what happens, line by line."""

from __future__ import annotations

from sagagraph.saga.core import commands as c
from sagagraph.saga.core import events as e
from sagagraph.saga.core.decide.decide import decide, intent
from sagagraph.saga.core.evolve.evolve import begin, evolve
from sagagraph.saga.core.next_steps import next_steps
from sagagraph.saga.core.state import Operation, Saga
from sagagraph.saga.core.steps import CallAction, CallCompensation, CallVoid, Record, Step
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.operation import GuaranteeTerms, OperationSpec
from sagagraph.workflow.policy import Backoff, Policy, Retry

FAULT = e.Fault("timeout", "no answer")
NO = e.Fault("sold_out", "sold out")
AT_ONCE = Policy(retry=Retry(max_attempts=2), backoff=Backoff(base_s=0.0), timeout_s=10.0)


def spec(
    name: str,
    kind: ActionKind = ActionKind.COMPENSATABLE,
    *after: str,
    probe: bool = True,
    inputs: object = None,
    **terms: object,
) -> OperationSpec:
    guarantees = GuaranteeTerms(**terms)  # type: ignore[arg-type]
    return OperationSpec(name, f"book {name}", kind, inputs, after, policy=AT_ONCE, guarantees=guarantees, has_probe=probe)


class Story:
    def __init__(self, *specs: OperationSpec, driver: e.Driver = e.Driver.WORKFLOW) -> None:
        self.now = 100.0
        self.saga: Saga = begin("trip", e.Entry(1, 1, self.now, e.SagaBegun(driver, "test", None)))
        if specs:
            self.append(e.PlanAccepted(1, specs))

    def __getitem__(self, name: str) -> Operation:
        return self.saga.operations[name]

    def append(self, *events: e.Event, epoch: int | None = None) -> tuple[e.Event, ...]:
        for event in events:
            self.saga = evolve(self.saga, e.Entry(self.saga.version + 1, epoch or self.saga.epoch, self.now, event))
        return events

    def tell(self, command: c.Command) -> tuple[e.Event, ...]:
        return self.append(*decide(self.saga, command, self.now))

    def start(self, step: CallAction | CallVoid | CallCompensation) -> None:
        self.append(intent(self.saga, step, self.now))

    def call(self, name: str) -> None:
        self.start(CallAction(name))

    def succeed(self, *names: str) -> None:
        for name in names:
            self.call(name)
            self.tell(c.ActionReplied(name, {"booked": name}))

    def lose(self, name: str) -> None:
        self.call(name)
        self.tell(c.ActionLost(name, FAULT))

    def probe(self, name: str, answer: e.ProbeAnswer) -> tuple[e.Event, ...]:
        return self.tell(c.ProbeAnswered(name, answer))

    def take_over(self) -> None:
        self.append(e.LeaseTaken("another"), epoch=self.saga.epoch + 1)

    def settle(self) -> None:
        """Appends all that has no effect outside."""
        while records := [step.event for step in self.due() if isinstance(step, Record)]:
            self.append(*records)

    def due(self) -> tuple[Step, ...]:
        return next_steps(self.saga, self.now)

"""Deciding: facts that follow from a mission, gathered one by one, each on what the earlier ones have changed. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from sagagraph.coordination.core.facts import Fact, Kind
from sagagraph.coordination.core.likeness import by_words
from sagagraph.coordination.core.matching import LEAST_SCORE, TIERS, Match, Profile, Similarity, Tier, ranked
from sagagraph.coordination.core.mission import Mission, Task, evolved
from sagagraph.coordination.core.plan import TaskType
from sagagraph.coordination.core.states import RunState, TaskState
from sagagraph.workflow.values import Json

ACTIVE = (TaskState.ASSIGNED, TaskState.RUNNING, TaskState.CONTINUING)


@dataclass(frozen=True, slots=True)
class Bench:
    """Bench: who could do something, and what else there is to turn to. `contractors`: how many more may work now."""

    profiles: tuple[Profile, ...]
    contractors: int = 0
    can_replan: bool = False
    similarity: Similarity = by_words


@dataclass(slots=True)
class Deciding:
    mission: Mission
    now: float
    bench: Bench
    facts: list[Fact] = field(default_factory=list)

    def say(self, kind: Kind, task: Task | None = None, **data: Json) -> None:
        self.take(Fact(kind, self.now, task.spec.order if task else None, data))

    def take(self, fact: Fact) -> None:
        self.mission = evolved(self.mission, (fact,))
        self.facts.append(fact)

    def again(self, task: Task) -> Task:
        """Return the task as it is now."""
        return self.mission.tasks[task.spec.order]

    # -- who -----------------------------------------------------------------------------------------------------------

    def matches(self, task: Task, without: Iterable[str] = ()) -> tuple[Match, ...]:
        left_out = {*without, *([task.avoid] if task.avoid else [])}
        there = [each for each in self._profiles() if each.id not in left_out]
        return ranked(task.spec, there, self.bench.similarity, families=self._families_reviewed(task))

    def _profiles(self) -> list[Profile]:
        """Return the profiles, with what they do in this mission, and how well they did."""
        return [
            replace(each, busy=each.busy + self.busy(each.id), history={**self._history(each.id), **each.history})
            for each in self.bench.profiles
        ]

    def busy(self, agent: str) -> int:
        return sum(1 for each in self.mission.of(*ACTIVE) if each.agent == agent)

    def _history(self, agent: str) -> dict[str, float]:
        scores: dict[str, list[float]] = {}
        for each in self.mission.tasks.values():
            if each.agent == agent and each.score is not None:
                scores.setdefault(each.spec.type.value, []).append(each.score)
        return {name: sum(found) / len(found) for name, found in scores.items()}

    def _families_reviewed(self, task: Task) -> set[str]:
        """Return the families of the models whose work a review judges."""
        if task.spec.type is not TaskType.REVIEW or self.mission.plan is None:
            return set()
        families = {each.id: each.family for each in self.bench.profiles}
        before = [self.mission.tasks[each.prerequisite] for each in self.mission.plan.needs(task.spec.order)]
        return {families.get(each.agent, "") for each in before} - {""}

    def profile(self, agent: str) -> Profile | None:
        return next((each for each in self.bench.profiles if each.id == agent), None)

    # -- climbing (PRD-102, section 9) ---------------------------------------------------------------------------------

    def climb(self, task: Task, why: str, *, quality: bool = False) -> None:
        """Take the next step of the ladder that applies to a task whose attempts are used up."""
        others = [each for each in self.matches(task, task.tried) if each.score >= LEAST_SCORE]
        higher = self._higher_tier(task) if quality else None
        left = {1, 2, 3, 4} - set(task.ladder)
        if 1 in left and others:
            self.say(Kind.TASK_ESCALATED, task, level=1, **{"from": task.agent, "to": others[0].agent})
            self._retry(task, why, avoid=task.agent)
        elif 2 in left and higher is not None:
            self.say(Kind.TASK_ESCALATED, task, level=2, to=higher.value)
            self._retry(task, why, tier_up=True, avoid="")
        elif 3 in left and self.bench.can_replan and not task.spec.optional:
            self.replan(task, "task_failed", f"task_failed:{task.turn_id}", why)
        elif 4 in left and self.mission.config.may_ask:
            self.say(Kind.TASK_ESCALATED, task, level=4)
            self.say(Kind.HUMAN_REVIEW_REQUESTED, task, error=why)
        else:
            self.give_up(task, why)

    def _higher_tier(self, task: Task) -> Tier | None:
        profile = self.profile(task.agent)
        if task.tier_up or profile is None or profile.tier is TIERS[-1] or not profile.family:
            return None
        return TIERS[TIERS.index(profile.tier) + 1]

    def replan(self, task: Task, trigger: str, key: str, why: str) -> None:
        """Have the plan looked at again, and a task wait for that."""
        self.say(Kind.TASK_ESCALATED, task, level=3, trigger=key)
        self.say(Kind.REPLAN_TRIGGERED, task, key=key, trigger=trigger, why=why)

    def give_up(self, task: Task, why: str) -> None:
        """Let a task fail, and the mission with it unless it can do without."""
        if not task.spec.optional:
            self.say(Kind.TASK_ESCALATED, task, level=5)
        self.say(Kind.TASK_FAILED, task, error=why)
        if not task.spec.optional:
            self.fail(f"task {task.spec.order} ({task.spec.title}) failed: {why}")

    def fail(self, why: str) -> None:
        self.cancel_rest()
        self.say(Kind.RUN_FAILED, error=why)

    def cancel_rest(self) -> None:
        for each in list(self.mission.tasks.values()):
            if not each.state.is_terminal:
                self.say(Kind.TASK_CANCELLED, each)

    # -- trying again (section 5) --------------------------------------------------------------------------------------

    def _retry(self, task: Task, why: str, **data: Json) -> None:
        self.say(Kind.TASK_RETRYING, task, error=why, not_before=self.now, **data)

    def retry_or_climb(self, task: Task, why: str, *, quality: bool = False, feedback: dict[str, Json] | None = None) -> None:
        told: dict[str, Json] = {"feedback": feedback} if feedback else {}
        if task.used + 1 < task.spec.max_attempts:
            wait = self.mission.config.backoff_after(task.attempt)
            self.say(Kind.TASK_RETRYING, task, error=why, not_before=self.now + wait, **told)
        else:
            self.climb(task, why, quality=quality)

    # -- money (section 11) --------------------------------------------------------------------------------------------

    def over_budget(self, why: str) -> None:
        """Go on with cheaper models if that is allowed, and otherwise ask a person, or fail."""
        if self.mission.state is not RunState.RUNNING:
            return
        config = self.mission.config
        if config.may_downgrade and not self.mission.downgraded and self.mission.spent < config.max_cost_usd:
            self.say(Kind.BUDGET_DOWNGRADED)
        elif config.may_ask:
            self.say(Kind.BUDGET_EXCEEDED, why=why)
        else:
            self.fail(f"budget: {why}")

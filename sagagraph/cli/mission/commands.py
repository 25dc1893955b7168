"""`sagagraph mission`: names, options and help; what a command does is imported when it is called."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, NoReturn

import typer

from sagagraph.cli import options as o
from sagagraph.cli.options import Options
from sagagraph.errors import InvalidInputError
from sagagraph.registry import MISSIONS

mission = o.verbs("Missions: a goal, a budget, and agents that a coordinator plans, pays, checks and replaces.")

MissionId = Annotated[str, typer.Argument(metavar="MISSION")]
TaskNumber = Annotated[int, typer.Argument(metavar="TASK", min=1)]
Reason = Annotated[str, typer.Option("--reason", help="Why; whoever does it again is told.")]
Budget = Annotated[float | None, typer.Option("--budget", metavar="DOLLARS", min=0.0, help="The most that it may cost.")]
Agents = Annotated[
    list[str] | None, typer.Option("--agents", metavar="MODULE:NAME", help="Your own agents, or a team; without it scripts work.")
]


class Autonomy(StrEnum):
    APPROVE = "approve"
    AUTONOMOUS = "autonomous"
    FULL_AUTO = "full_auto"


class Decision(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    REJECT_ALL = "reject_all"


@mission.command("begin")
def begin_command(
    options: o.Stored,
    goal: Annotated[str, typer.Argument(metavar="GOAL")],
    budget: Budget = None,
    autonomy: Annotated[Autonomy, typer.Option("--autonomy", help="How much a person is asked.")] = Autonomy.APPROVE,
    agents: Agents = None,
    mission_id: Annotated[
        str | None, typer.Option("--mission-id", metavar="ID", help="Begin that one, or go on with it.")
    ] = None,
) -> None:
    """Plan a goal and, after approval, reach it."""
    from sagagraph.cli.mission import missions

    config: dict[str, Any] = {"autonomy_mode": autonomy.value} | ({} if budget is None else {"max_cost_usd": str(budget)})
    o.end(missions.begin(options, goal, config, tuple(agents or ()), mission_id))


@mission.command("status")
def status_command(options: o.Stored, mission_id: Annotated[str | None, typer.Argument(metavar="[MISSION]")] = None) -> None:
    """Say how a mission stands, or list all."""
    from sagagraph.cli.mission import missions

    o.end(missions.status(options, mission_id))


@mission.command("approve")
def approve_command(
    options: o.Stored,
    mission_id: MissionId,
    plan: o.PlanHash = None,
    reassign: Annotated[
        list[str] | None, typer.Option("--reassign", metavar="TASK=AGENT", help="Have another agent do a task; may be repeated.")
    ] = None,
) -> None:
    """Approve the plan, and carry it out."""
    moved = [each.partition("=") for each in reassign or ()]
    if any(not order.isdecimal() or not agent for order, _, agent in moved):
        raise InvalidInputError("say TASK=AGENT, as in 2=writer", field="--reassign")
    told = {"plan": plan, "reassign": [{"task_id": int(order), "agent": agent} for order, _, agent in moved]}
    _say(options, mission_id, "approve", told)


@mission.command("resume")
def resume_command(options: o.Stored, mission_id: Annotated[str | None, typer.Argument(metavar="[MISSION]")] = None) -> None:
    """Resume a mission that is paused, or whose coordinator died; without one, all whose coordinators died."""
    from sagagraph.cli.mission import missions
    from sagagraph.cli.operating import settling

    o.end(settling.resume_all(options, only=MISSIONS) if mission_id is None else missions.resume(options, mission_id))


@mission.command("cancel")
def cancel_command(
    options: o.Stored,
    mission_id: MissionId,
    preview: Annotated[bool, typer.Option("--preview", help="Only say what would be undone, the fees and the residue.")] = False,
) -> None:
    """Cancel a mission; what its tasks have done is undone, dependents first."""
    if preview:
        from sagagraph.cli.mission import missions

        o.end(missions.preview(options, mission_id))
    _say(options, mission_id, "cancel", {})


@mission.command("review")
def review_command(
    options: o.Stored,
    mission_id: MissionId,
    decision: Annotated[Decision, typer.Argument()],
    tasks: Annotated[list[int] | None, typer.Option("--task", metavar="TASK", help="A task to reject; may be repeated.")] = None,
    reason: Reason = "",
) -> None:
    """Accept the result, or send tasks back; whatever was built upon those is done again."""
    told = {"decision": decision.value, "tasks": [{"task_id": each, "reason": reason} for each in tasks or ()]}
    _say(options, mission_id, "review", told)


@mission.command("budget")
def budget_command(
    options: o.Stored,
    mission_id: MissionId,
    cap: Annotated[float | None, typer.Option("--cap", metavar="DOLLARS", min=0.0, help="Raise the cap, or lower it.")] = None,
    downgrade: Annotated[bool, typer.Option("--downgrade", help="Go on with cheaper models.")] = False,
    complete: Annotated[bool, typer.Option("--complete-current", help="Finish what runs, and stop.")] = False,
) -> None:
    """Decide about the money."""
    told = {"max_cost_usd": None if cap is None else str(cap), "downgrade": downgrade, "complete_current": complete}
    _say(options, mission_id, "budget", told)


@mission.command("tell")
def tell_command(options: o.Stored, mission_id: MissionId, text: Annotated[str, typer.Argument(metavar="TEXT")]) -> None:
    """Give new instructions: the plan is looked at again."""
    _say(options, mission_id, "tell", {"text": text})


@mission.command("routine")
def routine_command(options: o.Stored, mission_id: MissionId) -> None:
    """Save a completed mission as a template for the next goal like it."""
    from sagagraph.cli.mission import missions

    o.end(missions.routine(options, mission_id))


def _say(options: Options, mission_id: str, verb: str, told: dict[str, Any]) -> NoReturn:
    from sagagraph.cli.mission import missions

    o.end(missions.say(options, mission_id, verb, told))


def _add(verb: str, about: str) -> None:
    @mission.command(verb, help=about)
    def of_mission(options: o.Stored, mission_id: MissionId, reason: Reason = "") -> None:
        _say(options, mission_id, verb, {"reason": reason})


def _add_of_task(verb: str, about: str) -> None:
    @mission.command(verb, help=about)
    def of_task(options: o.Stored, mission_id: MissionId, task: TaskNumber, reason: Reason = "") -> None:
        _say(options, mission_id, verb, {"task_id": task, "reason": reason})


_add("reject", "Reject the plan.")
_add("pause", "Begin nothing new until it is resumed; what runs ends.")
_add_of_task("retry", "Have a task done again.")
_add_of_task("accept", "Accept the output of a task that waits for a person.")
_add_of_task("skip", "Do without a task that has not begun, or waits for a person.")

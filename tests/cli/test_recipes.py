"""`recipes plan`, `recipes pairs` and `validate recipes` as commands: what they print, write and answer with."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.commands import CommandLine
from tests.domains.recipes.meals import PAPER, recipe, step

pytestmark = pytest.mark.quick

GLAZE = [recipe("Glaze", step("1 min", kind="a"), step("5 min"), step("2 min", 0, 1, within={0: "1 min"}))]
HOPELESS = [recipe("Glaze", step("1 min"), step("5 min", 0), step("2 min", 0, 1, within={0: "1 min"}))]


def written(folder: Path, name: str, value: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(json.dumps(value))
    return path


def test_a_plan_is_printed_and_written_and_the_validator_accepts_it(command: CommandLine, tmp_path: Path) -> None:
    file, out = written(tmp_path, "pair", PAPER), tmp_path / "plan.json"
    ended = command("recipes", "plan", file, "--seconds", "20", "--out", out, "--json")
    assert (ended.code, ended.err) == (0, "")
    told = ended.json
    assert told == json.loads(out.read_text())
    assert (told["makespan_s"], told["lower_bound_s"], told["status"]) == (1620, 1620, "optimal")
    assert [type(cell) for cell in told["plan"][0]] == [int, str, int, int]
    assert [row[3] for row in told["plan"]] == sorted(row[3] for row in told["plan"])
    for plan in (out, written(tmp_path, "rows", told["plan"])):
        judged = command("validate", "recipes", file, plan, "--json")
        assert (judged.code, judged.json["verdict"], judged.json["violations"]) == (0, "VALID", [])
        assert judged.json["certificate"]["validator"] == "recipes"


def test_time_constraints_can_be_left_out_of_a_plan_and_of_a_verdict(command: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path, "hopeless", HOPELESS)
    ended = command("recipes", "plan", file, "--without-time-constraints", "--json")
    assert (ended.code, ended.json["makespan_s"]) == (0, 480)
    plan = written(tmp_path, "plan", ended.json)
    judged = command("validate", "recipes", file, plan, "--json")
    assert (judged.code, [each["code"] for each in judged.json["violations"]]) == (1, ["TOO_LATE"])
    assert command("validate", "recipes", file, plan, "--without-time-constraints", "--json").code == 0
    refused = command("validate", "jobshop", file, plan, "--without-time-constraints")
    assert (refused.code, "--without-time-constraints: jobshop has no time constraints" in refused.err) == (2, True)


def test_a_meal_that_cannot_be_cooked_ends_with_1_and_says_why(command: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path, "hopeless", HOPELESS)
    ended = command("recipes", "plan", file, "--json")
    assert (ended.code, ended.json["status"], ended.json["plan"]) == (1, "infeasible", [])
    assert [(wish["recipe"], wish["step"], wish["about"]) for wish in ended.json["conflict"]] == [("Glaze", 2, 0)]
    assert "Glaze step 2 must start within 1 min of the end of Glaze step 0" in command("recipes", "plan", file).out


def test_a_plan_is_repaired_and_says_what_is_made_again(command: CommandLine, tmp_path: Path) -> None:
    file, out = written(tmp_path, "glaze", GLAZE), tmp_path / "plan.json"
    assert command("recipes", "plan", file, "--out", out, "--json").json["makespan_s"] == 480
    event = written(tmp_path, "away", {"event": "away", "at": 390, "until": 900})
    ended = command("recipes", "repair", file, out, "--event", event, "--json")
    assert (ended.code, ended.json["verdict"], ended.json["edit_radius"]["delay_s"]) == (
        0,
        "VALID",
        ended.json["makespan_s"] - 480,
    )
    assert (ended.json["again"], len(ended.json["passed"])) == ([["Glaze", 0], ["Glaze", 2]], 1)
    later = written(tmp_path, "longer", {"event": "longer", "at": 30, "recipe": "Glaze", "step": 1, "duration_s": 400})
    first = command("recipes", "repair", file, out, "--event", later, "--json").json["first"]
    assert (sorted(first), first["makespan_s"]) == (["delay_s", "makespan_s", "seconds", "steps"], 480 + first["delay_s"])
    told = command("recipes", "repair", file, out, "--event", later)
    assert "If everything else simply waits, the meal is complete at " in told.err
    assert "complete" in told.out
    for wrong, words in ((written(tmp_path, "flood", {"event": "flood"}), "events[0].event: "), (out, "events[0].event: ")):
        refused = command("recipes", "repair", file, out, "--event", wrong)
        assert (refused.code, words in refused.err) == (2, True)
    assert "--event: say what has happened" in command("recipes", "repair", file, out).err


def test_a_meal_is_cooked_repaired_while_it_cooks_and_served(command: CommandLine, tmp_path: Path) -> None:
    ended = command("recipes", "begin", written(tmp_path, "pair", PAPER), "--yes", "--saga-id", "dinner", "--json")
    assert (ended.code, ended.json["saga_id"], ended.json["status"]) == (0, "dinner", "running")
    event = written(tmp_path, "burnt", {"event": "burnt", "at": 900, "recipe": "Cheese-Sandwich", "step": 0})
    ended = command("recipes", "repair", "dinner", "--event", event)
    assert ended.code == 0
    assert "is made again: Cheese-Sandwich step 0" in ended.out
    assert "approve it with: sagagraph approve dinner" in ended.out
    assert "its plan waits for approval" in command("recipes", "repair", "dinner", "--event", event).err
    told = command("approve", "dinner", "--json")
    assert told.code == 0, told
    assert told.json["status"] == "running"
    early = written(tmp_path, "early", {"event": "away", "at": 60, "until": 90})
    assert "at: it is 00:15:00 already" in command("recipes", "repair", "dinner", "--event", early).err
    assert "one event at a time" in command("recipes", "repair", "dinner", "--event", event, "--event", event).err
    assert command("recipes", "serve", "dinner", "--json").json["status"] == "committed"
    refused = command("recipes", "repair", "dinner", "--event", event)
    assert (refused.code, "it is committed" in refused.err) == (2, True)
    assert command("recipes", "repair", "nobody", "--event", event).code == 2
    assert command("recipes", "begin", written(tmp_path, "no", {"recipes": []}), "--yes").code == 2


def test_a_meal_that_has_not_begun_cannot_have_been_served(command: CommandLine, tmp_path: Path) -> None:
    over = written(tmp_path, "over", {"recipes": PAPER, "served": True})
    for arguments in (("recipes", "begin", over), ("begin", "recipes", "--request", over)):
        ended = command(*arguments, "--yes", "--saga-id", "dinner")
        assert (ended.code, "served: " in ended.err) == (2, True)
        assert "there is no saga" in command("status", "dinner").err


def test_the_shipped_pairs_are_listed_and_planned_by_name(command: CommandLine) -> None:
    names = [each["pair"] for each in command("recipes", "pairs", "--json").json["pairs"]]
    assert "Lentil-Soup_Apple-Crumble" in names
    said = command("recipes", "plan", "Lentil-Soup_Apple-Crumble")
    assert (said.code, said.out.splitlines()[-1]) == (0, "01:02:00  complete (no plan is earlier)")


def test_pairs_are_measured_and_plans_judged_by_the_commands_of_recipes(command: CommandLine, tmp_path: Path) -> None:
    file, out = written(tmp_path, "pairs", [PAPER, GLAZE]), tmp_path / "plan.json"
    told = command("recipes", "bench", file, "--json").json["pairs"]
    assert [(each["pair"], each["makespan_s"] == each["lower_bound_s"]) for each in told] == [
        ("Baked-Potato_Cheese-Sandwich", True),
        ("Glaze", True),
    ]
    assert "Glaze: 00:08:00 (no plan is earlier)" in command("recipes", "bench", file).out
    meal = written(tmp_path, "glaze", GLAZE)
    command("recipes", "plan", meal, "--out", out, "--json")
    assert command("recipes", "validate", meal, out, "--json").json["verdict"] == "VALID"
    out.write_text("[]")
    assert command("recipes", "validate", meal, out).code == 1


def test_one_pair_of_several_in_a_file(command: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path, "pairs", [PAPER, GLAZE])
    assert [each["pair"] for each in command("recipes", "pairs", file, "--json").json["pairs"]] == [
        "Baked-Potato_Cheese-Sandwich",
        "Glaze",
    ]
    assert command("recipes", "plan", file, "--pair", "Glaze", "--json").json["makespan_s"] == 480


def test_what_is_unusable_is_refused_with_one_line(command: CommandLine, tmp_path: Path) -> None:
    file, circle = written(tmp_path, "pair", PAPER), written(tmp_path, "circle", [recipe("A", step(60, 1), step(60, 0))])
    (tmp_path / "not.json").write_text("{")
    for arguments, words in {
        ("recipes", "plan", tmp_path / "nowhere.json"): "FILE: ",
        ("recipes", "plan", tmp_path): "FILE: ",
        ("recipes", "plan", tmp_path / "not.json"): "FILE: ",
        ("recipes", "plan", circle): "recipes[0].steps: steps 0, 1 of A wait for each other in a circle",
        ("recipes", "plan", file, "--pair", "Tea"): "--pair: ",
        ("recipes", "plan", file, "--seconds", "0"): "Invalid value for '--seconds'",
        ("recipes", "plan", file, "--out", tmp_path): "--out: ",
        ("validate", "recipes", circle, file): "recipes[0].steps: steps 0, 1 of A wait for each other in a circle",
        ("validate", "recipes", file, tmp_path / "nowhere.json"): "PLAN: ",
        ("validate", "recipes", file, file, "--executed-until", "3"): "--executed-until: ",
    }.items():
        ended = command(*arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert words in ended.err, arguments
        assert "Traceback" not in ended.err


def test_the_recipe_of_the_documentation_is_read_and_planned(command: CommandLine) -> None:
    document = Path(__file__).parents[2] / "docs" / "recipes.md"
    crumble = re.search(r"```text\n(.*?)```", document.read_text(), re.DOTALL)
    assert crumble
    file, out = command.folder / "crumble.txt", command.folder / "crumble.json"
    file.write_text(crumble[1])
    told = command("recipes", "read", str(file), "--out", str(out))
    assert (
        "4. Mix flour and sugar with the melted butter within 2 min: 00:04:00, in one go, after 3, within 00:02:00 of 3"
        in told.out
    )
    assert "6. Bake for 30 minutes.: 00:30:00, goes on alone, after 1, 5, oven at 356 °F" in told.out
    planned = command("recipes", "plan", str(out), "--json")
    assert (planned.code, planned.json["verdict"], planned.json["status"]) == (0, "VALID", "optimal")
    assert json.loads(out.read_text()) == command("recipes", "read", str(file), "--json").json

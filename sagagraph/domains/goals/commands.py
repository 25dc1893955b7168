"""Commands: `sagagraph goal`."""

from __future__ import annotations

from sagagraph.cli import options as o
from sagagraph.cli.beginning import begin, plan_only
from sagagraph.domains.goals.domain import NAME

goal = o.verbs("Plan a goal with your own actions and, after approval, carry it out.")


@goal.command()
def goal_command(
    text: o.Text = None,
    request: o.RequestFile = None,
    saga_id: o.NewSagaId = None,
    yes: o.Yes = False,
    only: o.PlanOnly = False,
    model_seconds: o.ModelSeconds = None,
    max_cost: o.MaxCost = None,
    max_tokens: o.MaxTokens = None,
    verbose: o.Verbose = False,
    store: o.Store = "",
    as_json: o.AsJson = False,
) -> None:
    """Plan a goal with the actions of the library that SAGAGRAPH_GOALS names and, after approval, carry it out."""
    options = o.Options(store, "", as_json, verbose, None, model_seconds, max_cost, max_tokens)
    if only:
        o.end(plan_only(options, NAME, text, request))
    o.end(begin(options, NAME, text, request, saga_id, approved=yes, prefix="goal"))

"""Commands: `sagagraph trip`."""

from __future__ import annotations

from sagagraph.cli import options as o
from sagagraph.cli.beginning import begin, plan_only

trip = o.verbs("Plan a trip and, after approval, book it.")


@trip.command()
def trip_command(
    text: o.Text = None,
    request: o.RequestFile = None,
    saga_id: o.NewSagaId = None,
    yes: o.Yes = False,
    only: o.PlanOnly = False,
    today: o.Today = None,
    model_seconds: o.ModelSeconds = None,
    max_cost: o.MaxCost = None,
    max_tokens: o.MaxTokens = None,
    verbose: o.Verbose = False,
    store: o.Store = "",
    provider: o.Provider = "",
    as_json: o.AsJson = False,
) -> None:
    """Plan a trip and, after approval, book it."""
    options = o.Options(store, provider, as_json, verbose, today and today.date(), model_seconds, max_cost, max_tokens)
    if only:
        o.end(plan_only(options, "travel", text, request))
    o.end(begin(options, "travel", text, request, saga_id, approved=yes, prefix="trip"))

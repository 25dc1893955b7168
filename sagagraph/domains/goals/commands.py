"""Commands: `sagagraph goal`."""

from __future__ import annotations

from sagagraph.cli.verb import begins

goal = begins("goals", "Plan a goal with your own actions and, after approval, carry it out.", prefix="goal")

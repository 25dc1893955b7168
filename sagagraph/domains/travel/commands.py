"""Commands: `sagagraph trip`."""

from __future__ import annotations

from sagagraph.cli.verb import begins

trip = begins("travel", "Plan a trip and, after approval, book it.", prefix="trip")

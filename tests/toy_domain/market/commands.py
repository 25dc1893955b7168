"""`sagagraph stalls`: a command of its own. Buying needs none: `sagagraph begin market` is there already."""

from __future__ import annotations

import typer
from market.stalls import PRICES

from sagagraph.cli import options as o
from sagagraph.cli import render

stalls = o.verbs("Who sells what, and for how much.")


@stalls.command()
def show(as_json: o.AsJson = False) -> None:
    """Who sells what, and for how much."""
    if as_json:
        render.print_json({"prices": PRICES})
    for kind, prices in PRICES.items() if not as_json else ():
        render.stdout.print(f"{kind}: {', '.join(f'{stall} {price:.2f}' for stall, price in prices.items())}", markup=False)
    raise typer.Exit(0)

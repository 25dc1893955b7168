"""Tables of the world: part of the program, and never rebuilt from their sources, because saved trips name their content.

Cities and borders come from GeoNames (geonames.org, CC BY 4.0), abridged, with some names put into English;
airports from airportsdata (MIT); price levels of countries from the World Bank (World Development Indicators, PA.NUS.PPPC.RF,
edition of 2024-06-28, CC BY 4.0); exchange rates from the European Central Bank. Which airport serves a city, which ones are hubs
and where trains run is general knowledge, not checked against statistics.
"""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent


def rows(table: str) -> list[list[str]]:
    text = (_FOLDER / f"{table}.tsv").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines()]

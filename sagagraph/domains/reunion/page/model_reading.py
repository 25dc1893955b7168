"""Model reading: what a model may fill in of a reunion, and what the words for a name of it can be."""

from __future__ import annotations

import re
from typing import Final

from sagagraph.domains.reunion.completion import EVERYBODY
from sagagraph.planning.models.anchors import Anchor, names
from sagagraph.planning.models.reading import Slot

WAY: Final = " – "
"""Between the ends of a way."""
_PLACE: Final = "in the words of the text; somebody's own house is like Lena's house, where the writer lives is Home"
SLOTS: Final = (
    Slot("people[N].name", Anchor.NAME, "somebody who takes part; the writer is Me"),
    Slot("people[N].place", Anchor.NAME, f"where they are at first, {_PLACE}"),
    Slot("people[N].from", Anchor.TIME, "from when on they can leave there: when they land, arrive or are free"),
    Slot("people[N].drives", Anchor.CHOICE, "yes: they have a car or drive one; no: they need a ride"),
    Slot("people[N]", Anchor.NAME, "empty: they do not come"),
    Slot("vehicles[N].name", Anchor.NAME, "a car, like Tom's car"),
    Slot("vehicles[N].seats", Anchor.NUMBER, "its seats, the driver's included"),
    Slot("vehicles[N].place", Anchor.NAME, f"where it is, if that is not where its driver is, {_PLACE}"),
    Slot("vehicles[N].drivers", Anchor.NAME, "who drives it, by their names above, with commas between"),
    Slot("vehicles[N]", Anchor.NAME, "empty: it is not there"),
    Slot("tasks[N].name", Anchor.NAME, "what has to be done or fetched, in one or two words of the text"),
    Slot("tasks[N].place", Anchor.NAME, f"where, {_PLACE}"),
    Slot("tasks[N].minutes", Anchor.MINUTES, "how long it takes"),
    Slot("tasks[N].errand", Anchor.FLAG, "yes: it is only fetched, and nobody says how long that takes"),
    Slot("tasks[N].opens", Anchor.TIME, "not before"),
    Slot("tasks[N].ends", Anchor.TIME, "done by"),
    Slot("tasks[N].who", Anchor.NAME, "who does it, by their names above, if nobody else can"),
    Slot("tasks[N].watched", Anchor.FLAG, "yes: somebody has to stay with it"),
    Slot("tasks[N]", Anchor.NAME, "empty: it need not be done"),
    Slot("goals[N].people", Anchor.NAME, f"{EVERYBODY}, or names with commas between"),
    Slot("goals[N].place", Anchor.NAME, f"where they have to be, {_PLACE}"),
    Slot("goals[N].by", Anchor.TIME, "by when they have to be there"),
    Slot("travel_minutes *", Anchor.MINUTES, f"how long one drives; the name ends in two places, like Home{WAY}Airport"),
)
ALL_OF_THEM: Final = (EVERYBODY, "everybody", "everyone")
"""What means everybody, where people are named."""
_OURS: Final = re.compile(r"(?:'s)? (?:house|home|car|flat)$", re.IGNORECASE)
"""Words that are put into a name."""
_MEANT: Final = {
    "Me": re.compile(r"\b(?:I|me|my|mine|we|us|our)\b|\bich\b|\bje\b|\byo\b", re.IGNORECASE),
    "Home": re.compile(r"home|house|place|\bours?\b|\bhere\b|flat|apartment|hause|maison|chez|casa", re.IGNORECASE),
}


def is_named(value: str, quote: str) -> bool:
    """Tell whether the words name all of these; of a way, one end: the other one may be `there`."""
    if WAY in value:
        return any(is_named(each, quote) for each in value.split(WAY))
    return value.casefold() in ALL_OF_THEM or all(_is_one_named(each, quote) for each in value.split(", "))


def _is_one_named(value: str, quote: str) -> bool:
    meant = _MEANT.get(value)
    return names(_OURS.sub("", value) or value, quote) or (meant is not None and meant.search(quote) is not None)

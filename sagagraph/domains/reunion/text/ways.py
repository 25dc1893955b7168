"""Ways: how long one drives from here to there."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.reunion.text.clause import Clause
from sagagraph.domains.reunion.text.facts import Fact, road
from sagagraph.domains.reunion.text.talk import Talk
from sagagraph.domains.reunion.text.values import tagged
from sagagraph.language.clock import Lasting
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number

_SAYS: Final = Forms(__file__, "clauses.ways")
_OURS: Final = ("us", "ours", "here")
"""Words for where all meet, as in `ten minutes from us`."""


def read_ways(clause: Clause, talk: Talk) -> list[Fact] | None:
    """Read how long one drives; empty if one end is not known, None if it is about something else. A number without a unit is
    minutes, as in the way before it.
    """
    plain = tagged(clause.said)
    for name in _SAYS:
        found = plain.whole(_SAYS[name])
        lasting, number = (found.get("lasting", Lasting), found.get("minutes", Number)) if found else (None, None)
        minutes = lasting.minutes if lasting else float(number.value) if number and number.value else None
        if found is None or minutes is None or (lasting is None and name != "between" and not talk.way):
            continue
        ends = (plain.said(found.match.groupdict().get(end) or "").strip() for end in ("here", "there"))
        here, there = (talk.way if end == "there" else talk.owned(end, talk.who) for end in ends)
        there = there or talk.way or (talk.owned(talk.last_spot, talk.who) if name == "from" else "")
        if here in _OURS and there:
            return [road(there, "", minutes)]
        if here and not there and name == "from":
            return [road(here, "", minutes)] if clause.kind == "it" and here not in _OURS else []
        if here and there:
            talk.way = here if name == "away" else there
            return [road(here, there, minutes)]
    return [] if clause.minutes is not None and clause.spot("from") and clause.spot("to") else None

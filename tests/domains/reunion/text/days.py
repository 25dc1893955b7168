"""Days as people tell them in plain sentences, and boards on which they were told."""

from __future__ import annotations

from typing import Final

from sagagraph.domains.reunion.completion import completed
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.text.telling import told
from sagagraph.domains.reunion.transcript import EMPTY

THANKSGIVING: Final = (
    "Thanksgiving dinner at 6 pm at home in Boston. Sarah is at home. James lands at 1 pm at BOS and rents a car. Emily "
    "lands at 2:30 pm and needs a ride. Michael drives from New York, leaving at 11. Grandma needs a pick-up. Turkey takes "
    "4 hours in the oven, someone must watch it; sides take 2 hours. Home-BOS 60 minutes, BOS-Grandma 60, Home-Grandma 30 "
    "minutes, New York-Home 4 hours, New York-BOS 4 hours."
)
WEDDING: Final = (
    "Wedding at 3 pm at the venue. Alex is at the airport from 11:00 and needs a ride. Jamie is at the airport from 12:30 "
    "and needs a ride. Pat is at the venue from noon with a five-seater. Chris is at the venue from 1:30 pm and has a five-"
    "seater. The gift must be picked up at the gift shop after noon and it takes 5 minutes. The clothes must be collected "
    "from the tailor before 14:00, it takes 5 minutes. Airport to gift shop 45 minutes, airport to tailor 30, airport to "
    "venue 40, gift shop to tailor 20, gift shop to venue 25, tailor to venue 15."
)
SIX: Final = (
    "We are six: Anna, Ben, Carla, Dave, Eva and Grandpa Joe. Dinner is at 7 pm at home in Munich. Anna is at home, and "
    "somebody has to walk the dog for 30 minutes before 5. Ben lands at Munich airport at 2 pm. Carla lands at Memmingen "
    "airport at 3:30 pm. Dave has a car and is at home. Eva drives from Salzburg with her own car, leaving at 1 pm. Grandpa"
    " Joe is in Augsburg and needs a lift. The roast takes 3 hours in the oven and must not be left alone. Someone has to "
    "pick up the cake from the bakery before 5 pm."
)
"""Six people, two airports, an oven, a cake and a dog."""


def told_problem(*said: str) -> ReunionProblem:
    """Return the problem. All that was said one after the other is understood, and nothing has to be asked."""
    board = EMPTY
    for text in said:
        found = told(board, text)
        assert found.unread == ()
        board = found.filled
    problem = completed(board).whole
    assert problem is not None
    return problem

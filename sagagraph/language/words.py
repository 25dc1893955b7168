"""Words that are rarely names, for the reader of places; none of them is tagged."""

from __future__ import annotations

from typing import Final


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NO_NAMES: Final = words(
    """
    a an the this that these those my our your his their no any every each i me we us you him them it there here where somewhere
    anywhere around home and or at by for in of on to from then with one two most least only be go going fly flying have see spend
    stay start leave leaving return travel visit want work round back end total please trip week weekend flexible first business
    economy premium class luxury moderate star stars hotel hotels advance general english usd eur dollars euros may june monday
    sunday spring summer autumn fall winter act add all along am are as ask bar bare basic but buy can cap cheap colon come cut
    date day do due far fast few free fun gap get good got great had has hit hub hue if into is key late law let lie log love mad
    make man many max mid min more much must name near need not now off ok old out pad page part per pop pre price pure rest rich
    row run same save say so some sub sun sea time too top try turn und until up van very via was why will yen yes whatever order
    """
)
"""What a name may follow (`to see`), and places that nobody means unless they are written like one after `from` or `to`."""
ALSO_WORDS: Final = words(
    """
    bath bend best buffalo bury castle central champion commerce concord cork deal delta eagle eden enterprise forest garden goes
    grace green hope hull independence joy liberal liberty male march media mission mobile most nice normal of orange paradise
    phoenix poole reading rifle rugby sandwich solo spring split superior surprise temple tours union victory wells ann flint ho
    hub leo man mary metro nancy po providence sale san save sur van wa
    """
)
"""Cities whose names mean something else more often."""
ONLY_WITH_A_CAPITAL: Final = words("ann hub leo man metro sale save surprise temple van")
"""Of these, the ones that follow `to` as words, too."""
PLAIN_WORDS: Final = words(
    """
    people person persons adults adult child children nights night flight flights train trains direct nonstop later after before
    again maybe might would could should holiday holidays vacation journey ticket tickets travel cheap cheapest moderate rooms
    breakfast museum beach weather family friends mother father morning evening arrive arriving depart departing coming starting
    ending staying nicest sunday monday tuesday wednesday thursday friday saturday january february april august september october
    november december hello thanks thank really quite about other another place places money pounds three seven eight couple
    anything nothing something everything
    """
)
"""No misspelling of a name, however close to one they are."""

"""What a city is for in a sentence, by the words around it."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.reading.passage import Passage, pattern

if TYPE_CHECKING:
    import re

    from sagagraph.domains.travel.reading.places import Mention


class Role(Enum):
    """The words are examples."""

    ORIGIN = "from"
    RETURN = "back to"
    LEFT_LAST = "back from"
    NEXT = "to, then, →"
    VIA = "via"
    PLACE = "in, visit"
    LISTED = "and"
    COMMA = ","
    ALTERNATIVE = "or"
    BETWEEN = "between"
    LEFT_OUT = "without"
    REPLACED = "instead of"
    BARE = ""


_THE: Final = r"(?:\s+(?:the|beautiful|lovely|sunny|city of|downtown|central))*\s*$"
_RETURN: Final = (
    r"(?:back(?:\s+(?:home|again))*\s+(?:to|in)|return(?:ing|s)?(?:\s+home)?\s+to|home\s+(?:to|in)"
    r"|(?:end|finish)(?:ing|s)?(?:\s+up)?\s+in|back)"
)
_ORIGIN: Final = (
    r"(?:from|leav(?:e|es|ing)|depart(?:s|ing|ure)?|out of|(?:start|begin)(?:s|ing|ning)?(?:\s+(?:in|at|from))?"
    r"|(?:based|live|living|am|are|i'm|we're|home is)(?:\s+in)?|ex)"
)
_START_AND_END: Final = (
    r"(?:start|begin|depart|leav)\w*\s+(?:(?:from|in|at)\s+)?(?:and|&)\s+(?:end|return|finish)\w*\s+(?:in|at|from|to)"
)
_VIA: Final = r"(?:via|through|(?:stopping|stopover|with a stop)(?: over)? (?:in|at))"
_NEXT: Final = r"(?:to|then|next|onwards?|after that|afterwards|into)"
_PLACE: Final = r"(?:in|at|visit(?:ing)?|see(?:ing)?|explor(?:e|ing)|for|over|stop(?:ping)?(?:\s+(?:in|at|over))?)"

_LEADS: Final[tuple[tuple[re.Pattern[str], Role], ...]] = (
    (pattern(rf"\b(?:instead of|rather than|in place of|replac(?:e|ing)|(?:change|swap|switch)(?: out)?){_THE}"), Role.REPLACED),
    (
        pattern(
            rf"\b(?:without|skip(?:ping)?|drop(?:ping)?|remove|except|avoid(?:ing)?|not|no|never|don't|do not)"
            rf"(?:\s+(?:going|go|fly|flying|changing|change|stop|stops|stopping|stopover|a|any|planes|flights?|want))*"
            rf"(?:\s+(?:via|through|over|in|to))?{_THE}"
        ),
        Role.LEFT_OUT,
    ),
    (pattern(rf"\b(?:back|return(?:ing|s)?|home)\s+(?:again\s+)?from{_THE}"), Role.LEFT_LAST),
    (pattern(rf"\b{_START_AND_END}{_THE}"), Role.ORIGIN),
    (pattern(rf"\b{_RETURN}{_THE}"), Role.RETURN),
    (pattern(rf"\b{_ORIGIN}(?:\s*:)?{_THE}"), Role.ORIGIN),
    (pattern(rf"\bor(?:\s+to)?{_THE}"), Role.ALTERNATIVE),
    (pattern(rf"\bbetween{_THE}"), Role.BETWEEN),
    (pattern(rf"\b{_VIA}{_THE}"), Role.VIA),
    (pattern(rf"(?:\b{_NEXT}|→|-|/){_THE}"), Role.NEXT),
    (pattern(rf"\b{_PLACE}{_THE}"), Role.PLACE),
    (pattern(rf"(?:\b(?:and|plus|with|also)|&|\+){_THE}"), Role.LISTED),
    (pattern(rf",{_THE}"), Role.COMMA),
)
_INTO: Final = pattern(r"\binto\s+$")
_OUT_OF: Final = pattern(r"\b(?:out of|home from|leav\w+ from)\s+$")
"""Into one city and out of another: the second is where the trip is left."""
_RETURN_FROM: Final = pattern(r"\s*return\s+from\b")
_TO: Final = pattern(r"\s*(?:home\s+)?to\s+")
_LINK_ON: Final = pattern(r"\s*(?:to|→|-)\s*(?:the\s+)?")


def roles_of(passage: Passage, mentions: tuple[Mention, ...]) -> list[Role]:
    """The words between a city and the one before it decide; in `Boston to Paris`, those after it."""
    roles = [_by_lead(passage, mention, earlier) for mention, earlier in zip(mentions, (None, *mentions), strict=False)]
    into = next((n for n, mention in enumerate(mentions) if passage.lead(_INTO, mention.start)), None)
    for n, mention in enumerate(mentions):
        if roles[n] is Role.ORIGIN and into is not None and n > into and passage.lead(_OUT_OF, mention.start):
            roles[n] = Role.LEFT_LAST
    if Role.ORIGIN not in roles:
        for n in range(len(mentions) - 1):
            is_linked = _LINK_ON.fullmatch(passage.text, mentions[n].end, mentions[n + 1].start)
            if (roles[n] is Role.BARE or (n == 0 and roles[n] is Role.COMMA)) and is_linked:
                roles[n] = Role.ORIGIN
                break
    for n in range(1, len(mentions)):
        if (
            roles[n] is Role.NEXT
            and roles[n - 1] is Role.LEFT_LAST
            and _TO.fullmatch(passage.text, mentions[n - 1].end, mentions[n].start)
        ):
            roles[n] = Role.RETURN
    if roles and roles[0] is Role.LEFT_LAST and _RETURN_FROM.match(passage.text):
        roles[0] = Role.ORIGIN
    if Role.ORIGIN not in roles and len(mentions) > 1 and roles[0] in (Role.BARE, Role.COMMA):
        ends = [mention.city for mention, role in zip(mentions, roles, strict=True) if role is Role.RETURN]
        is_round = len(mentions) > 2 and mentions[-1].city == mentions[0].city
        if mentions[0].city is not None and (is_round or mentions[0].city in ends):
            roles[0] = Role.ORIGIN
    return roles


def _by_lead(passage: Passage, mention: Mention, earlier: Mention | None) -> Role:
    lead = Passage(passage.text[earlier.end if earlier else 0 : mention.start])
    return next((role for words, role in _LEADS if lead.lead(words, len(lead.text))), Role.BARE)

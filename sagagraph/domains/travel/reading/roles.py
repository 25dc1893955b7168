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
    PLACE = "in, visit"
    LISTED = "and"
    COMMA = ","
    ALTERNATIVE = "or"
    BETWEEN = "between"
    LEFT_OUT = "without"
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
_START_AND_END: Final = r"(?:start|begin|depart|leav)\w*\s+(?:and|&)\s+(?:end|return|finish)\w*\s+(?:in|at|from|to)"
_NEXT: Final = r"(?:to|then|via|through|next|onwards?|after that|afterwards|into)"
_PLACE: Final = r"(?:in|at|visit(?:ing)?|see(?:ing)?|explor(?:e|ing)|for|over|stop(?:ping)?(?:\s+(?:in|at|over))?)"

_LEADS: Final[tuple[tuple[re.Pattern[str], Role], ...]] = (
    (pattern(rf"\b(?:without|skip(?:ping)?|drop(?:ping)?|remove|except|avoid(?:ing)?|not|no){_THE}"), Role.LEFT_OUT),
    (pattern(rf"\b(?:back|return(?:ing|s)?|home)\s+(?:again\s+)?from{_THE}"), Role.LEFT_LAST),
    (pattern(rf"\b{_START_AND_END}{_THE}"), Role.ORIGIN),
    (pattern(rf"\b{_RETURN}{_THE}"), Role.RETURN),
    (pattern(rf"\b{_ORIGIN}(?:\s*:)?{_THE}"), Role.ORIGIN),
    (pattern(rf"\bor(?:\s+to)?{_THE}"), Role.ALTERNATIVE),
    (pattern(rf"\bbetween{_THE}"), Role.BETWEEN),
    (pattern(rf"(?:\b{_NEXT}|→|-|/){_THE}"), Role.NEXT),
    (pattern(rf"\b{_PLACE}{_THE}"), Role.PLACE),
    (pattern(rf"(?:\b(?:and|plus|with|also)|&|\+){_THE}"), Role.LISTED),
    (pattern(rf",{_THE}"), Role.COMMA),
)
_LINK_ON: Final = pattern(r"\s*(?:to|→|-)\s*(?:the\s+)?")


def roles_of(passage: Passage, mentions: tuple[Mention, ...]) -> list[Role]:
    """The words between a city and the one before it decide; in `Boston to Paris`, those after it."""
    roles = [_by_lead(passage, mention, earlier) for mention, earlier in zip(mentions, (None, *mentions), strict=False)]
    if Role.ORIGIN not in roles:
        for n in range(len(mentions) - 1):
            is_linked = _LINK_ON.fullmatch(passage.text, mentions[n].end, mentions[n + 1].start)
            if roles[n] is Role.BARE and is_linked:
                roles[n] = Role.ORIGIN
                break
    return roles


def _by_lead(passage: Passage, mention: Mention, earlier: Mention | None) -> Role:
    lead = Passage(passage.text[earlier.end if earlier else 0 : mention.start])
    return next((role for words, role in _LEADS if lead.lead(words, len(lead.text))), Role.BARE)

"""Decisions: what somebody decides in so many words, and small talk. The whole of the text must be such a phrase."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from sagagraph.language.forms import Forms


class Act(StrEnum):
    """Act: what a decision decides."""

    APPROVE = "approve"
    PRAISE = "praise"
    """`Looks good`: agreement that does not say what to do."""
    REJECT = "reject"
    NOT_NOW = "not now"
    CANCEL = "cancel"
    CANCEL_PART = "cancel a part"
    UNDO = "undo"
    CHOOSE = "choose"
    SKIP = "skip"
    WITHOUT = "book without"
    CONFIRM = "confirm"
    """`It did`: what was asked about has happened."""
    AGAIN = "again"
    """The same once more, after it is over."""


_SAYS: Final = Forms(__file__, "decisions")
_ACTS: Final = Forms(__file__, "decisions.acts")
_LONGEST: Final = 1000
_NTH: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4, "one": 1, "two": 2, "three": 3}


def decision_in(said: str) -> tuple[Act, int] | None:
    """Return what is decided and, for a choice, which one, from 1 (0: the other one); None if it is not a decision.

    Introductory words are left out; hesitation is agreement, but approves nothing.
    """
    if said.rstrip().endswith("?") or len(said) > _LONGEST:
        return None
    plain, found, is_in_doubt = said.strip(), _decided(said.strip()), False
    while found is None and (filler := _SAYS.before.search(plain) or _SAYS.after.search(plain)) is not None:
        is_in_doubt = is_in_doubt or filler["doubt"] is not None
        plain = plain[: filler.start()] + plain[filler.end() :]
        found = _decided(plain)
    return (Act.PRAISE, 0) if found is not None and is_in_doubt and found[0] is Act.APPROVE else found


def _decided(plain: str) -> tuple[Act, int] | None:
    chosen = _SAYS.chosen.fullmatch(plain)
    if chosen is not None:
        named = (chosen["nth"] or chosen["n"] or "0").casefold()
        return Act.CHOOSE, _NTH.get(named) or int(named[0])
    act = next((Act[name.upper()] for name in _ACTS if _ACTS[name].fullmatch(plain)), None)
    return None if act is None else (act, 0)


def is_small_talk(said: str) -> bool:
    return _SAYS.small.fullmatch(said) is not None

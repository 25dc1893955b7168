"""Phrases: forms that read as they are said, `WHO need~ [a] (ride|lift) [from PLACE]`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from sagagraph.language.passage import form

_TOKEN: Final = re.compile(r"[\[\]()|]|\w+=\(|[^\s\[\]()|]+")
_END_OF_WORD: Final = r"(?!\w)"
_SIGNS: Final = {"[": "(?:", "]": ")?", "(": "(?:", ")": ")", "|": "|"}


def phrase(said: str, holes: Mapping[str, str]) -> re.Pattern[str]:
    """Return a form. Brackets enclose what may be missing, `(a|b)` is one of the two, found as `which` in `which=(a|b)`.

    `need~` is every form of the verb. A hole, a word in capitals, stands for a form.
    """
    return form(as_form(said, holes))


def as_form(said: str, holes: Mapping[str, str]) -> str:
    """Return the text of a form, for use as a hole of other phrases."""
    return "".join(_SIGNS.get(token) or _word(token, holes) for token in _TOKEN.findall(said))


def _word(token: str, holes: Mapping[str, str]) -> str:
    if token.endswith("=("):
        return f"(?P<{token[:-2]}>"
    word = holes.get(token) or (_verb(token[:-1]) if token.endswith("~") else re.escape(token))
    is_word = token[-1].isalnum() or token.endswith("~")
    return f"(?:{word})" + (_END_OF_WORD if is_word else "") + " ?"


def _verb(verb: str) -> str:
    """Match `set`, `sets`, `setting`; `drive`, `drives`, `driving`."""
    stem, e = (verb[:-1], "e") if verb.endswith("e") else (verb, "")
    return rf"{stem}(?:{e}s?|es|{stem[-1]}?ing)"

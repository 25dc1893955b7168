"""A text as clauses: each says something of somebody. What a clause leaves out, it takes from the one before."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

LONGEST_TEXT: Final = 5_000
VERBS: Final = (
    r"(?:lands?|landing|arrives?|arriving|flies|fly|gets?|touch(?:es)? down|comes?|coming|rents?|renting|will|needs?|drives?"
    r"|driving"
    r"|leaves?|leaving|sets? off|setting off|is|are|was|has|have|must|can|cannot|can't|can not|could|does|doesn't|do|don't|should"
    r"|waits?|waiting|brings?|takes?|opens?|closes?|prefers?|would|stays?|staying|lives?|to be|with|wants?|starts?|begins?|picks?"
    r"|hosts?|watch|won't|should(?:n't| not)|mustn't|isn't|may|might|never|hates?|ought)"
)
_NAME: Final = r"(?:(?:[Mm]y|[Oo]ur) [a-z]+(?: [A-Z][\w']*)?|[A-Z][\w'-]*(?: [A-Z][\w'-]*)?|[a-z]\d+)"
NAMES: Final = rf"{_NAME}(?:(?:\s*,\s*|\s+and\s+|\s*,\s*and\s+){_NAME})*"
_SOMEBODY: Final = r"(?:[Ss]ome(?:one|body)|[Aa]ny(?:one|body))"
_NOBODY: Final = r"(?:[Nn]obody|[Nn]o[- ]?one)"
_EVERYBODY: Final = r"(?:[Ee]very(?:one|body)(?: else)?|[Aa]ll(?: of us| guests)?|[Ww]e(?: all)?)"
_SENTENCE_END: Final = re.compile(r"[!?;\n]+|\.(?=\s|$)")
_CUT: Final = re.compile(
    rf"\s*,\s*(?:and\s+|but\s+|who\s+|so\s+)?|\s+(?:and|but|who|so)\s+"
    rf"(?={VERBS}\b|it (?:takes|opens|closes)\b|{_SOMEBODY}\b|{_NOBODY}\b|{NAMES}\s+{VERBS}\b)"
    r"|\s+(?=with (?:an?|his|her|their) [\w -]*(?:car|van|bus|seater)\b)"
)
_PRONOUN: Final = re.compile(rf"(?:[Ss]he|[Hh]e|[Tt]hey)\s+(?={VERBS}\b)(.*)")
_SUBJECT: Final = re.compile(rf"({NAMES})\s+(?={VERBS}\b)(.*)")
_ALONE: Final = re.compile(NAMES)
_NONAMES: Final = frozenset(
    {
        "the",
        "a",
        "an",
        "it",
        "someone",
        "somebody",
        "anyone",
        "anybody",
        "everyone",
        "everybody",
        "all",
        "we",
        "they",
        "he",
        "she",
    }
    | {"this", "that", "there", "dinner", "lunch", "breakfast", "brunch", "thanksgiving", "wedding", "party", "please", "pick"}
    | {"nobody", "no", "noone", "no-one", "none", "don't", "do", "never", "keep", "i"}
    | {"collect", "fetch", "buy", "get", "from", "driving", "taxi", "vehicle"}
)


@dataclass(frozen=True, slots=True)
class Clause:
    """`people` does `rest`; nobody named: `people` is empty and `rest` all of it. `everybody`, `somebody`: said so."""

    people: tuple[str, ...]
    rest: str
    everybody: bool = False
    somebody: bool = False


def tidy(text: str) -> str:
    """With one way of writing what can be written in several."""
    text = text.replace("’", "'").replace("–", "-").replace("—", ", ").replace("→", "-")
    text = re.sub(r"\b([ap])\.\s?m\.?(?=\W|$)", r"\1m", text, flags=re.IGNORECASE)
    text = re.sub(r"\s*\(([^)]*)\)", r", \1,", text)
    text = re.sub(r"'s (?:flight|plane|train|bus) (?=lands|arrives|gets in)", " ", text)
    return re.sub(r"\s+o'clock", "", text)


def sentences(text: str) -> list[str]:
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,"))]


def clauses(sentence: str, people: tuple[str, ...] = ()) -> Iterator[Clause]:
    """Names that stand alone wait for what is said of them. `people`: those whom the sentence before was about."""
    is_waiting = False
    before = people
    people = ()
    for piece in filter(None, (each.strip(" ,") for each in _CUT.split(sentence))):
        alone = _ALONE.fullmatch(piece)
        if alone and not _is_no_name(piece):
            people = (*people, *names(piece)) if is_waiting else names(piece)
            is_waiting = True
            continue
        clause = _clause(piece, people, people or before)
        if clause.people and clause.people != people:
            people = (*people, *clause.people) if is_waiting else clause.people
            clause = Clause(people, clause.rest)
        is_waiting = False
        yield clause


def names(text: str) -> tuple[str, ...]:
    """`Alex and my mother` are Alex and Mother."""
    return tuple(_name(each) for each in re.findall(_NAME, text))


def _clause(piece: str, before: tuple[str, ...], meant: tuple[str, ...]) -> Clause:
    """`meant`: those whom `she` or `they` means."""
    pronoun = _PRONOUN.fullmatch(piece)
    if pronoun:
        return Clause(meant, pronoun[1])
    for who, everybody in ((_EVERYBODY, True), (_SOMEBODY, False)):
        said = re.match(rf"{who}\s+(.*)", piece)
        if said:
            return Clause((), said[1], everybody=everybody, somebody=not everybody)
    said = _SUBJECT.fullmatch(piece)
    if said and not _is_no_name(said[1]):
        return Clause(names(said[1]), said[2])
    starts_with_verb = re.match(rf"{VERBS}\b", piece)
    return Clause(before if starts_with_verb else (), piece)


def _is_no_name(text: str) -> bool:
    return text.split()[0].lower() in _NONAMES


def _name(said: str) -> str:
    """`my mother`: Mother; `my sister Emily`: Emily."""
    if not said.lower().startswith(("my ", "our ")):
        return said
    return said.split()[-1].capitalize() if len(said.split()) == 2 else said.split()[-1]

"""Reading: what somebody wrote, in any language and at any length, as values that a model finds for the fields of a board.

Each value comes with the words that state it; one that they do not state is refused, and named (`anchors`), as is one that the
page cannot take. What the rules have read of the same text holds in whatever the model has left alone, rows of a table with names
included; where both have read a field, the model's value stands, and the other one beside it. The rules read alone where the
model is of no help, or cannot be asked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, Field

from sagagraph.context.answering import answer_of
from sagagraph.context.quoting import new_nonce
from sagagraph.errors import InvalidInputError, ModelError
from sagagraph.language.utterance.questions import Topic
from sagagraph.language.utterance.utterances import Kind
from sagagraph.planning.fields import Field as BoardField
from sagagraph.planning.fields import Fields, Part, Widget
from sagagraph.planning.models.anchors import Anchor, is_quoted, names, plain, with_what_is_counted

if TYPE_CHECKING:
    from sagagraph.planning.page import Draft, Known, Page

_INSTRUCTIONS: Final = (
    "The data is what somebody wrote, in any language, today's date, and the fields of a form with what they hold. Say what "
    "kind of utterance the text is, and of a question its topic. Then list every wish or fact in the text that a field can hold: "
    "the field's name, the value as it is typed there, and as quote the exact words of the text that state it, as few as "
    "possible. N in a name is the number of a row, from 0; a new row has the next number, and begins with its first field. An "
    "empty value takes away what a field, or a row, holds. Add nothing that was not written: questions, fears and what others "
    "may do are no wishes."
)
_MOST_TOKENS: Final = 4096
_MOST_WORDS: Final = 16
"""Of a quote: with all of a text any value could be justified."""
_PLACE: Final = re.compile(r"(?P<row>(?P<table>\w+)\[(?P<number>\d+)\])(?P<cell>\..+)?")
_Row = tuple[str, int]
"""A table, and the number of a row in it."""
_WORD: Final = re.compile(r"[^\W_]+")
_ANCHORS: Final = {
    Widget.NUMBER: Anchor.NUMBER,
    Widget.DATE: Anchor.DAY,
    Widget.TIME: Anchor.TIME,
    Widget.CHOICE: Anchor.CHOICE,
    Widget.CHECK: Anchor.FLAG,
}


@dataclass(frozen=True, slots=True)
class Slot:
    """Slot: a field that a model may fill in. `name`: as on the board; `N` is any row's number, `*` any name.

    `about`: what it is, for the model. `says`: what the words for it must contain beside the value.
    """

    name: str
    anchor: Anchor
    about: str = ""
    says: re.Pattern[str] | None = None

    def is_of(self, name: str) -> bool:
        pattern = re.escape(self.name).replace(r"\[N\]", r"\[\d+\]").replace(r"\*", ".+")
        return re.fullmatch(pattern, name) is not None


class Found(BaseModel, extra="forbid"):
    """Value that a model has found, and the words that state it."""

    field: str = Field(max_length=100)
    value: str = Field(max_length=100)
    quote: str = Field(max_length=400)


class Answer(BaseModel, extra="forbid"):
    """Answer of the model."""

    kind: Kind = Kind.WISH
    topic: Topic | None = None
    slots: list[Found] = Field(max_length=150)


@dataclass(slots=True)
class _Taken:
    """What is accepted so far."""

    draft: Draft
    names: list[str] = field(default_factory=list)
    quotes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """What the words do not state."""
    unfit: list[str] = field(default_factory=list)
    """What the page does not take."""
    whole: Draft | None = None
    """The draft before rows were taken away."""
    gone: list[str] = field(default_factory=list)
    """Rows that were taken away, in this order."""


def slots_of(parts: Iterable[Part]) -> tuple[Slot, ...]:
    """Return a slot for every field of a board."""
    fields = (each for each in listed(parts) if each.widget is not Widget.DROP)
    return tuple(Slot(each.name, _ANCHORS.get(each.widget, Anchor.NAME), each.label) for each in fields)


def listed(parts: Iterable[Part]) -> Iterator[BoardField]:
    """Return all fields of a board."""
    for part in parts:
        cells = [part.fields] if isinstance(part, Fields) else [cell for _, row in part.rows for cell in row]
        yield from (each for cell in cells for each in cell)


async def read_first(
    page: Page, text: str, known: Known | None, ours: Draft | None, mint: Callable[[], str] = new_nonce
) -> Draft | None:
    """Return what the model reads in `text` on top of what is known. None: it is of no help, so the rules' reading holds.

    `ours`: the rules' reading; None where they cannot read it at all. Raises `ModelError`: the model cannot be asked.
    """
    if page.model is None:
        return None
    before = await page.drafted(known)
    board, slots = list(listed(page.fields(before))), page.slots(before)
    if not slots:  # there is nothing to fill in: a goal is its words
        return None
    form = [{"field": each.name, "value": each.anchor.value, "about": each.about} for each in slots]
    data = {
        "text": text,
        "today": str(await page.today()),
        "form": form,
        "holds": {each.name: each.value for each in board if each.value and any(slot.is_of(each.name) for slot in slots)},
    }
    answer = await answer_of(page.model, _INSTRUCTIONS, data, Answer, mint=mint, max_tokens=_MOST_TOKENS)
    if answer is None:
        return None
    under = ours if page.rows_have_names and ours is not None else before
    taken = await _applied(page, before, under, answer.slots, text)
    try:
        return await _together(page, before, taken, ours, answer, text)
    except InvalidInputError as exc:  # each value fits the board, and they do not fit each other
        unfit = _Taken(before, refused=taken.refused, unfit=[*taken.unfit, f"what {page.model.name} has read ({exc})"])
        return await _together(page, before, unfit, ours, answer, text)


async def _applied(page: Page, before: Draft, under: Draft, found: Iterable[Found], text: str) -> _Taken:
    """Fill in one value after the other over the draft `under`; rows that are taken away go last.

    `before`: the draft that the model was shown.
    """
    taken, slots = _Taken(under), page.slots(before)
    rows = _Rows(list(listed(page.fields(before))), list(listed(page.fields(under))))

    async def left_of(said: Iterable[Found]) -> list[Found]:
        """Fill in values, and return those that the page does not take."""
        left = []
        for each in said:
            slot, name = next((slot for slot in slots if slot.is_of(each.field)), None), rows.name_of(each)
            if slot is None or not _is_stated(page, slot, each, text, rows.called(each.field)):
                taken.refused.append(_in_words(each))
            elif name not in taken.names and await _is_filled(page, taken, name, each):
                rows.keep(each, name)
            else:
                left.append(each)
        return left

    in_order = sorted(found, key=rows.order)
    left = await left_of(each for each in in_order if not rows.is_taken_away(each))
    left = await left_of(left)  # one may refer to what came after it
    taken.whole, count = taken.draft, len(taken.names)
    left += await left_of(each for each in reversed(in_order) if rows.is_taken_away(each))
    taken.gone = taken.names[count:]
    taken.unfit = [_in_words(each) for each in left]
    return taken


def _is_stated(page: Page, slot: Slot, found: Found, text: str, held: str) -> bool:
    """Tell whether the words state the value. `held`: what the row of a table is called."""
    if not is_quoted(found.quote, text) or len(found.quote.split()) > _MOST_WORDS:
        return False
    if slot.says is not None and not slot.says.search(found.quote):
        return False
    label = found.field[len(slot.name) - 1 :] if slot.name.endswith("*") else ""
    label = label or (held if not found.value and "[N]" in slot.name else "")
    is_named = not label or page.states(Anchor.NAME, label, found.quote)
    quote = found.quote if slot.anchor is Anchor.NAME else with_what_is_counted(found.quote, text)
    return is_named and (not found.value or page.states(slot.anchor, found.value, quote))


def _in_words(found: Found) -> str:
    name = " ".join(re.findall(r"[^\W\d_]+", found.field))
    return f"{name}: {found.value or 'nothing'}"


async def _is_filled(page: Page, taken: _Taken, name: str, found: Found) -> bool:
    try:
        taken.draft = await page.with_field(taken.draft.known, name, found.value)
    except InvalidInputError:
        return False
    taken.names.append(name)
    taken.quotes.append(plain(found.quote))
    return True


class _Rows:
    """Rows of tables: where on the board those are that the model was shown, and those that it begins."""

    def __init__(self, shown: Iterable[BoardField], board: Iterable[BoardField]) -> None:
        places = [(each, place) for each in shown if (place := _PLACE.fullmatch(each.name)) is not None]
        self._first = {place["table"]: place["cell"] for _, place in reversed(places)}
        self._called = _called(shown)
        self._free = _called(board)
        """Rows of the board of which the model was shown none."""
        self._count = Counter(table for table, _ in self._free)
        self._at: dict[_Row, _Row] = {}
        for is_it in (_is_very_row, _is_called_so, _is_in_its_place):
            for row, name in self._called.items():
                same = next((each for each, other in self._free.items() if is_it(row, name, each, other)), None)
                if same is not None and row not in self._at:
                    self._at[row] = same
                    del self._free[same]

    def called(self, name: str) -> str:
        place = _PLACE.fullmatch(name)
        return "" if place is None else self._called.get(_row_of(place), "")

    def is_taken_away(self, found: Found) -> bool:
        place = _PLACE.fullmatch(found.field)
        return place is not None and not found.value and place["cell"] in (None, self._first.get(place["table"]))

    def order(self, found: Found) -> tuple[int, bool]:
        """Return what sorts rows in their order on the board, each with its first field first."""
        place = _PLACE.fullmatch(found.field)
        if place is None:
            return -1, False
        return self._at.get(_row_of(place), _row_of(place))[1], place["cell"] != self._first.get(place["table"])

    def name_of(self, found: Found) -> str:
        """Return the field's name on the board; of a row that was not begun, it is that of no field."""
        place = _PLACE.fullmatch(found.field)
        if place is None:
            return found.field
        table, number = self._at.get(_row_of(place)) or self._begun(place, found.value)
        return f"{table}[{number}]{place['cell'] or ''}"

    def _begun(self, place: re.Match[str], value: str) -> _Row:
        """Return where a row is put: where the rules have put it or, new to them, too, behind all others."""
        table = place["table"]
        theirs = [(row, name) for row, name in self._free.items() if row[0] == table and place["cell"] == self._first.get(table)]
        same = (row for is_same in (_is_same, _is_like) for row, name in theirs if is_same(name, value))
        return next(same, (table, self._count[table]))

    def keep(self, found: Found, name: str) -> None:
        """Remember a row that was begun."""
        place, put = _PLACE.fullmatch(found.field), _PLACE.fullmatch(name)
        if place is not None and put is not None and _row_of(place) not in self._at:
            row = _row_of(put)
            self._at[_row_of(place)] = row
            self._called[_row_of(place)] = found.value
            self._count[row[0]] = max(self._count[row[0]], row[1] + 1)
            self._free.pop(row, None)


def _row_of(place: re.Match[str]) -> _Row:
    return place["table"], int(place["number"])


def _called(fields: Iterable[BoardField]) -> dict[_Row, str]:
    """Return what rows are called: by their first field that holds anything."""
    called: dict[_Row, str] = {}
    for each in fields:
        if each.value and (place := _PLACE.fullmatch(each.name)) is not None:
            called.setdefault(_row_of(place), each.value)
    return called


def _is_very_row(row: _Row, name: str, other: _Row, other_name: str) -> bool:
    return row == other and name == other_name


def _is_called_so(row: _Row, name: str, other: _Row, other_name: str) -> bool:
    return row[0] == other[0] and name == other_name


def _is_in_its_place(row: _Row, _name: str, other: _Row, _other_name: str) -> bool:
    return row == other


def _is_same(name: str, other: str) -> bool:
    return name.casefold() == other.casefold()


def _is_like(name: str, other: str) -> bool:
    """Tell whether two readings of a text mean the same by these names, like `Tom's car` and `the car`."""
    return names(name, other) or names(other, name)


async def _together(page: Page, before: Draft, taken: _Taken, ours: Draft | None, answer: Answer, text: str) -> Draft:
    """Return the model's reading, with the rules' in whatever it has left alone and beside whatever both have read."""
    touched = frozenset(map(_table_of, taken.names))
    draft = taken.draft
    if touched:
        rules = before.known if ours is None or ours.known is None else ours.known
        draft = await page.drafted(page.beside(before.known, rules, draft.known, touched))
    elif ours is not None:
        draft = ours
    unread = (text,) if ours is None and not touched else ours.not_understood if ours is not None else ()
    left = tuple(each for each in unread if not _is_covered(each, taken.quotes))
    asides = draft.asides if draft is not before else ()
    if taken.refused:
        named = "; ".join(taken.refused)
        asides = (*asides, f"Left out, because your words do not say it: {named}. Say it once more if you want it.")
    if taken.unfit:
        asides = (*asides, f"Left out, because it does not fit here: {'; '.join(taken.unfit)}.")
    others = {} if ours is None else dict(_read_otherwise(page, taken.names, before, ours, taken.whole or draft))
    for row in taken.gone:
        others = dict(_without_row(others, row))
    by = page.model.name if touched and page.model is not None else ""
    return replace(draft, not_understood=left, asides=asides, by=by, others=others, kind=answer.kind, topic=answer.topic)


def _table_of(name: str) -> str:
    """Return the table that a field is in or, without one, the field's own name."""
    return re.split(r"[.\[ ]", name)[0]


def _is_covered(words: str, quotes: Iterable[str]) -> bool:
    """Tell whether most of the words are among those that were quoted."""
    said, quoted = _WORD.findall(plain(words)), set(_WORD.findall(" ".join(quotes)))
    return 2 * sum(word in quoted for word in said) >= len(said)


def _read_otherwise(page: Page, filled: list[str], before: Draft, ours: Draft, theirs: Draft) -> Iterator[tuple[str, str]]:
    """Return what the rules have read of the fields that the model has filled in, where that is something else."""
    old, rules, model = ({each.name: each.value for each in listed(page.fields(draft))} for draft in (before, ours, theirs))
    for name in filled:
        value = rules.get(name, "")
        if value and name in model and name not in ours.assumed and value not in (model[name], old.get(name, "")):
            yield name, value


def _without_row(others: Mapping[str, str], row: str) -> Iterator[tuple[str, str]]:
    """Return what belongs to rows that are left once this one is taken away, by their new numbers."""
    gone = _PLACE.fullmatch(row)
    for name, value in others.items():
        place = _PLACE.fullmatch(name)
        behind = int(place["number"]) - int(gone["number"]) if place and gone and place["table"] == gone["table"] else -1
        if place and behind > 0:
            yield f"{place['table']}[{int(place['number']) - 1}]{place['cell'] or ''}", value
        elif behind < 0:
            yield name, value


async def heard(page: Page, text: str, known: Known | None) -> Draft:
    """Read with the model first, if there is one. Raises `InvalidInputError` for what nobody can read."""
    ours: Draft | None = None
    try:
        ours = await page.read(text, known)
    except InvalidInputError:
        if page.model is None:
            raise
    alone = ours or replace(await page.drafted(known), not_understood=(text,))
    try:
        return await read_first(page, text, known, ours) or alone
    except ModelError as exc:
        aside = f"The model could not be asked, so I went on without it: {exc}."
        return replace(alone, asides=(*alone.asides, aside), failed=exc)

"""Lists, written out as sentences: `Ann: office, no car`, `Ann (office, 4 seats)`, `1. ann, station`; and small names."""

from __future__ import annotations

import re
from typing import Final

from sagagraph.domains.reunion.text.places import names_venue
from sagagraph.language.forms import Forms

_SAYS: Final = Forms(__file__, "lists")
_BULLET: Final = re.compile(r"^[ \t]*(?:[-*•]|\d+[.)])[ \t]+")
_ENTRY: Final = re.compile(r"(?P<label>[^\W\d][\w .&+',-]*?)(?P<mark>:)(?!\d) ?(?P<items>\S.*)")
_LISTED: Final = re.compile(r"(?P<label>[^\W\d][\w .&'-]*?)(?P<mark> - |, | \()(?P<items>\S.*)")
_DASHED: Final = re.compile(r"(?P<label>[^\W\d][\w .&',-]*?)(?P<mark> - )(?P<items>\S.*)")
_AND: Final = re.compile(r"\s*(?:&|\+|,|/)\s*|\s+and\s+")
_SENTENCES: Final = re.compile(r"(?<=[.!?])\s+(?=[A-ZÀ-ÞĀ-Ž])")
_ITEMS: Final = re.compile(r"\s*\),?\s*|\s*,\s*(?:and )?|\s*;\s*|\s+and (?=has\b|needs\b)")


def written_out(text: str) -> str:
    """Write out entries about people and things. What is no list stays as it is."""
    before = text
    text = _SAYS.with_name.sub(lambda found: found["who"] or found["several"], text)
    text = _SAYS.bracketed.sub(lambda each: f". {_told(each['who'], each['items'])}. {each['who'] * (each['and'] == '')}", text)
    text = _SAYS.heading.sub(lambda found: _headed(found["heading"], found["items"]), text)
    lines = text.split("\n")
    units = [each for line in lines for each in ([f"{line}\n"] if _BULLET.match(line) else _SENTENCES.split(f"{line}\n"))]
    entries = [_entry(each) for each in units]
    if any(found and found["mark"] == " - " for found in entries):
        entries = [entries[0], *(_entry(each, is_list=True) for each in units[1:])]
    has_people = any(found and _SAYS.of_people.search(found["items"]) for found in entries)
    told = [_written(each, found, has_people=has_people) for each, found in zip(units, entries, strict=True)]
    names = [name for found in entries if found for name in _small_names(found)]
    out = re.sub(r"\n +", "\n", " ".join(told))
    if len(_SAYS.small_style.findall(before)) > 1:
        forms = (_SAYS.small_kin, _SAYS.small_subject, _SAYS.small_beside)
        found_small = (said for form in forms for found in form.finditer(out) for said in found.groupdict().values() if said)
        names += [name for each in found_small for name in _AND.split(each)]
        out = _SAYS.small_town.sub(lambda found: found[0].title(), out)
        out = re.sub(rf"(?<![\w'])({'|'.join(map(re.escape, names)) or '$'})'?s (?={_SAYS.text('OWNED')}\b)", r"\1's ", out)
    for name in {*names}:
        out = re.sub(rf"(?<![\w'])(?:{re.escape(name)})(?!\w)", name[0].upper() + name[1:], out)
    return out


def _entry(unit: str, *, is_list: bool = False) -> re.Match[str] | None:
    """Match what tells of whom or what it begins with; a comma will do after a bullet, and a dash where there are more."""
    bullet = _BULLET.match(unit)
    text = unit[bullet.end() :].strip() if bullet else unit.strip()
    found = _ENTRY.fullmatch(text) or _DASHED.fullmatch(text) or _LISTED.fullmatch(text)
    if found and not bullet and found["mark"] != ":":
        is_told = found["mark"] == " - " and _SAYS.NAMES.fullmatch(found["label"])
        is_told = is_told and (is_list or _SAYS.of_people.search(found["items"]))
        found = found if is_told else None
    if found is None or (_SAYS.no_items.match(found["items"]) and not _SAYS.of_it.fullmatch(found["items"])):
        return None
    label = found["label"]
    return None if _SAYS.of_a_goal.fullmatch(label) or _SAYS.no_label.search(label) else found


def _small_names(found: re.Match[str]) -> list[str]:
    is_of_people = _SAYS.of_people.search(found["items"]) or not _SAYS.of_things.search(found["items"])
    names = _AND.split(found["label"]) if is_of_people else ()
    return [name for name in names if name.islower() and " " not in name and not _SAYS.STOP_NAME.fullmatch(name)]


def _written(unit: str, found: re.Match[str] | None, *, has_people: bool) -> str:
    items = found["items"] if found else ""
    of_it = _SAYS.of_it.fullmatch(items)  # `Speech: Tom has to print it at the hotel`
    if found is None or not (of_it or has_people or _SAYS.of_people.search(items) or _SAYS.of_things.search(items)):
        return _BULLET.sub("", unit)
    told = f"{of_it['does']} the {found['label']}{of_it['rest']}" if of_it else _told(found["label"], items)
    return f"{told}." + "\n" * unit.endswith("\n")


def _headed(heading: str, items: str) -> str:
    """Write out whom a heading is followed by: `Players without car: Ann in Thun, Bob in Bern`."""
    without = ", has no car" * bool(re.search(r"(?i)\b(?:without|no)\b.* cars?\b", heading))
    without = without or ", drives" * bool(re.search(r"(?i)\b(?:by car|drivers|driving)\b", heading))
    told = [_told(*each.split(", ", 1)) if ", " in each else _SAYS.placed.sub(r"\g<who> is ", each) for each in items.split("; ")]
    if ";" not in items:
        told = [each.strip(" ,") for each in _SAYS.placed.sub(r"\n\g<who> is ", items).split("\n") if each.strip(" ,")]
    return " ".join(f"{each.strip('.')}{without}." for each in told)


def _told(label: str, items: str) -> str:
    """Return what is said of people, or of a thing: a bare noun is where they are."""
    is_thing = bool(_SAYS.of_things.search(items)) and not _SAYS.of_people.search(items)
    called = _SAYS.is_called.fullmatch(f"{label}: {items}")
    if called and not (names_venue(called["who"]) or called["who"].endswith(" Home")):
        label, items = called["who"], called["items"]  # `Best man: Tom, Hotel Post`
    names = " and ".join(each for each in _AND.split(label.strip()) if each)
    names = "I" if names.casefold() == "me" else names
    clauses: list[str] = []
    for item in _ITEMS.split(items.strip(" .,)")):
        clause = f"{_lead(item, clauses, is_thing=is_thing)}{item}"
        clauses.append(_SAYS.lasts.sub("takes ", clause) if is_thing else clause)
    begin = "the " * (is_thing and not _SAYS.determined.match(names)) + names
    return f"{begin} {', '.join(clauses)}"


def _lead(item: str, before: list[str], *, is_thing: bool) -> str:
    """Return the verb that an item lacks: the first bare noun is a place."""
    if is_thing and before:
        return ""
    if _SAYS.as_it_is.match(item):
        return "is at " * (is_thing and not item[0].isalpha())
    if _SAYS.TRANSPORT.fullmatch(item):
        return "comes by "
    if _SAYS.led.match(item):
        return "is "
    if _SAYS.vehicle.match(item) and not item[0].isdigit():
        return "has " if _SAYS.determined.match(item) else "has a "
    return "" if any(each.startswith("is ") for each in before) else "is at "

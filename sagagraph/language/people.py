"""People: how many go along (`two adults and a child`, `my wife and I`), tagged `company` (`Company`)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.language.forms import Forms
from sagagraph.language.numbers import SMALL, Number
from sagagraph.language.passage import Found
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from sagagraph.language.passage import Passage

ADULT_FROM: Final = 12
"""Years of age; whoever is called a child and has no age is under it."""
PEOPLE: Final = {"people": Forms(__file__, "units.people")}
"""Units for `tag_quantities`."""
_SAYS: Final = Forms(__file__, "people", SMALL=SMALL)
_PARTIES: Final = Forms(__file__, "people.parties")


@dataclass(frozen=True, slots=True)
class Company:
    """Party. `count` None: nobody counted them (`with my family`)."""

    count: int | None
    is_more: bool = False
    """They come beside those that were counted before, or, below zero, no longer: `my mum comes too`."""
    children: int = 0
    """Under `ADULT_FROM`, of those that were counted."""
    young: int = 0
    """Sons, daughters and children of whom nobody says who goes with them."""
    has_grown: bool = False
    """A son or daughter goes along who is no child any more."""


def with_ages(text: str) -> str:
    """Write `my daughter (4)` and `my daughter. She's 4` as `my 4 year old daughter`, and count twins and who `are kids`."""
    text = _SAYS.of_them.sub(r" including \g<some> \g<young>", text)
    return _SAYS.aged_kin.sub(r"\g<years> year old \g<kin>\g<between>", _SAYS.twins.sub("two kids", text))


def tag_people(passage: Passage) -> None:
    """Tag parties, after numbers and quantities, including those of `PEOPLE`."""
    passage.text = _SAYS.named.sub(lambda found: f"{found['self']}a friend" if found["self"] else "a friend and ", passage.text)
    passage.text = _SAYS.my_left_out.sub(lambda found: f"{found['me'].removesuffix('the ')}my ", passage.text)
    passage.tag("people", _SAYS.ages, _told_with_ages, "who")
    passage.text = _SAYS.ages.sub(lambda found: found["who"] if _are_ages(Found(passage, found)) else found[0], passage.text)
    passage.tag("people", _SAYS.aged, _aged)
    passage.tag("people", _SAYS.children, _told_by_ages)
    passage.tag("visited", _SAYS.visited, lambda _: Company(None))
    passage.tag("company", _SAYS.leaves, lambda found: Company(None if found["some"] else -_kin_in(found), is_more=True))
    for words in (_SAYS.also_comes, _SAYS.brought):
        passage.tag("company", words, _also_comes)
    for name in _PARTIES:
        passage.tag("company", _PARTIES[name], _company)
    passage.tag("company", _SAYS.uncounted, lambda _: Company(None))


def those_spoken_of(passage: Passage, *, is_we: bool) -> Company:
    """Take whoever is spoken of, with whoever says `we`; who says `I` may speak of people at home, or of one to take along."""
    leads = _SAYS.not_visited if is_we or not passage.has(_SAYS.me) else _SAYS.wished_for
    spoken = passage.take(_SAYS.spoken_of, lambda each: bool(each.led_by(leads)) and not each.followed_by(_SAYS.elsewhere))
    companies = [company for each in {each.said.casefold(): each for each in spoken}.values() if (company := _also_comes(each))]
    count = sum(each.count or 0 for each in companies)
    is_with_me = count == 1 and any(each.led_by(_SAYS.wished_for) and not _SAYS.at_work.search(each.said) for each in spoken)
    return Company(None if is_with_me else count and count + is_we, children=sum(each.children for each in companies))


def _told_by_ages(found: Found) -> Quantity | None:
    """Read `the kids are 6 and 9`."""
    years = _years_in(found)
    grown = sum(age >= ADULT_FROM for age in years)
    return Quantity((Decimal(len(years)),), "other" if grown == len(years) else "child", grown=grown) if years else None


def _told_with_ages(found: Found) -> Quantity | None:
    """Read `three kids (2, 5 and 13)`, of whom two are children."""
    told, people = _told_by_ages(found), found.get("people", Quantity)
    return told if people and told and people.unit == "child" and people.count == told.count else None


def _years_in(found: Found) -> list[int]:
    years = [age for each in found.values(Quantity) if each.unit == "year" for age in each.counts]
    return [*years, *(each.count or 0 for each in found.values(Number))]


def _are_ages(found: Found) -> bool:
    return {each.unit for each in found.values(Quantity)}.isdisjoint((*NIGHTS, "month"))


def _aged(found: Found) -> Quantity | None:
    """Read `a 4 year old`, `two 4 year olds`."""
    years, many = found.get("span", Quantity), found.get("many", Number)
    if years is None or years.unit not in ("year", "month") or years.change:
        return None
    unit = "child" if years.unit == "month" or (years.count or 0) < ADULT_FROM else "grown" if found["young"] else "other"
    return Quantity((Decimal(many.count or 1) if many is not None else Decimal(1),), unit)


def _also_comes(found: Found) -> Company | None:
    people = found.values(Quantity)
    if any(each.count is None or each.change for each in people):
        return None
    if found["others"] and any(each.unit not in ("other", "grown") for each in people):
        return None
    return Company(_kin_in(found) + sum(each.count or 0 for each in people), is_more=True, children=_children_in(found))


def _children_in(found: Found) -> int:
    babies = len(_SAYS.babies.findall(_kin_said(found)))
    return babies + sum((each.count or 0) - (each.grown or 0) for each in found.values(Quantity) if each.unit == "child")


def _kin_in(found: Found) -> int:
    return len(_SAYS.one.findall(_kin_said(found))) + 2 * len(_SAYS.parents.findall(_kin_said(found)))


def _kin_said(found: Found) -> str:
    return " ".join(found[name] for name in ("kin", "kin_too", "kin_last"))


def is_one_of_several(found: Found) -> bool:
    """Tell `one of us` from how many all of them are."""
    return [each.count for each in found.values(Quantity)] == [1] and found.said.lower().endswith("of us")


def _are_grown(found: Found) -> bool:
    """Tell `9 girls`, of whom nobody says that they are children, from those of a family."""
    are_girls = _SAYS.girls.search(found.said) is not None and found.led_by(_SAYS.of_a_family) is None
    counted = [each for each in found.passage.values(Quantity) if each.unit in ("person", "child", "other")]
    return are_girls and len(counted) == 1 and counted[0].grown is None and not found.passage.values(Company)


def _company(found: Found) -> Company | None:
    people = found.values(Quantity)
    if any(each.change for each in people):
        return None
    units = [each.unit for each in people]
    number = found.get("n", Number)
    if number is not None and people:
        return Company(number.count, children=_children_in(found))  # `a family of 4 (two adults, two kids)`
    if found["couple"]:
        return Company(2 + sum(each.count or 0 for each in people) + _kin_in(found), children=_children_in(found))
    is_listed = bool(found["kin"]) and _SAYS.of_somebody.search(found["kin"]) is None  # `we're mum, dad and three kids`
    if units == ["child"] and _are_grown(found):
        return Company(people[0].count, has_grown=True)
    if any(each.count is None for each in people) or (units == ["child"] and not (found["me"] or is_listed)):
        return Company(None, children=_children_in(found), young=(people[0].count or 0) if units == ["child"] else 0)
    if found["children"] and (units[0] != "person" or "person" in units[1:]) and {*units} != {"other"}:
        return None
    if is_one_of_several(found):
        return None
    counts = [(each.count or 0) * (2 if each.unit == "couple" else 1) for each in people]
    is_told_twice = len(counts) > 1 and counts[0] == sum(counts[1:]) and _SAYS.in_all.match(found.said)  # `4 of us, two couples`
    more = (number and number.count) or 0  # `me + 1`
    count = (counts[0] if is_told_twice else sum(counts)) + more + sum(bool(found[name]) for name in ("me", "alone", "doer"))
    if found["me"] and "person" in units and not _kin_in(found):
        return None  # `with 3 people`: whether these are all of them
    grown = "grown" in units or any(each.grown for each in people)
    return Company(count + _kin_in(found), children=_children_in(found), has_grown=grown)

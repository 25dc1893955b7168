"""People: how many go along (`two adults and a child`, `my wife and I`), tagged `company` (`Company`)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.language.numbers import Number
from sagagraph.language.passage import form
from sagagraph.language.quantities import Quantity

if TYPE_CHECKING:
    from sagagraph.language.passage import Found, Passage

PEOPLE: Final = {
    "people": {
        "person": r"(?:people|ppl|persons?|travell?ers?|passengers?|adults?|pax|pers|guests?|tourists?|seats?|tickets?|of us)\b",
        "child": r"(?:children|child|kids?|teen(?:ager)?s?|toddlers?|infants?|bab(?:y|ies)|sons|daughters)\b",
        "other": r"(?:colleagues|others|mates|friends)\b",
        "couple": r"couples\b",
    }
}
"""Units for `tag_quantities`."""
_KIN: Final = (
    r"(?:wife|husband|partner|spouse|fiancée?|girlfriend|boyfriend|friend|mate|buddy|mother|father|mom|mum|dad|sister|brother|son"
    r"|daughter|colleague|cousin|aunt|uncle|grandmother|grandfather|grandma|grandpa|boss)\b"
)
_MY: Final = r"\b(?:my|our|a|one|his|her)"
_AND: Final = r"(?:\s*,\s*(?:(?:and|plus|with) )?|\s*(?:\band\b|\bwith\b|\+|&|\bplus\b)\s*)"
_OUR: Final = r"(?:(?:our|my|the) )?"
_CALLED: Final = r"(?:mum|mom|dad|grandma|grandpa|granny|grandad)\b"
_ONE_OF_KIN: Final = rf"(?:{_MY} {_KIN}|\b{_CALLED})"
_KINS: Final = rf"(?P<kin>{_ONE_OF_KIN}(?:{_AND}{_ONE_OF_KIN})*)"
_KINS_TOO: Final = _KINS.replace("P<kin>", "P<kin_too>")
_ME: Final = r"\b(?:me|i|myself)\b"
_PARENTS: Final = r"(?P<parents>\bmy (?:grand)?parents\b(?!\s*(?:,|and\b)\s*(?:my|our|the)\b))"
_ONES: Final = rf"(?:{_KINS}(?:{_AND}{_OUR}{{people:_}})?|{_PARENTS}|{_OUR}{{people:_}}(?:{_AND}{_KINS_TOO})?)"
_FORMS: Final = (
    form(rf"(?P<me>\bwith\b|{_ME}{_AND}|\bus and\b)\s*{_ONES}"),
    form(rf"{_ONES}{_AND}(?P<me>{_ME})"),
    form(r"\b(?:family|group|party|team|bunch) of {n}"),
    form(rf"{{people:adults}}(?:{_AND}|\s+){{people:children}}"),
    form(r"{people}"),
    form(r"{n}(?: ?x ?|-)(?:person|people)\b"),
    form(r"\b(?:we are|we're|we will be|we'll be|there are|there will be) {n}(?!-?\w)"),
    form(
        r"\bfor {n}(?=\s*(?:[,.;!?)]|$|[^\w\s]|(?:from|to|with|leaving|please|pls|plz|thx|thanks|thank|only|at|under|and|but|by"
        r"|on|if|budget|flying|travell?ing)\b))"
    ),
    form(r"\b(?P<alone>just me|only me|by myself|on my own|(?:travell?ing|going|fly(?:ing)?) alone|solo|alone)\b"),
    form(
        r"\b(?P<couple>(?:as|for|we are|we're) a couple\b(?! (?:of|nights?|days?|weeks?)\b)|both of us\b|(?:us|we) both\b"
        r"|(?:just )?(?:us|we) {n:_})"
    ),
)
_COMES: Final = (
    r"(?: [A-Z][a-z]+)? (?:(?:also|now|all) )*(?:comes?|joins?|(?:is|are|'s|will be) (?:also )?(?:coming"
    r"|joining)|(?:will|would like to|wants? to) (?:come|join)|tags? along)"
)
_BRINGS: Final = r"(?:\b(?:bring|take|invite|add)(?:ing)?|(?<!\bme\s)(?<!\bi\s)(?<!self\s)\bplus) "
_BROUGHT: Final = form(rf"{_BRINGS}(?:{_KINS}(?:{_AND}{_OUR}{{people:_}})?|(?P<parents>\bmy (?:grand)?parents\b))")
_ALSO_COMES: Final = form(
    rf"(?:{_KINS}(?:{_AND}{_OUR}{{people:_}})?|(?P<parents>\bmy (?:grand)?parents\b)|\b(?:my|our) {{people:_}}){_COMES}"
    r"(?: (?:too|along|as well|with (?:me|us)|us|me|also))*\b"
)
_AGES: Final = form(
    rf"(?P<who>{_KIN}|{{people:_}}) ?(?:\(|,? ?aged |,? who (?:is|are) )(?:aged? )?{{n:_}}(?:(?:,| and|, and|/) ?{{n:_}})*"
    r"(?: years?(?: old)?)?\)?"
)
"""How old somebody is does not count people."""
_AGED: Final = form(
    r"(?:(?:{n:many}|an?|one|our|my|the) )?{span} ?-?olds?\b(?: (?:son|daughter|child|kid|boy|girl|toddler|baby)\b)?"
)
_STAYS_HOME: Final = (
    r"(?: (?:can't|cannot|can not|won't|isn't|is not|aren't|are not|doesn't|not)(?: (?:be|want to|make|going to))*"
    r" ?(?:come|coming|join\w*|travel\w*|go|going|it)?| (?:stays?|staying|(?:is|are) staying) (?:at )?home| drops? out| "
    r"cancelled)"
)
_LEAVES: Final = form(
    rf"(?:\b(?:without|minus|not) {_KINS}|{_KINS_TOO}{_STAYS_HOME}|(?P<some>(?:{_MY}|\bthe)? ?\b(?:kids|children|parents"
    rf"|friends)\b){_STAYS_HOME})"
    r"(?: (?:with (?:me|us)|after all|anymore|any more|too|either))*\b"
)
_CHILDREN: Final = form(
    rf"(?:{_MY}|\bthe|\btheir) (?:kids|children|boys|girls|sons|daughters) (?:are|is|=) {{n:_}}(?:(?:,| and|, and|/|&| &) "
    rf"?{{n:_}})+"
)
"""`The kids are 6 and 9`: as many as ages are said."""
_UNCOUNTED: Final = form(
    rf"\b(?:with|and|plus|take|taking|bring(?:ing)?) (?:(?:all|some|a few|several|{_MY[2:]}|the|small|young|whole|entire) )*"
    r"(?:family|friends|group|team|colleagues|mates|(?:grand)?parents|(?:grand)?children|kids|in-laws|others)\b"
    rf"|(?:{_MY}|\bthe) (?:(?:whole|entire) )?(?:family|friends|kids|children) (?:and|comes?|joins?|travels?)\b"
    r"|\b(?:as|for) a (?:family|group|team)\b"
    r"|\bfor (?:(?:my|our|the|all|whole|entire) )+(?:family|friends|group|team|kids|children)\b"
)


@dataclass(frozen=True, slots=True)
class Company:
    """A party. `count` None: nobody counted them (`with my family`)."""

    count: int | None
    is_more: bool = False
    """They come beside those that were counted before, or, below zero, no longer: `my mum comes too`."""


def tag_people(passage: Passage) -> None:
    """Tag parties, after numbers and quantities, including those of `PEOPLE`."""
    passage.text = _AGES.sub(lambda found: found["who"], passage.text)
    passage.tag("people", _AGED, _aged)
    passage.tag("people", _CHILDREN, lambda found: Quantity((Decimal(len(found.values(Number))),), "child"))
    passage.tag("company", _LEAVES, lambda found: Company(None if found["some"] else -_kin_in(found), is_more=True))
    for words in (_ALSO_COMES, _BROUGHT):
        passage.tag("company", words, _also_comes)
    for words in _FORMS:
        passage.tag("company", words, _company)
    passage.tag("company", _UNCOUNTED, lambda _: Company(None))


def _aged(found: Found) -> Quantity | None:
    """`A 4 year old`, `two 4 year olds`."""
    years, many = found.get("span", Quantity), found.get("many", Number)
    if years is None or years.unit != "year" or years.change:
        return None
    return Quantity((Decimal(many.count or 1) if many is not None else Decimal(1),), "child")


def _also_comes(found: Found) -> Company | None:
    people = found.values(Quantity)
    if any(each.count is None or each.change for each in people):
        return None
    kin = _kin_in(found) + (2 if found["parents"] else 0)
    return Company(kin + sum(each.count or 0 for each in people), is_more=True)


def _kin_in(found: Found) -> int:
    return len(re.findall(rf"{_KIN}|{_CALLED}", f"{found['kin']} {found['kin_too']}"))


def _company(found: Found) -> Company | None:
    people = found.values(Quantity)
    if any(each.change for each in people):
        return None
    units = [each.unit for each in people]
    if any(each.count is None for each in people) or (units == ["child"] and not found["me"]):
        return Company(None)
    if found["children"] and units != ["person", "child"]:
        return None
    count = sum((each.count or 0) * (2 if each.unit == "couple" else 1) for each in people)
    if found["me"]:
        count += 1 + _kin_in(found) + (2 if found["parents"] else 0)
        is_everybody = not _kin_in(found) and not found["parents"] and "person" in units
        return None if is_everybody else Company(count)
    if found["alone"]:
        return Company(1)
    if found["couple"]:
        return Company(2)
    number = found.get("n", Number)
    return Company(count + (number.count or 0 if number else 0))

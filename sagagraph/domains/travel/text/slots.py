"""Slots: what a sentence says of a trip besides its route, each read from the words around a tagged value."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.money import LARGEST_BUDGET, PRICE_CURRENCY, money_text
from sagagraph.domains.travel.partial import ANY_DOLLARS, Said
from sagagraph.domains.travel.request import CURRENCIES, FEWEST_STARS, MOST_STARS, By, Direct, Order, rooms_for
from sagagraph.language.forms import Forms
from sagagraph.language.money import Cues, Money
from sagagraph.language.numbers import Number
from sagagraph.language.people import PEOPLE, Company, is_one_of_several, those_spoken_of
from sagagraph.language.places import Place
from sagagraph.language.quantities import UNITS, Quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sagagraph.domains.travel.partial import PartialRequest
    from sagagraph.language.passage import Found, Passage

_SAYS: Final = Forms(__file__, "slots")


# -- words that mean one thing -------------------------------------------------------------------------------------------

_WORDS: Final = Forms(__file__, "slots.words")
_MEANING: Final = {"order": Order, "direct": Direct, "by": By}
_BARE_WISH: Final = "direct preferred 2"
"""`nonstop`: it is not said whether that is a must."""


def read_words(passage: Passage, said: Said, *names: str) -> None:
    """Read words in their order: what is said in more words comes first."""
    for words in _WORDS:
        name, value = words.split()[:2]
        if name in names and passage.take(_WORDS[words]):
            if words == _BARE_WISH and name not in said.fields:
                said.notes.append((name, "where there is one"))
            said.fields.setdefault(name, _MEANING[name](value) if name in _MEANING else value == "true")


# -- money ---------------------------------------------------------------------------------------------------------------

WE: Final = _SAYS.we
CORRECTS: Final = _SAYS.corrects
FILLING: Final = Forms(__file__, "reader").listed("FILLING")
"""Words that mean nothing by themselves."""
CUES: Final = Cues(_SAYS.cue, _SAYS.cue_after)
_MANY: Final = re.compile(r"\s(?P<what>[a-z]{2,}s)\b(?=\s*(?:$|[,.;!?])|\s(?:max|maximum|total|in total|tops)\b)", re.IGNORECASE)
"""Many of something after an amount: of a currency, if the word means nothing else (`600 quatloos`)."""
_NO_RATES: Final = "No rates are known for the currency of {said!r}; how much is it in another one, like USD?"
_THOUSANDS: Final = re.compile(r"\b\d{1,3}(?:\.\d{3})+\b")


def read_budget(passage: Passage, said: Said, known: PartialRequest) -> None:
    """Read the budget; what is said per person is left to the request, which knows how many travel."""
    amounts: list[Money] = []
    notes: list[tuple[str, str]] = []
    taken = passage.take(_SAYS.budget)
    for found in taken:
        money, way = found.get("money", Money), found["way"]
        if money is None:
            continue
        if found.led_by(CORRECTS):
            amounts.clear()
        strange = found.followed_by(_MANY)
        if strange is not None and not money.currencies and strange["what"].casefold() not in FILLING:
            said.ask("budget", _NO_RATES.format(said=f"{money.said}{strange[0]}"))
        elif doubt := _doubt_of(money, is_nightly=bool(found["nightly"]), is_of_hotels=bool(found["hotel"]) and len(taken) == 1):
            said.ask("budget", doubt, otherwise=_in_thousands(money, doubt), because="three digits are thousands")
        elif money.most is not None and not money.change:
            amounts.append(replace(money, amount=money.most, is_range=False))
            notes.append(("budget", "the upper end"))
        elif money.change or (way and not found["cue"].endswith("to")):
            so_far = f"So far it is {money_text(known.budget, known.currency or PRICE_CURRENCY)}. " if known.budget else ""
            said.ask("budget", f"{found.said if way else money.said!r}: {so_far}What may the whole trip cost?")
        else:
            amounts.append(money)
    signed = {(money.amount, money.per) for money in amounts if money.currency}
    amounts = [money for money in amounts if money.currency or (money.amount, money.per) not in signed]
    different = {(money.amount, money.per, money.currency): money for money in amounts}
    named = [f"{amount:,} {currency or ''}".rstrip() for amount, _, currency in different]
    named += ["no limit"] if "no_limit" in said.fields else []
    if len(named) > 1:
        said.ask("budget", f"What may the whole trip cost: {' or '.join(named)}, or their sum?")
    if said.asks("budget"):
        said.fields.pop("no_limit", None)
        return
    said.notes += notes
    for money in different.values():
        said.fields |= {"budget_each" if money.per else "budget": money.amount, "currency": money.currency}
        said.notes += [("currency", ANY_DOLLARS)] if money.currency == "USD" and not _SAYS.american.search(money.said) else []
        if len(money.currencies) > 1:
            said.ask("currency", f"Which currency is meant by {money.said!r}: {' or '.join(money.currencies)}?", money.currencies)


def _in_thousands(money: Money, doubt: str) -> dict[str, str] | None:
    """Read `1.500 €` as thousands, if nothing else about it is in doubt: nobody writes three digits of cents."""
    thousands = _THOUSANDS.search(money.said)
    if thousands is None or not doubt.startswith("How much") or money.is_range or len(money.currencies) > 1:
        return None
    return {"budget_each" if money.per else "budget": thousands[0].replace(".", ""), "currency": money.currency or PRICE_CURRENCY}


def _doubt_of(money: Money, *, is_nightly: bool, is_of_hotels: bool) -> str:
    said = money.said
    if money.currencies and not CURRENCIES & set(money.currencies):
        return _NO_RATES.format(said=said)
    if money.per == "night" or is_nightly:
        return f"{said!r} is for one {'room' if 'room' in said else 'night'}; what may the whole trip cost?"
    if is_of_hotels:
        return f"{said!r} is for hotels; what may the whole trip cost?"
    if money.is_least and money.change:
        return f"{said!r}: what is the most that the whole trip may cost?"
    if (money.is_range and money.most is None) or money.is_least:
        return f"{said!r} is {'a range' if money.is_range else 'the least'}; what is the most that the whole trip may cost?"
    if money.amount is None:
        return f"How much is {said!r}? Please write thousands with a comma and cents with a point."
    if money.amount > LARGEST_BUDGET:
        return f"Is {said!r} meant? The largest budget is {LARGEST_BUDGET:,}."
    return f"A budget is more than nothing, and {said!r} is not; what is it?" if money.amount <= 0 else ""


# -- hotels --------------------------------------------------------------------------------------------------------------

TRIP_UNITS: Final = {**UNITS, **PEOPLE, **{kind: Forms(__file__, f"units.{kind}") for kind in ("stars", "rooms")}}


def tag_stars(passage: Passage) -> None:
    """Tag a bare number after stars: it is one of stars."""
    passage.tag(
        "stars", _SAYS.stars_too, lambda found: Quantity((Decimal(found.values(Number)[-1].count or 0),), "star"), "these"
    )


def read_stars(passage: Passage, said: Said, known: PartialRequest) -> None:
    stays = {stop.city for stop in known.stops}
    passage.take(_SAYS.indifferent, lambda found: (place := found.get("place", Place)) is not None and place.city in stays)
    passage.take(_SAYS.stars_there, lambda found: _stars_there(found, said, known))
    if by_city := _stars_by_city(passage):
        said.stars_in |= by_city
        passage.take(_SAYS.stars)
    there = passage.first(_SAYS.stars_in) if len({place.city for place in passage.values(Place)}) == 1 else None
    ranges: list[tuple[int, int]] = []
    for found in passage.take(_SAYS.stars):
        quantity = found.get("stars", Quantity)
        if quantity and found["up"]:
            quantity = replace(quantity, bound="least")
        stars = _range_of(quantity) if quantity else None
        if quantity and quantity.change:
            said.ask("stars", f"{found.said!r} than what: how many stars do you want?")
        elif found.denial:
            said.ask("stars", f"How many stars do you want, if not {found.said}?")
        elif stars is not None and there is not None and _stars_there(found, said, known, there):
            continue
        elif stars is None:
            said.ask("stars", f"Hotels have 1 to 5 stars; what do you mean by {found.said!r}?")
        else:
            ranges.append(stars)
    fewest = max((each[0] for each in ranges), default=FEWEST_STARS)
    most = min((each[1] for each in ranges), default=MOST_STARS)
    if fewest > most:
        said.ask("stars", "One range of stars holds for all hotels; which one is it?")
    elif ranges and not said.asks("stars") and "stars" not in said.fields:
        said.fields["stars"] = fewest, most


def _stars_by_city(passage: Passage) -> dict[str, tuple[int, int]]:
    """Read different stars, each beside a city of its own."""
    found = passage.find(_SAYS.stars_of_one)
    places = [place for each in found if (place := each.get("there", Place) or each.get("its", Place))]
    ranges = [_range_of(stars) for each in found for stars in each.values(Quantity) if stars.unit == "star" and not stars.change]
    by_city = {place.city: stars for place, stars in zip(places, ranges, strict=False) if place.city and stars}
    is_clear = len(by_city) == len(ranges) == len(passage.find(_SAYS.stars)) and not any(each.denial for each in found)
    return by_city if is_clear and len(set(by_city.values())) > 1 else {}


def _stars_there(found: Found, said: Said, known: PartialRequest, there: Found | None = None) -> bool:
    """Read stars of one city among several; elsewhere, they are stars like any other."""
    quantity = found.get("stars", Quantity)
    place = next((place for name in ("place", "a", "b") if (place := (there or found).get(name, Place)) is not None), None)
    stars = _range_of(quantity) if quantity and not quantity.change else None
    if stars is None or place is None or place.city is None or found.denial:
        return False
    if place.city not in [stop.city for stop in known.stops] or (len(known.stops) == 1 and not found["only"]):
        return False
    cities = {stop.city or "" for stop in known.stops} - {place.city} if found["but"] else {place.city}
    said.stars_in |= dict.fromkeys(cities, stars)
    return True


def _range_of(stars: Quantity) -> tuple[int, int] | None:
    """Return the range, None where no hotel has so many."""
    if not stars.amounts or any(amount != int(amount) for amount in stars.amounts):
        return None
    fewest, most = stars.counts[0], stars.counts[-1]
    fewest, most = (FEWEST_STARS if stars.bound == "most" else fewest), (MOST_STARS if stars.bound == "least" else most)
    return (fewest, most) if FEWEST_STARS <= fewest <= most <= MOST_STARS else None


# -- people and rooms ----------------------------------------------------------------------------------------------------


def read_party(passage: Passage, said: Said, known: PartialRequest, *, is_we: bool) -> None:
    """Read who travels. `is_we`: the sentence speaks of more than one."""
    before, young = known.travellers or 1, known.children or 0
    too = [found.get("rooms", Quantity) for found in passage.take(_SAYS.own_room)]
    kinds: dict[str, int] = {}
    has_own, rooms = False, [(known.rooms or rooms_for(before, young)) + ((each and each.count) or 1) for each in too]
    are_rooms = any("room" in found.said.casefold() or found.said.endswith("s") for found in passage.find(_SAYS.rooms))
    for found in passage.take(_SAYS.rooms, lambda _: are_rooms):  # `a single` alone is a ticket
        quantity = found.get("rooms", Quantity)
        kind = found.said.casefold().partition(" ")[2].removesuffix("s").removesuffix("room")
        has_own = has_own or quantity is None or bool(found["each"])
        if quantity and quantity.change:
            rooms.append((known.rooms or rooms_for(before, young)) + quantity.delta)
        elif quantity and not found["each"] and kind:
            kinds[kind] = quantity.count or 0  # `one double room and one single`
        elif quantity and not found["each"]:
            rooms += quantity.counts or [0]
    rooms += [sum(kinds.values())] if kinds else []
    taken = _each_once(passage.take(_SAYS.company))
    told = [company for found in taken if (company := found.get("company", Company))]
    whole, adults = _number_of(_SAYS.all_of_them, taken), _number_of(_SAYS.adults, taken)
    told = told if whole else _with_their_children(told)
    wholes = [each for each in told if each.count and not each.is_more]
    if wholes and not whole:  # `my wife and I, bringing our daughter`
        before, young = wholes[0].count or 1, wholes[0].children
    companies = [each.count and each.count + (before if each.is_more else 0) for each in told]
    children = [each.children + (young if each.is_more else 0) for each in told]
    for found in passage.take(_SAYS.more_people, lambda found: not is_one_of_several(found)):
        more = found.get("people", Quantity) or Quantity((Decimal(found.values(Number)[0].count or 1),), "person", change="more")
        companies.append(None if more.count is None else before + more.delta)
        children.append(young + (more.delta if more.unit == "child" else 0))
    counts = list(dict.fromkeys(count for count in companies if count is not None))
    if any(each.has_grown for each in told):
        said.notes.append(("children", "who is 12 or older travels as an adult"))
    if any(children):
        said.fields["children"] = max(children)
        said.notes += [("children", "those called children")] if None in companies else []
    is_uncounted = None in companies and not (any(children) and known.travellers)
    if is_uncounted or (not counts and known.travellers is None and known.missing()):
        _ask_how_many(passage, said, known, taken, is_we=is_we)
    elif len(counts) > 1:
        others = sum(each.count or 0 for each in told if each.is_more)
        with_children = adults + max(children) if adults == min(counts) and any(children) else 0  # `our 3 kids. Two adults`
        count = max(counts) if max(counts) in (whole, adults) else with_children or (before + others if others > 0 else 0)
        text = f"How many travel: {' or '.join(map(str, counts))}?"
        said.ask("travellers", text, otherwise={"travellers": count} if count else None, because="the number that was said")
    elif counts and counts[0] < 1:
        said.ask("travellers", "How many travel? At least one has to.")
    elif counts:
        said.fields["travellers"] = counts[0]
        if young:
            said.fields["children"] = max(children)
    if len(set(rooms)) > 1 or min(rooms, default=1) < 1:
        said.ask("rooms", "How many rooms do you need?")
    elif has_own:
        said.fields["rooms"] = said.fields.get("travellers") or known.travellers
    elif rooms:
        said.fields["rooms"] = rooms[0]


def _with_their_children(told: list[Company]) -> list[Company]:
    """Count children beside those who take them along: `my wife and I from Lyon with our baby` are three."""
    parents = next((each for each in told if (each.count or 0) > 1 and not each.children and not each.is_more), None)
    theirs = next((each for each in told if each.children and each.count == 1 + each.children), None)
    if parents is None or theirs is None or parents.count is None:
        return told
    family = replace(theirs, count=parents.count + theirs.children)
    return [family, *(each for each in told if each not in (parents, theirs))]


def _ask_how_many(passage: Passage, said: Said, known: PartialRequest, taken: Sequence[Found], *, is_we: bool) -> None:
    """Ask how many travel; as long as nobody answers, it is those who were spoken of, if all of these are known."""
    told = [company for found in taken if (company := found.get("company", Company))]
    whole, adults = _number_of(_SAYS.all_of_them, taken), _number_of(_SAYS.adults, taken)
    kin, young = those_spoken_of(passage, is_we=is_we), sum(each.young for each in told)
    if not (told or is_we) and kin.count == 0:
        return
    count = whole or (adults or kin.count or bool(young)) + young  # whoever writes takes the children along
    is_known = all(each.young or (each.count or whole) < whole or each.count in (whole, adults) for each in told)
    children = kin.children + sum(each.children for each in told)
    likely = {"travellers": count} | ({"children": children} if children else {})
    text = f"How many of you travel{', all together' * bool(told)}?"
    is_likely = is_known and kin.count is not None and count > young and known.travellers is None
    said.ask("travellers", text, otherwise=likely if is_likely else None, because="those who were spoken of")


def _number_of(words: re.Pattern[str], taken: Sequence[Found]) -> int:
    """Return how many these are, as the company says that is told in these words; 0 if none is."""
    companies = [found.get("company", Company) for found in taken if words.search(found.said)]
    return max((each.count or 0 for each in companies if each), default=0)


def _each_once(taken: list[Found]) -> list[Found]:
    """Leave out children who are counted elsewhere: `with the kids: 2 adults and 2 children (5 and 8)`."""
    told = [(found, company) for found in taken if (company := found.get("company", Company))]
    counted = {each.children for _, each in told if each.count is not None and not each.is_more} - {0}
    again = [found for found, each in told if (each.count is None or each.is_more) and each.children in (0, *counted)]
    return [each for each in taken if len(counted) != 1 or each not in again or not _SAYS.offspring.search(each.said)]

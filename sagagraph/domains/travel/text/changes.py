"""Changes: `one night longer`, `$500 more`, `a week later`, computed from what was said before; where that is unclear, asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sagagraph.domains.travel.money import PRICE_CURRENCY, money_text
from sagagraph.domains.travel.problem import month_window
from sagagraph.domains.travel.text.partial import PartialRequest
from sagagraph.domains.travel.text.slots import FEWEST_STARS, MOST_STARS
from sagagraph.domains.travel.wording import count_text, day_text
from sagagraph.language.money import Money
from sagagraph.language.numbers import Number
from sagagraph.language.passage import form
from sagagraph.language.places import Place
from sagagraph.language.quantities import NIGHTS, Quantity

if TYPE_CHECKING:
    from datetime import date

    from sagagraph.domains.travel.text.partial import PartialStop
    from sagagraph.domains.travel.text.slots import Said
    from sagagraph.language.passage import Found, Passage

_HOW_MUCH: Final = r"(?:{span}|{people}|{rooms}|{stars})"
_WHERE: Final = (
    r"(?P<everywhere>\s*(?:in )?(?:each|both|every|all|everywhere)\b(?: (?:of them|city|stop|place|cities|stops))?)?"
    r"(?:\s*(?:(?:in|at|for|of|to) )?(?:the )?{place})?"
)
_QUANTITY: Final = form(
    r"(?:(?P<lead>\b(?:extend|lengthen|prolong|shorten|reduce|cut|increase)(?:e?d|ing)?\b[^.,;]{0,40}?\bby"
    r"|\b(?:add|remove|drop|skip|take off|knock off|cut)) )?"
    + _HOW_MUCH
    + _WHERE
)
_BARE: Final = form(r"{n} (?P<way>more|less|fewer|longer|shorter)(?= (?:in|at) {place:_})" + _WHERE)
_PLUS_ONE: Final = form(r"\bplus[- ]{n}(?! ?[^\W\d])")
_PLACE_BEFORE: Final = form(r"{place}(?:\s|\b(?:for|stay|by|make|it|should|be|a|get|gets)\b)*$")
_LESS: Final = ("shorten", "reduce", "cut", "remove", "drop", "skip", "take off", "knock off")
_MOVED: Final = form(
    r"(?:\b(?P<way>postpone|delay|push(?: \w+){0,2} back|push|bring(?: \w+){0,2} forward)(?:e?d)?\b[^.,;\d]{0,30}?(?:\bby )?)?{span}"
)
_COMING_BACK: Final = form(r"\b(?:back|return\w*|home)\b[^.,;]*$")
_MONEY: Final = form(
    r"(?:\b(?P<way>rais(?:e|ing)|increas(?:e|ing)|up|add|lower(?:ing)?|reduc(?:e|ing)|cut|decreas(?:e|ing)) "
    r"(?:(?:the|my|our|that|it) )?(?:(?:total|whole) )?(?:(?:budget|limit|price|it) )?(?P<by>by ))?{money}"
    r"(?P<to>\s*(?:to|on) (?:the |my |our )?(?:budget|limit|price))?"
)
_BARE_MONEY: Final = form(r"{n} (?P<way>more|extra|less|on top)\b(?! (?:than|or|of|per|each|a|in|at)\b)")


@dataclass(frozen=True)
class NightsChange:
    by: int
    said: str
    city: str | None = None
    """None: not said where."""
    is_everywhere: bool = False


def read_changes(passage: Passage, said: Said, known: PartialRequest, today: date) -> list[NightsChange]:
    """Without anything that was said before there is nothing to change. Nights are for `with_changed_nights`."""
    if known == PartialRequest():
        return []
    nights: list[NightsChange] = []
    passage.take(_MONEY, lambda found: _money(found, said, known))
    passage.take(_BARE_MONEY, lambda found: _bare_money(found, said, known))
    passage.take(_MOVED, lambda found: _moved(found, nights, said, known, today))
    passage.take(_QUANTITY, lambda found: _counted(found, nights, said, known))
    passage.take(_BARE, lambda found: _bare(found, nights, known))
    if passage.take(_PLUS_ONE):
        _party_or_stars(Quantity((), "person"), 1, "plus one", said, known)
    return nights


# -- nights, people, rooms, stars ----------------------------------------------------------------------------------------


def _counted(found: Found, nights: list[NightsChange], said: Said, known: PartialRequest) -> bool:
    kinds = ("span", "people", "rooms", "stars")
    quantity = next((value for kind in kinds if (value := found.get(kind, Quantity)) is not None), None)
    if quantity is None or quantity.count is None or quantity.change in ("later", "earlier"):
        return False
    lead = found["lead"]
    if not (lead or quantity.change or quantity.is_another) or quantity.bound:
        return False
    by = -quantity.count if quantity.change == "less" or lead.startswith(_LESS) else quantity.count
    if quantity.unit not in NIGHTS:
        return not found["place"] and _party_or_stars(quantity, by, found.said, said, known)
    return _nights(found, by * NIGHTS[quantity.unit], nights, known)


def _bare(found: Found, nights: list[NightsChange], known: PartialRequest) -> bool:
    number = found.get("n", Number)
    if number is None or number.count is None:
        return False
    return _nights(found, number.count if found["way"] in ("more", "longer") else -number.count, nights, known)


def _nights(found: Found, by: int, nights: list[NightsChange], known: PartialRequest) -> bool:
    """Not where it is about a stop that there is not: `two more nights in Rome` then says how long to stay there."""
    before = found.led_by(_PLACE_BEFORE)
    place = found.get("place", Place) or (found.passage.values(Place, before[0])[0] if before else None)
    if (place is not None and all(stop.city != place.city for stop in known.stops)) or not known.stops:
        return False
    said = found.said if place is None else found.said.removesuffix(place.said).rstrip().removesuffix(" in")
    nights.append(NightsChange(by, said, place.city if place else None, bool(found["everywhere"])))
    return True


def _party_or_stars(quantity: Quantity, by: int, words: str, said: Said, known: PartialRequest) -> bool:
    if quantity.unit == "star":
        if known.stars is None or known.stars == (FEWEST_STARS, MOST_STARS):
            said.ask("stars", f"{words!r} than what: how many stars do you want?")
            return True
        fewest, most = known.stars[0] + by, min(known.stars[1] + by, MOST_STARS)
        if FEWEST_STARS <= fewest <= most:
            said.fields["stars"] = (fewest, most)
        else:
            said.ask("stars", f"Hotels have 1 to 5 stars; how many are meant by {words!r}?")
        return True
    travellers = known.travellers or 1
    name, before = ("rooms", known.rooms or -(-travellers // 2)) if quantity.unit == "room" else ("travellers", travellers)
    if before + by < 1:
        said.ask(name, f"How many {name} are there? {words!r} leaves none.")
    else:
        said.fields[name] = before + by
    return True


def with_changed_nights(stops: tuple[PartialStop, ...], changes: list[NightsChange], said: Said) -> tuple[PartialStop, ...]:
    for change in changes:
        meant = [n for n, stop in enumerate(stops) if change.is_everywhere or change.city in (stop.city, None)]
        if len(meant) > 1 and not change.is_everywhere:
            how = f"{count_text(abs(change.by), 'night')} {'more' if change.by > 0 else 'less'}"
            names = list(dict.fromkeys(stops[n].city or stops[n].said for n in meant))
            candidates = tuple(f"{how} in {name}" for name in names)
            said.ask("stops", f"{change.said!r}: where, in {' or '.join(names)}?", candidates)
            continue
        for n in meant:
            nights = stops[n].nights
            if nights is not None and nights + change.by < 1:
                text = f"{change.said!r} leaves no night in {stops[n].city}: how many nights do you want to stay there?"
                said.ask(f"stops[{n}].nights", text)
            elif nights is not None:
                stops = (*stops[:n], stops[n].lasting(nights + change.by), *stops[n + 1 :])
    return stops


# -- days ----------------------------------------------------------------------------------------------------------------


def _moved(found: Found, nights: list[NightsChange], said: Said, known: PartialRequest, today: date) -> bool:
    """A journey back that is later means nights, a trip that is later means other days."""
    span, way = found.get("span", Quantity), found["way"]
    is_moved = span is not None and (span.change in ("later", "earlier") or way)
    if span is None or not is_moved or span.count is None or (known.depart is None and known.first is None and known.last is None):
        return False
    by = -span.count if span.change == "earlier" or way.startswith("bring") else span.count
    before = found.match.string[: found.start]
    if _COMING_BACK.search(before) and span.unit in NIGHTS and known.stops:
        words = f"{count_text(span.count, 'night')} {'longer' if by > 0 else 'less'}"
        nights.append(NightsChange(by * NIGHTS[span.unit], words))
        return True
    days = _moved_days(known, by, span.unit)
    first = days and (days["depart"] or days["first"])
    if days is None:
        said.ask("window", f"{found.said!r}: between which days, or leaving on which day, do you want to travel?")
    elif first is not None and first < today:
        said.ask("window", f"When do you want to travel? {day_text(first)} is in the past.")
    else:
        said.fields |= {name: day for name, day in days.items() if day is not None}
    return True


def _moved_days(known: PartialRequest, by: int, unit: str) -> dict[str, date | None] | None:
    """None: a month in which any day would do does not say which week is meant by a week later."""
    from dateutil.relativedelta import relativedelta  # noqa: PLC0415 - of the extra that reads dates

    first, last = known.first, known.last
    month = month_window(first.year, first.month) if first else None
    is_whole_month = month is not None and (first, last) == (month.first, month.last)
    if unit in NIGHTS:
        if is_whole_month and known.depart is None:
            return None
        shift = relativedelta(days=by * NIGHTS[unit])
    else:
        shift = relativedelta(months=by) if unit == "month" else relativedelta(years=by)
    days = {name: day and day + shift for name, day in (("first", first), ("last", last), ("depart", known.depart))}
    if is_whole_month and unit in NIGHTS:
        return days | {"first": None, "last": None}
    if is_whole_month and days["first"]:
        moved = month_window(days["first"].year, days["first"].month)
        return days | {"first": moved.first, "last": moved.last}
    return days


# -- money ---------------------------------------------------------------------------------------------------------------


def _money(found: Found, said: Said, known: PartialRequest) -> bool:
    money, way = found.get("money", Money), found["way"]
    if money is None or not (money.change or (way and (found["by"] or found["to"]))) or money.per or money.is_least:
        return False
    is_less = money.change == "less" or way.startswith(("lower", "reduc", "cut", "decreas"))
    return _changed_budget(money, found.said, said, known, is_less=is_less)


def _bare_money(found: Found, said: Said, known: PartialRequest) -> bool:
    """`500 more` may speak of the budget; `2 more` of anything."""
    number = found.get("n", Number)
    if number is None or number.value is None or number.value < 100 or known.budget is None:
        return False
    return _changed_budget(Money(number.value, (), found.said), found.said, said, known, is_less=found["way"] == "less")


def _changed_budget(money: Money, words: str, said: Said, known: PartialRequest, *, is_less: bool) -> bool:
    before, held = known.budget, known.currency or PRICE_CURRENCY
    if before is None or money.amount is None or money.currencies not in ((), (held,)) or known.budget_each is not None:
        now = f"So far it is {money_text(before, held)}. " if before is not None else ""
        said.ask("budget", f"{words!r}: {now}What may the whole trip cost?")
        return True
    budget = before - money.amount if is_less else before + money.amount
    if budget <= 0:
        said.ask("budget", f"{words!r} leaves nothing of {money_text(before, held)}; what may the whole trip cost?")
    else:
        said.fields["budget"] = budget
    return True

"""Slots: what a sentence says of a trip besides its route, each read from the words around a tagged value."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any, Final

from sagagraph.domains.travel.problem import CURRENCIES, NIGHT_ENDS, Direct, Hours, JourneyHours, Order
from sagagraph.domains.travel.problem import Weekday as DayOfTheWeek
from sagagraph.domains.travel.text.partial import Question
from sagagraph.domains.travel.wording import day_text
from sagagraph.language.calendar import Expression, Holiday, NoSuchDateError, RoughMonth, Weekday, resolved, upcoming
from sagagraph.language.clock import Clock
from sagagraph.language.money import Cues, Money
from sagagraph.language.numbers import Number
from sagagraph.language.passage import form
from sagagraph.language.people import PEOPLE, Company
from sagagraph.language.quantities import UNITS, Quantity

if TYPE_CHECKING:
    import re
    from decimal import Decimal

    from sagagraph.domains.travel.text.partial import PartialRequest
    from sagagraph.language.passage import Found, Passage


@dataclass
class Said:
    """What is understood of a sentence: fields of a `PartialRequest`, and what has to be asked."""

    fields: dict[str, Any] = field(default_factory=dict)
    doubts: list[Question] = field(default_factory=list)

    def ask(self, about: str, text: str, candidates: tuple[str, ...] = ()) -> None:
        """One question about each field."""
        if all(doubt.field != about for doubt in self.doubts):
            self.doubts.append(Question(field=about, text=text, candidates=candidates))


# -- words that mean one thing -------------------------------------------------------------------------------------------

_NOT: Final = r"(?:does ?n[o']?t|do ?n[o']?t|does not|do not)"
_OF_THEM: Final = r"(?:of (?:the )?(?:stops|cities|visits|places|them) )?"
_DIRECT: Final = r"(?:direct|non[- ]?stop)(?:[- ](?:flights?|connections?|only|routes?))*"
_STOPS: Final = r"(?:stops?|stopovers?|layovers?|connections?|chang(?:es?|ing)(?: planes?)?|transfers?)"
_NO_STOPS: Final = rf"(?:no|without(?: any)?|zero) {_STOPS}(?! (?:in|at|over)\b)"
_POSSIBLE: Final = (
    r"(?:when(?:ever)?|where(?:ver)?|if|as (?:far|much) as) (?:at all )?(?:it'?s |they are |that'?s )?"
    r"(?:possible|available|you can|can be)"
)
_WISHED: Final = rf"(?:prefer(?:ably|red|ring|s)?|ideally|{_POSSIBLE}|rather|would like|i'?d like|nice to have)"
_MUST: Final = r"(?:only|must be|must have|strictly|just|ha(?:s|ve) to be|need|insist on|nothing but)"
_FEW: Final = r"[\w ,:]{0,20}?"
_WORDS: Final[tuple[tuple[str, Any, re.Pattern[str]], ...]] = tuple(
    (name, value, form(words))
    for name, value, words in (
        (
            "order",
            Order.ANY,
            r"\b(?:visit(?:ed|ing)? (?:them )?)?(?:in )?"
            r"(?:(?:any|whatever|whichever|no (?:particular|special|fixed|set)) (?:other )?order|the (?:best|cheapest|easiest) order)\b"
            r"(?: (?:that )?(?:you (?:like|want|prefer)|(?:works|suits|fits|is)(?: (?:you|best|out|fine|cheapest|easiest|possible))*"
            r"|makes (?:most )?sense|will do))?"
            rf"|\b(?:the )?order {_OF_THEM}(?:{_NOT} (?:really )?matter|(?:is )?"
            r"(?:not (?:important|fixed)|unimportant|irrelevant|flexible|free|open|up to you))\b"
            rf"|\b(?:i|we) {_NOT} (?:really )?(?:care|mind) (?:about |in )?(?:the |what |which )?order\b|\bregardless of (?:the )?order\b",
        ),
        (
            "order",
            Order.GIVEN,
            r"\bin (?:exactly |just )?(?:that|this|the given) order\b|\bkeep (?:to )?(?:the|that|this) order\b",
        ),
        (
            "direct",
            Direct.ANY,
            rf"{_STOPS} (?:are |is )?(?:ok(?:ay)?|fine|no problem|allowed|welcome)|(?:don'?t|do not) mind {_STOPS}"
            r"|(?:direct|non[- ]?stop)[\w ]{0,15} (?:not (?:needed|necessary|required|important)|unnecessary)"
            r"|(?:needn'?t|doesn'?t have to|don'?t have to|not necessarily) (?:be )?(?:direct|non[- ]?stop)",
        ),
        (
            "direct",
            Direct.PREFERRED,
            rf"(?:{_DIRECT}|{_NO_STOPS}){_FEW}\b(?:{_POSSIBLE}|preferred|preferably|ideally)|{_WISHED}{_FEW}(?:{_DIRECT}|{_NO_STOPS})",
        ),
        (
            "direct",
            Direct.REQUIRED,
            rf"{_MUST} (?:be )?(?:a )?{_DIRECT}|{_DIRECT} (?:only|required|(?:is|are) a must)|(?:direct|non[- ]?stop)[- ]only|{_NO_STOPS}",
        ),
        ("direct", Direct.PREFERRED, rf"\b{_DIRECT}\b"),
        (
            "no_limit",
            True,
            r"\b(?:no|without(?: an?| any)?) (?:budget(?: limit)?|(?:price |upper )?limit)\b|\bunlimited(?: budget)?\b"
            r"|\bmoney(?: is)? no object\b|\bwhatever it costs\b",
        ),
        (
            "one_way",
            True,
            r"\bone[- ]?way\b|\bsingle tickets?\b|\b(?:no|without (?:a )?) ?return\b|\bno way back\b|\bwon't (?:return|come back)\b"
            r"|\bnot (?:coming|going|flying) back\b|\bnot returning\b",
        ),
        (
            "one_way",
            False,
            r"\b(?:round[- ]?trip|return (?:trip|flights?|tickets?|journey))\b"
            r"|\band (?:(?:then )?(?:fly |go )?)(?:back|return)(?: (?:home|again))?(?=\s*(?:[,.;!?)]|$|(?:on|by|with|for)\b))",
        ),
    )
)
"""In their order: what is said in more words comes first."""
EVENLY: Final = form(r"\b(?:evenly|equally|even split|half and half|fifty[- ]fifty|{n:_}[/-]{n:_})(?=\s*(?:[.,!]|$))")


def read_words(passage: Passage, said: Said) -> None:
    for name, value, words in _WORDS:
        if passage.take(words):
            said.fields.setdefault(name, value)


# -- money ---------------------------------------------------------------------------------------------------------------

_LIMIT: Final = r"budget|max(?:imum)?|at most|up to|under|below|less than|(?:no|not) more than|within|limit|spend|costs?|costing|capped"
_CUE: Final = rf"\b(?:{_LIMIT})(?:\s*(?:of|is|:|=|at|to|about|around|roughly|a|max(?:imum)?|at most|up to|under|(?:no|not) more than|total))*\s*"
_CUE_AFTER: Final = r"\s*(?:as )?(?:(?:a|my|our|the|total|maximum|max) )*(?:budget|max(?:imum)?|limit)\b"
CUES: Final = Cues(form(f"{_CUE}$"), form(_CUE_AFTER))
_BUDGET: Final = form(
    rf"(?P<nightly>\b(?:per|a|each|every) (?:night|day)\s*:? |\bnightly (?:\w+ )?)?(?:{_CUE})?{{money}}"
    rf"(?:\s*(?:in total|total|altogether|overall|all in|in all|all included|for everything)\b|{_CUE_AFTER})*"
)
LARGEST_BUDGET: Final = 1_000_000_000


def read_budget(passage: Passage, said: Said) -> None:
    """What is said per person is left to the request, which knows how many travel."""
    amounts: list[tuple[Money, str | None]] = []
    for found in passage.take(_BUDGET):
        money = found.get("money", Money)
        if money is None:
            continue
        doubt = _doubt_of(money, is_nightly=bool(found["nightly"]))
        if doubt:
            said.ask("budget", doubt)
        else:
            amounts.append((money, money.currencies[0] if len(money.currencies) == 1 else None))
    signed = {(money.amount, money.per) for money, currency in amounts if currency is not None}
    different = list(dict.fromkeys((m.amount, m.per, c) for m, c in amounts if c or (m.amount, m.per) not in signed))
    named = [f"{amount:,} {currency or ''}".rstrip() for amount, _, currency in different]
    named += ["no limit"] if "no_limit" in said.fields else []
    if len(named) > 1:
        said.ask("budget", f"What may the whole trip cost: {' or '.join(named)}, or their sum?")
    if any(doubt.field == "budget" for doubt in said.doubts):
        said.fields.pop("no_limit", None)
    elif different:
        amount, per, currency = different[0]
        said.fields |= {"budget_each" if per else "budget": amount, "currency": currency}
        unclear = next((money for money, _ in amounts if len(money.currencies) > 1), None)
        if unclear is not None:
            said.ask("currency", f"Which currency is meant by {unclear.said!r}: {' or '.join(unclear.currencies)}?")


def _doubt_of(money: Money, *, is_nightly: bool) -> str:
    said = money.said
    if money.currencies and not CURRENCIES & set(money.currencies):
        return f"No rates are known for {money.currencies[0]}; how much is {said!r} in another currency, like USD?"
    if money.per == "night" or is_nightly:
        return f"{said!r} is for one night; what may the whole trip cost?"
    if money.is_range or money.is_least:
        return f"{said!r} is {'a range' if money.is_range else 'the least'}; what is the most that the whole trip may cost?"
    if money.amount is None:
        return f"How much is {said!r}? Please write thousands with a comma and cents with a point."
    if money.amount > LARGEST_BUDGET:
        return f"Is {said!r} meant? The largest budget is {LARGEST_BUDGET:,}."
    return f"A budget is more than nothing, and {said!r} is not; what is it?" if money.amount <= 0 else ""


# -- hotels --------------------------------------------------------------------------------------------------------------

TRIP_UNITS: Final = {
    **UNITS,
    **PEOPLE,
    "stars": {"star": r"(?:stars?(?:[- ]?rated)?\b|\*(?!\d)|★)"},
    "rooms": {"room": r"(?:(?:double|single|twin|separate|hotel|family|shared|standard) )*rooms?\b"},
}
FEWEST_STARS: Final = 1
MOST_STARS: Final = 5
_STARS: Final = form(r"(?:(?P<denied>\b(?:not|no|never|except|avoid(?:ing)?)(?: (?:an?|in))* ))?(?P<stars>{stars:q}(?: hotels?)?)")
_DRAWN: Final = form(r"★{2,}|\*{2,}")
_LUXURY: Final = form(r"\bluxur(?:y|ious)\b")
_MODERATE: Final = form(r"\bmoderate(?:ly[- ]priced)?\b|\bmid(?:dle)?[- ]?(?:range|priced?)\b")


def read_stars(passage: Passage, said: Said) -> None:
    ranges: list[tuple[int, int]] = []
    for found in passage.take(_DRAWN):
        ranges.append((len(found.said), len(found.said)))
    for found in passage.take(_STARS):
        quantity = found.get("q", Quantity)
        stars = _range_of(quantity) if quantity else None
        if found["denied"]:
            said.ask("stars", f"How many stars do you want, if not {found['stars']}?")
        elif stars is None:
            said.ask("stars", f"Hotels have 1 to 5 stars; what do you mean by {found.passage.said(found.match['stars'])!r}?")
        else:
            ranges.append(stars)
    for words, stars in ((_LUXURY, (5, 5)), (_MODERATE, (3, 4))):
        if passage.take(words) and not ranges:
            ranges.append(stars)
    if len(set(ranges)) > 1:
        said.ask("stars", "One range of stars holds for all hotels; which one is it?")
    elif ranges and all(doubt.field != "stars" for doubt in said.doubts):
        said.fields["stars"] = ranges[0]


def _range_of(stars: Quantity) -> tuple[int, int] | None:
    """None where no hotel has so many."""
    if not stars.amounts or any(amount != int(amount) for amount in stars.amounts):
        return None
    fewest, most = stars.counts[0], stars.counts[-1]
    fewest, most = (FEWEST_STARS if stars.bound == "most" else fewest), (MOST_STARS if stars.bound == "least" else most)
    return (fewest, most) if FEWEST_STARS <= fewest <= most <= MOST_STARS else None


# -- people and rooms ----------------------------------------------------------------------------------------------------

_COMPANY: Final = form(r"{company}")
_ROOMS: Final = form(r"{rooms}(?P<each> each\b)?|\b(?P<own>separate|own|individual|single) rooms\b|\bown room each\b")
_WE: Final = form(
    r"(?<!can\s)(?<!could\s)(?<!shall\s)(?<!should\s)(?<!on\s)\b(?:we|us|our)\b(?! ?\$)"
    r"(?! (?:hotels?|rooms?|flights?|planes?|trains?|bookings?|reservations?|trips?|stays?|plans?|airline)\b"
    r"[^.,;]{0,20}\b(?:cancel|overbook|fell|fall))"
)


def read_party(passage: Passage, said: Said, known: PartialRequest, *, is_we: bool) -> None:
    """`is_we`: the sentence speaks of more than one."""
    has_own, rooms = False, []
    for found in passage.take(_ROOMS):
        quantity = found.get("rooms", Quantity)
        has_own = has_own or quantity is None or bool(found["each"])
        rooms += [] if quantity is None or found["each"] else quantity.counts
    companies = [company.count for found in passage.take(_COMPANY) if (company := found.get("company", Company))]
    counts = list(dict.fromkeys(count for count in companies if count is not None))
    if None in companies:
        said.ask("travellers", "How many of you travel, all together?")
    elif len(counts) > 1:
        said.ask("travellers", f"How many travel: {' or '.join(map(str, counts))}?")
    elif counts and counts[0] < 1:
        said.ask("travellers", "How many travel? At least one has to.")
    elif counts:
        said.fields["travellers"] = counts[0]
    elif is_we and known.travellers is None:
        said.ask("travellers", "How many of you travel?")
    if len(set(rooms)) > 1 or 0 in rooms:
        said.ask("rooms", "How many rooms do you need?")
    elif has_own:
        said.fields["rooms"] = said.fields.get("travellers") or known.travellers
    elif rooms:
        said.fields["rooms"] = rooms[0]


def is_we(passage: Passage) -> bool:
    return passage.has(_WE)


# -- hours and weekdays --------------------------------------------------------------------------------------------------

_RELATION: Final = (
    r"\b(?:(?P<not>not|no|never) )?(?P<relation>(?:any )?earlier than|(?:any )?later than|before|after|by|until|till|from|since"
    r"|earliest(?: at)?|latest(?: at)?|around|about|at) (?:about |around )?"
)
_TIME: Final = form(
    rf"{_RELATION}{{time}}(?P<later>\s*(?:or later|onwards?|at the earliest|earliest))?"
    r"(?P<earlier>\s*(?:or earlier|at the latest|latest))?"
)
_BARE: Final = form(
    r"\b(?:no|not|never) (?:any )?(?P<what>flights?|trains?|departures?|arrivals?|landings?|leaving|departing|arriving|landing) "
    r"(?P<relation>before|after|earlier than|later than) {n}(?! ?[:./])"
)
_BETWEEN: Final = form(r"\b(?:(?:only )?between|from) {time:first}\s*(?:and|to|until|till|-)\s*{time:last}")
_VAGUE: Final = form(
    r"\b(?:no|not|without|avoid(?:ing)?|never|nothing|hate|don't (?:want|like)(?: to)?) (?:[\w']+ ){0,3}?"
    r"(?:(?:too |very |so |super )?(?:early|late)(?:[ -](?:morning|evening|night))?(?: (?:flights?|departures?|starts?|arrivals?|trains?))?"
    r"|red[- ]?eyes?(?: flights?)?|(?:overnight|night) (?:flights?|trains?))(?!\w)"
    r"|\b(?:(?:early )?morning|evening|afternoon|daytime|night|overnight|red[- ]?eye) (?:flights?|departures?|trains?)(?: only)?\b"
)
_LEAVING: Final = form(
    r"\b(?:leav\w*|depart\w*|flights?|fly\w*|set(?:ting)? off|take[- ]?offs?|start\w*|trains?|out the door|go(?:ing)?)\b"
)
_COMING: Final = form(
    r"\b(?:arriv\w*|land(?:s|ings?)?|get(?:ting)? (?:in|there|home|back)|be (?:there|back|home|in )|back|home|reach\w*|return\w*)"
)
_NEVER: Final = form(r"\b(?:no|not|never|nothing|without|avoid\w*|don't|do not|won't|can't|cannot|rather not)\b")
_CLAUSE_ENDS: Final = form(r"[.;!?,]|\b(?:and|but)\b")
_BEFORE: Final = ("before", "earlier", "by", "until", "till", "latest")
_AFTER: Final = ("after", "later", "from", "since", "earliest")


def read_hours(passage: Passage, said: Said) -> None:
    """Only what is surely a time of day: `after 8 June` is none."""
    limits: dict[str, dict[str, time]] = {"depart": {}, "arrive": {}}
    for words, read in ((_BETWEEN, _read_between), (_BARE, _read_bare), (_TIME, _read_time), (_VAGUE, _no_limits)):
        for found in passage.take(words):
            read_limits = read(found)
            for what, limit, moment in read_limits or ():
                is_night = limit == "latest" and moment < NIGHT_ENDS
                if is_night or limits[what].setdefault(limit, moment) != moment:
                    _ask_hours(said, found)
            if not read_limits:
                _ask_hours(said, found)
    if (limits["depart"] or limits["arrive"]) and all(doubt.field != "hours" for doubt in said.doubts):
        try:
            said.fields["hours"] = JourneyHours(depart=Hours(**limits["depart"]), arrive=Hours(**limits["arrive"]))
        except ValueError:
            said.ask("hours", "Between which hours do you want to leave and arrive?")


_Limits = tuple[tuple[str, str, time], ...]


def _ask_hours(said: Said, found: Found) -> None:
    said.ask("hours", f"{found.said!r}: at what hour do you want to leave at the earliest, and arrive at the latest?")


def _no_limits(_: Found) -> _Limits:
    return ()


def _read_between(found: Found) -> _Limits:
    first, last = (_clock(found.get(name, Clock)) for name in ("first", "last"))
    if first is None or last is None:
        return ()
    what = _subject(found)
    earliest = ("arrive" if what == "arrive" else "depart", "earliest", first)
    return earliest, ("depart" if what == "depart" else "arrive", "latest", last)


def _read_time(found: Found) -> _Limits:
    moment, relation = _clock(found.get("time", Clock)), found["relation"]
    is_before, is_after = (any(word in relation for word in words) for words in (_BEFORE, _AFTER))
    if found["later"] or found["earlier"]:
        is_before, is_after = bool(found["earlier"]), bool(found["later"])
    elif found["not"] or _NEVER.search(_clause_before(found)):
        is_before, is_after = is_after, is_before
    what = _subject(found) or ("depart" if is_after else "arrive" if relation in ("by", "until", "till") else None)
    if moment is None or what is None or not (is_before or is_after):
        return ()
    return ((what, "earliest" if is_after else "latest", moment),)


def _read_bare(found: Found) -> _Limits:
    """`no flights before 9` is meant in the morning; nine what, is asked for otherwise."""
    number = found.get("n", Number)
    hour = number.count if number and number.count is not None else 24
    is_earliest = found["relation"] in ("before", "earlier than")
    if hour > 23 or (hour <= 12 and not (is_earliest and 4 <= hour <= 11)):
        return ()
    return (("arrive" if _COMING.search(found["what"]) else "depart", "earliest" if is_earliest else "latest", time(hour)),)


def _clock(clock: Clock | None) -> time | None:
    """None: no clock shows it, or it can be in the morning or in the evening."""
    if clock is None or clock.minutes is None:
        return None
    return time(23, 59) if clock.hour == 24 else time(clock.hour, clock.minute)


def _subject(found: Found) -> str | None:
    """What the words before a time speak of, or else those right after it."""
    clause = _clause_before(found)
    coming, leaving = (max((each.end() for each in words.finditer(clause)), default=0) for words in (_COMING, _LEAVING))
    if coming or leaving:
        return "arrive" if coming >= leaving else "depart"
    following = found.match.string[found.end : found.end + 15].split(",")[0].strip()
    return "arrive" if _COMING.match(following) else "depart" if _LEAVING.match(following) else None


def _clause_before(found: Found) -> str:
    return _CLAUSE_ENDS.split(found.match.string[max(0, found.start - 60) : found.start])[-1]


_NOT_THEN: Final = (
    r"\b(?:not|no|never|nothing|avoid(?:ing)?|except|without|other than|(?:don't|do not|won't|will not|can't|cannot|would rather not"
    r"|rather not|hate to)(?: (?:want|like|wish)(?: to)?)?)"
    r"(?: (?:any|to|be|flights?|fly(?:ing)?|travel(?:l?ing)?|leav(?:e|ing)|depart(?:ing|ures?)?|arriv(?:e|ing|als?)|trains?"
    r"|journeys?|go(?:ing)?|or)){0,4}"
)
_SOME_DAYS: Final = r"(?P<days>{weekday:_}(?:\s*(?:,|/|&|or|and|nor)+\s*(?:on )?(?:an? )?{weekday:_})*)"
_NOT_ON: Final = (
    form(rf"{_SOME_DAYS} (?:is|are) (?:out|no good|off limits|impossible|not possible|bad)\b"),
    form(rf"{_NOT_THEN} (?:on )?(?:an? |the )?{_SOME_DAYS}"),
)
_NO_WEEKENDS: Final = form(
    rf"{_NOT_THEN} (?:(?:on|at|over|during) )?(?:(?:a|the) )?weekends?\b|\b(?:only (?:on )?weekdays|(?:on )?weekdays only)\b"
)


def read_weekdays(passage: Passage, said: Said) -> None:
    """Those on which nobody wants to travel."""
    avoided = {5, 6} if passage.take(_NO_WEEKENDS) else set()
    for words in _NOT_ON:
        avoided |= {day.number for found in passage.take(words) for day in found.values(Weekday, "days")}
    if len(avoided) == len(DayOfTheWeek):
        said.ask("not_on", "On which weekdays do you not want to travel? One has to be left.")
    elif avoided:
        said.fields["not_on"] = tuple(day for number, day in enumerate(DayOfTheWeek) if number in avoided)


# -- dates ---------------------------------------------------------------------------------------------------------------

_THE: Final = r"(?:the )?$"
_DATE: Final = form(
    r"(?:\b(?:in|on|from|between|by|until|till|before|after|during|at|of|for|through|any ?time|around|about) (?:the )?)?{date}"
    r"(?P<later>\s*(?:or later|onwards?|at the earliest)\b)?(?P<latest>\s*at the latest\b)?"
)
_ONLY_DATE: Final = form(r"{date}")
_HOLIDAY: Final = form(r"{holiday}")
_WEEKDAY: Final = form(r"(?:\b(?P<which>this coming|this|coming|next|on) )?{weekday}")
_MONTH_BY: Final = form(r"\b(?:back|return(?:ing)?|home) (?:by|before the end of) $")
_BEFORE_DATE: Final = form(rf"\bbefore {_THE}")
_RATHER: Final = form(r"\b(?:rather than|instead of|and not|but not) (?:(?:in|on|the) )*$")
_DENIED: Final = form(
    r"\b(?:not|never|except|excluding|avoid(?:ing)?|(?:anything|any ?time|everything) but|but not) "
    r"(?:(?:for|in|on|at|during|the|of) )*$"
)
_LEAVE: Final = form(r"\b(?:leav(?:e|es|ing)|depart(?:s|ing|ure)?|set(?:ting)? off)(?: \w+){0,2} ?(?:between|from|on)?\s*$")
_BACK: Final = form(
    r"\b(?:return(?:ing|s)?|back|home|ending|ends?|finish(?:ing)?)\b(?: (?:to|in|at|home|{place:_})){0,4} ?(?:on|by|until)? ?"
    + _THE
)
_ASKED: Final = form(
    rf"\b(?:(?:arriv(?:e|es|ing|al)|land(?:s|ing)?|check(?:ing)?[- ]in)(?: \w+){{0,2}} ?|(?:around|about|roughly|approximately|circa) ){_THE}"
)
_FROM: Final = form(rf"\b(?:from|not before|(?:no|not) earlier than|earliest|since|as of) {_THE}")
_BY: Final = form(rf"\b(?:by|until|till|(?:no|not) later than|at the latest|latest|through|up to) {_THE}")
_AFTER_DATE: Final = form(rf"\bafter {_THE}")
_ONE_DAY: Final = timedelta(days=1)


@dataclass
class _Dates:
    windows: list[tuple[date, date]] = field(default_factory=list)
    months: list[tuple[date, date]] = field(default_factory=list)
    firsts: list[date] = field(default_factory=list)
    lasts: list[date] = field(default_factory=list)
    departs: list[date] = field(default_factory=list)


def read_dates(passage: Passage, said: Said, today: date, known: PartialRequest) -> None:
    """Years that are left out are the next that fit; what does not fit together is asked about."""
    dates, doubts = _Dates(), Said()
    expressions = passage.values(Expression)
    found_dates = passage.find(_ONLY_DATE)
    for found in found_dates:
        if len(found_dates) > 1 and found.led_by(_RATHER):
            continue
        if denied := found.led_by(_DENIED):
            text = f"When do you want to travel, if {passage.said(denied[0] + found.match[0]).strip()}?"
            doubts.ask("window", text)
            continue
        _collect(dates, doubts, found, expressions, today)
    passage.take(_DATE)
    _read_weekday(passage, dates, doubts, today, known)
    holidays = [holiday for found in passage.take(_HOLIDAY) if (holiday := found.get("holiday", Holiday))]
    if holidays and not (expressions or dates.departs):
        doubts.ask("window", _about(holidays[0]))
    _conclude(dates, doubts, said)


def _collect(dates: _Dates, doubts: Said, found: Found, expressions: list[Expression], today: date) -> None:
    expression = found.get("date", Expression)
    if expression is None:
        return
    try:
        first, last = resolved(expression, expressions, today)
    except NoSuchDateError as exc:
        doubts.ask("depart" if expression.is_day else "window", f"When do you want to travel? {str(exc)[:1].upper()}{str(exc)[1:]}.")
        return
    if expression.last is not None:
        if found.led_by(_LEAVE):
            doubts.ask("depart", f"On which day between {day_text(first)} and {day_text(last)} do you leave?")
        else:
            dates.windows.append((first, last))
    elif isinstance(expression.first, RoughMonth):
        if found.led_by(_MONTH_BY):
            dates.lasts.append(last)
        elif found.led_by(_BEFORE_DATE):
            dates.lasts.append(first - _ONE_DAY)
        else:
            dates.months.append((first, last))
    elif found.led_by(_ASKED):
        doubts.ask("depart", f"On which day do you leave, if not on {day_text(first)} itself?")
    else:
        _collect_day(dates, found, first)


_LATER: Final = form(r"\s*(?:or later|onwards?|at the earliest)\b")
_LATEST: Final = form(r"\s*at the latest\b")


def _collect_day(dates: _Dates, found: Found, day: date) -> None:
    if found.led_by(_FROM) or found.followed_by(_LATER):
        dates.firsts.append(day)
    elif found.led_by(_BEFORE_DATE):
        dates.lasts.append(day - _ONE_DAY)
    elif found.led_by(_BY) or found.led_by(_BACK) or found.followed_by(_LATEST):
        dates.lasts.append(day)
    elif found.led_by(_AFTER_DATE):
        dates.firsts.append(day + _ONE_DAY)
    else:
        dates.departs.append(day)


def _read_weekday(passage: Passage, dates: _Dates, doubts: Said, today: date, known: PartialRequest) -> None:
    """`this Friday` is the first that comes; `next Friday` may be that one or the one after it."""
    earliest, latest = known.first or known.depart, known.last
    for found in passage.take(_WEEKDAY):
        weekday, which = found.get("weekday", Weekday), found["which"]
        if weekday is None:
            continue
        first = upcoming(weekday, today)
        is_apart = (earliest is not None and first < earliest) or (latest is not None and first > latest)
        if not which or found.said.lower().endswith("s"):
            if not dates.departs and not doubts.doubts:
                named = passage.said(found.match[0]).split()[-1]
                doubts.ask("depart", f"On which date do you leave? {named} alone is not understood yet.")
        elif is_apart or found.led_by(_BACK):
            doubts.ask("depart", f"Which date is meant by {found.said!r}?")
        elif which == "next":
            days = f"{day_text(first)} or {day_text(first + timedelta(days=7))}"
            doubts.ask("depart", f"Which day is meant by {found.said!r}: {days}?")
        else:
            dates.departs.append(first)


def _about(holiday: Holiday) -> str:
    if holiday.first is None or holiday.last is None:
        return f"{holiday.name.capitalize()}: in which month, or between which days?"
    days = f"{day_text(holiday.first)} to {day_text(holiday.last)}"
    return f"{holiday.name.capitalize()} is {days}; between which days do you want to travel?"


def _conclude(dates: _Dates, doubts: Said, said: Said) -> None:
    """What was collected, put together; where it does not fit together, nothing but the question."""
    months, windows, departs = (list(dict.fromkeys(each)) for each in (dates.months, dates.windows, dates.departs))
    if len(months) > 1:
        doubts.ask("window", f"In which month: {' or '.join(f'{first:%B %Y}' for first, _ in months)}?")
    if len(windows) > 1:
        named = " or ".join(f"{day_text(first)} to {day_text(last)}" for first, last in windows)
        doubts.ask("window", f"Between which days: {named}?")
    if len(departs) > 1:
        doubts.ask("depart", f"On which day do you leave: {' or '.join(map(day_text, departs))}?")
    spans = [*windows, *months]
    first = max((*(span[0] for span in spans), *dates.firsts), default=None)
    last = min((*(span[1] for span in spans), *dates.lasts), default=None)
    depart = departs[0] if departs else None
    if first is not None and last is not None and first > last:
        doubts.ask("window", f"Between which days? {day_text(first)} comes after {day_text(last)}.")
    elif depart is not None and not (first or depart) <= depart <= (last or depart):
        named = f"{day_text(depart)} is not between {day_text(first or depart)} and {day_text(last or depart)}"
        doubts.ask("depart", f"On which day do you leave? {named}.")
    if doubts.doubts:
        said.doubts.append(doubts.doubts[0])
    else:
        said.fields |= {"first": first, "last": last, "depart": depart}

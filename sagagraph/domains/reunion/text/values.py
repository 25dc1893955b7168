"""Values: the people, places, cars, seats and times that a sentence names, tagged before anybody asks what it says of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sagagraph.domains.reunion.text.facts import TELLER
from sagagraph.domains.reunion.text.lists import written_out
from sagagraph.language.clock import AFTERNOON_UP_TO, DAY, Clock, on_the_clock, tag_clock, tag_clock_digits
from sagagraph.language.forms import Forms
from sagagraph.language.numbers import Number, tag_numbers
from sagagraph.language.passage import Found, Passage
from sagagraph.language.utterance.shorthand import in_full, spelled

_SAYS: Final = Forms(__file__, "values")
_SENTENCE_END: Final = re.compile(r"[!?\n]+|\.(?=\s|$)")
_AN_HOUR: Final = (
    r"(\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon|"
    r"(?:(?:half|quarter) (?:past|to) )?(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))\b(?! minutes)"
)
_AN_HOUR_OF_A_HALF: Final = r"(?<![\d:.])((?:0?[1-9]|1[0-2])(?:[:.][0-5]\d)?)(?: o'?clock)?"
_ON_A_DAY: Final = r",? ?\b(?:on |(?:on )?(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?,? (?:the )?)"
_SO_LONG: Final = r"((?:about |around |roughly )?(?:[\w.]+ ){1,2}?(?:min(?:ute)?s?|hours?|hrs?)(?: and a half)?)"
_WRITTEN: Final = (
    (r"(?<=\w) \+ (?=[A-Z])", " and "),
    (r"\b([A-Z]\w+)'s (?:house|home|place|flat) is (?=in |on |at )", r"\1 is "),
    (
        rf"(?i)\b(?:please )?(?:plan|allow|schedule|reckon|count)(?: in| with| on)? {_SO_LONG} for (\w+ing [^,.;]+)",
        r"\2 takes \1",
    ),
    (
        rf"(?i)\bit(?: will|'ll)? takes? (?:us )?{_SO_LONG} to (\w+(?: up| out)? (?:the|our|my|his|her) [^,.;]+)",
        r"somebody must \2, which takes \1",
    ),
    (r"\b(St|M[rs]{0,2}|Dr|Prof|Fr|Rev)\.(?= [A-Z]| (?:and|&) M)", r"\1"),
    (r" @ ", " at "),
    (r"(?i)\b12(?: o'clock)? noon\b", "noon"),
    (r"(?i)\bthe ((?-i:[A-Z])\w+|car|van) is mine\b", r"I have the \1"),
    (r"\b([A-Z]\w+), that(?:'s| is) ([A-Z]\w+),", r"\1 \2"),
    (r"\b(at|to|from) ([A-Z]\w+) and ([A-Z]\w+)'s\b", r"\1 \2 & \3's"),
    (r"(?i)\b(?:a )?quarter to(?=\s*(?:[.,;!?\n]|$))", "15 minutes earlier"),
    (r"(?i)\b(five|ten|twenty) to(?=\s*(?:[.,;!?\n]|$))", r"\1 minutes earlier"),
    (r"(?i)\bby (?=(?:the|our) (?:lake|river|sea|canal|pool|pond|beach|harbou?r|fountain|gate|entrance|bridge)\b)", "at "),
    (
        r"(^|[.!?;\n] )([A-Z]\w+), (?:my|our|the) (?!(?:car|van)\b)[a-z]+(?: [a-z]+)?, (?=(?:can|will|and|[a-z]{2,}s)\b)",
        r"\1\2 ",
    ),
    (r"(?i)\b(is|are) by (?=the |(?-i:[A-Z]))", r"\1 at "),
    (r"(^|[.!?] )Our (?=[A-Z]\w+(?:'s| is) (?:at|in|on|home|coming))", r"\1"),
    (r"(^|[.!?\n] )(?:The |Our )?\w+(?: \w+)? is ([A-Z]\w+)[,.;] [Ss]?[Hh]e(?:'s| is) ", r"\1\2 is "),
    (r"(?i)\breach(?:es|ing)? (?=the )", "arrives at "),
    (r"(?i)\b(?:still|also) (?=(?:has|have|needs?|must)\b)", ""),
    (r"\b([A-Z]\w+)'s (?:\w+ )?[a-z]+ (at [^,.;\n]+?) (?:ends|finishes|is over)(?: at)? (?=\d)", r"\1 is \2 until "),
    (r"(?i)\bmy (?:\w+ )?[a-z]+ (at [^,.;\n]+?) (?:ends|finishes|is over)(?: at)? (?=\d)", r"I am \1 until "),
    (  # `the cake that we ordered must`, `the suit I am wearing has to`
        r"(?i)\b((?:the|my|our|his|her|their) (?:[a-z-]+ )?(?!that|which)[a-z-]+) (?:that |which )?"
        r"(?:I|we|s?he|they|(?:my|our) [a-z]+|(?-i:[A-Z])\w+)(?:'ve|'s|'re|'m)? (?:(?:have|has|had|am|are|is|was|were) )?"
        r"(?:[a-z]{2,}(?:ed|ing)|bought|made|got|lent|sent|left|want)(?: (?:him|her|them|us|me))?(?: for (?:the |my )?\w+)? "
        r"(?=must |ha(?:s|ve) to |needs? (?:to )?|(?:is|are) (?:waiting|ready) )",
        r"\1 ",
    ),
    (r"(?i)\b(?:we|i)(?:'ve| have)? ordered ((?:(?:an?|the|some) )?[a-z ]+?) (?=from |at )", r"\1 must be picked up "),
    (
        r"(?i)\b(?:stop|swing|pop|run)(?:s|ping)? (?:by|at|into|to) ([^,.;\n]+?) for (?:the |some )?(?!an? )"
        r"((?:(?-i:[A-Z])\w+'s )?[a-z]+(?: [a-z]+)?)",
        r"fetch \2 at \1",
    ),
    (r"(?i)\bone can (?=get|pick|fetch|collect|buy)", "somebody can "),
    (r"(?i)(?<!every )(?<!each )(?<!only )\bone (?:of (?:us|you|them)|person)\b", "somebody"),
    (
        r"(?i)\b(?:I|we)(?:'d| would)? (?:also )?(?:like|want) (some(?:one|body)|(?-i:[A-Z])\w+) to "
        r"(?=(?:pick up|fetch|collect|get) the )",
        r"\1 must ",
    ),
    (
        r"(?i)\b(my|our|his|her|their|(?-i:[A-Z])\w+'s) (car|van)(?:'s| is) "
        r"(?:in|at) the (?:shop|garage|workshop|mechanic's?)\b",
        r"\1 \2 is broken",
    ),
    (
        r"(?i)\b((?:train|bus|coach|plane|ferry|ICE|on (?-i:[A-Z])\w+)(?: from \w+)?), (?:arrival )?(?!arr|gets|lands|at |and )"
        r"((?:[\w-]+ ){0,2}(?:station|airport|terminal|stop|hauptbahnhof))(?: at)? (?=\d)",
        r"\1, arrives at \2 at ",
    ),
    (r", (?:and )?([A-Z]\w+) (?:too|as well)(?=[.,;\n]|$)", r", \1 is at the same place"),
    (r"(?i)(^|[.;,!?\n] )me and ((?:my \w+ )?(?-i:[A-Z])\w+)\b", r"\1\2 and I"),
    (r"(?i)\b(?:two|three|four|some) of (?:my|our|his|her|their) [a-z]+s,? ((?-i:[A-Z])\w+ and (?-i:[A-Z])\w+),?", r"\1"),
    (r"(?i)\bfor (?=half (?!an?\b)\w+)", "by "),
    (r"\bin to\b", "into"),
    (r"(?i)\bstay and watch\b", "watch"),
    (rf"(?i){_AN_HOUR_OF_A_HALF} (?:in the|this) morning\b", r"\1 am"),
    (rf"(?i){_AN_HOUR_OF_A_HALF} (?:(?:in the|this) (?:afternoon|evening)|tonight)\b", r"\1 pm"),
    (r"(?i)\b(before|until) (?:it|they) (?:closes?|shuts?)(?: at)? (?=\d|noon|half)", r"\1 "),
    (r"\bMr (?:and|&) Mrs (?=([A-Z]\w+))", r"Mr \1 and Mrs "),
    (rf"(?i){_ON_A_DAY}\d{{1,2}}\.[01]?\d(?:\.(?:20\d\d)?(?!\s+(?-i:[A-Z])|\d)|(?=\.\s))", ""),
    (rf"(?i){_ON_A_DAY}\d{{1,2}}/\d{{1,2}}(?:/\d{{2,4}})?\b", ""),
    (r"(?i)\b(arriv(?:es?|ing)|(?-i:l)ands?|landing|reach(?:es|ing)?) (?=(?-i:[A-ZÀ-ÞĀ-Ž]))", r"\1 at "),
    (r"(?i)\b(a|one|two|three|four) and (?:a )?half hours?", r"\1 hours and a half"),
    (r"\b([apAP])\.\s?[mM]\.(?=\s+[A-Z])", r"\1m."),
    (r"(?i)\b([ap])\.\s?m\.?(?=\W|$)", r"\1m"),
    (r"\bI \(([A-Z]\w+)\)", r"I am \1. I"),
    (r"\b[Ss]?[Hh]e \(([A-Z]\w+)\)", r"\1"),
    (r"\s*[()],?\s*", ", "),
    (
        r"(?i)\b((?:the|our|my) (?:\w+ )?(?:van|car|bus|minibus|truck)(?:, [^,.]*,)?) (?:is|will be) driven by (?-i:([A-Z]\w+))",
        r"\2 drives \1",
    ),
    (
        r"(?im)(?:^[ \t]*|(?<=[.!?:] ))(?:the )?(?:venue|where|place|location|site|address|restaurant|meet"
        r"|meeting (?:point|place)|when|(?:call )?time|start|arrive by|(?:gig|show|match)(?=: ))(?:: | is )(?:at )?",
        "we meet at ",
    ),
    (r"'s got\b", " has"),
    (rf"(?i)\bbetween {_AN_HOUR} and {_AN_HOUR}", r"after \1, before \2"),
    (rf"(?i)\b(?:(open(?:ing hours)?:? )(?:from )?|from ){_AN_HOUR} ?(?:to|till|until|-) ?{_AN_HOUR}", r"\1from \2 until \3"),
    (r"(?i)\b(\d{1,2}) ?h(?:ours?|rs?)? ([0-5]\d)\b(?! ?m)", r"\1h\2"),
    (r"(?i)\bthree quarters of an hour\b", "45 minutes"),
    (r"(?i)\b(?:a )?quarter of an hour\b", "15 minutes"),
    (r"(?<![\d.,$€£])(\d{1,2})\.([0-5]\d)(?![\d%]|\.\d| ?(?:hours?|hrs?|km|miles?)\b)", r"\1:\2"),
    (
        r"(?i)((?:^|[.;,!?-] )(?:(?:the|my|our) )?(?:[a-z]+ )?[a-z]+)'s "
        r"(?=(?:(?:at|in|on) (?:the|our|my)|ready|being|at (?-i:[A-Z][\w-]*))[ ,.])",
        r"\1 is ",
    ),
    (
        r"(?i)\balso there\b(?!'s| is| are)|\bthere (?:as well|too)\b"
        r"|(?:\bat home|(?<=\bis)|(?<=\bare)) with (?:him|her|them)\b(?! [a-z])",
        " at the same place",
    ),
    (r"(^|[,.;] |\b(?:and|but) )([A-Z]\w+)'s home\b", r"\1\2 is home"),
    (
        r"(?i)\b(?!(?:we|i)\b)((?-i:[A-Z][\w-]+)|s?he|they|and|who) "
        r"(?:(?:is|(?<!and )are)(?: coming| going)?|comes|goes|(?<!and )will (?:be|come|go)) "
        r"(?:along )?in my (?:\w+ )?(?:car|van)\b",
        r"\1 needs a lift, I drive my car",
    ),
    (r"\b([A-Z]\w+) (?:says|said|tells me|told me|thinks)(?: that)? s?he(?:(?='s| )|'(?:d|ll)(?= ))", r"\1"),
)
"""One way of writing for each that is common: lists, and short forms of verbs."""
_SHORT: Final = {"re": "are", "ve": "have", "d": "will", "ll": "will", "s": "is"}
_TWO: Final = ("parents", "grandparents", "in-laws")
_HALVES: Final = (
    ("parents", "Mum|Mom|Mother|Mama", "Dad|Father|Papa"),
    ("grandparents", "Grandma|Granny|Nan|Grandmother", "Grandpa|Grandad|Grandfather"),
)
_NIGHT: Final = 4 * 60
"""Before it nobody means a bare hour of the morning."""
UP_TO: Final = ("by", "before", "until", "till")
_LATER: Final = {
    "no later than": "by",
    "not later than": "by",
    "not after": "by",
    "no earlier than": "from",
    "not earlier than": "from",
}


@dataclass(frozen=True, slots=True)
class When:
    """A time: `minutes` since midnight. `how`: the word before it, `at` if none. `is_bare`: of either half of the day."""

    how: str
    minutes: int
    is_bare: bool = False

    def before(self, latest: int | None) -> int:
        """Return the minutes: if it is of either half of the day, of the one that is nearer to what comes after it."""
        if latest is None or not self.is_bare:
            return self.minutes
        halves = [each for each in (self.minutes % (DAY // 2), self.minutes % (DAY // 2) + DAY // 2) if _NIGHT <= each <= latest]
        return max(halves, default=self.minutes)


@dataclass(frozen=True, slots=True)
class Who:
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class People:
    """People of a text. `children` do not drive because there is a car; `household`: of whoever tells; `pronouns`: by name."""

    known: frozenset[str]
    children: frozenset[str]
    household: frozenset[str]
    pronouns: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Spot:
    """A place. `how`: the word before it."""

    how: str
    name: str


@dataclass(frozen=True, slots=True)
class Seats:
    count: int


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    whose: tuple[str, ...]


def sentences(text: str) -> list[str]:
    text = re.sub(r"\b[A-Z]\w+,? \(?that(?:'s| is) me\b\)?,?", "I", text)  # `Akela, that's me`
    text = re.sub(r"(?i)\bwe \([a-z ]+\)", "we", text)
    text = re.sub(r"(?<=[a-z] )r(?= [a-z])", "are", spelled(in_full(text)))  # `jen and tyler r at the beach`
    text = written_out(text.replace("’", "'").replace("–", "-").replace("—", ", "))
    for written, instead in _WRITTEN:
        text = re.sub(written, instead, text)
    text = _SAYS.short.sub(lambda found: f"{found['who']} {_SHORT[found['verb'].lower()]}", text)
    text = _one_by_one(text)
    text = _SAYS.of_kin.sub(lambda found: _called_by_name(found, text), text)
    return [stripped for each in _SENTENCE_END.split(text) if (stripped := each.strip(" ,."))]


def _one_by_one(text: str) -> str:
    """Return a text in which parents of whom one is also spoken of alone are two people: `my parents come, Dad drives`."""
    for both, *halves in _HALVES:
        alone = [
            re.search(rf"\b(?<!his )(?<!her )(?<!their )(?:{half})\b(?!'s (?:{half}|parents))", text, re.IGNORECASE)
            for half in halves
        ]
        if any(alone):
            names = (found[0].title() if found else half.split("|")[0] for found, half in zip(alone, halves, strict=True))
            text = re.sub(rf"(?i)\b(?:my|our) {both}\b(?! ?'|-|,? (?-i:[A-ZÀ-ÞĀ-Ž]))", " and ".join(names), text)
    return text


def _called_by_name(found: re.Match[str], text: str) -> str:
    """Return whom kin without a name means, if it has one elsewhere: `my grandmother Ruth`."""
    two = "(?: and [A-ZÀ-ÞĀ-Ž][\\w-]+)" if found["kin"].endswith("s") else ""
    kin = rf"(?i:\b(?:my|our) {found['kin']},?) ([A-ZÀ-ÞĀ-Ž][\w-]+{two})(?!'s\b|[\w-])"
    names = {*re.findall(kin, text)}
    return names.pop() if len(names) == 1 else found[0]


def tagged(sentence: str) -> Passage:
    """Tag times of day as `when`, and durations as `lasting`."""
    passage = Passage.of(on_the_clock(sentence))
    tag_clock_digits(passage)
    tag_numbers(passage)
    tag_clock(passage)
    passage.tag("when", _SAYS.time, lambda found: _when(found, found.get("time", Clock)))
    passage.tag("when", _SAYS.bare_hour, _at_an_hour)
    return passage


def _at_an_hour(found: Found) -> When | None:
    number = found.get("n", Number)
    return None if number is None or number.count is None else _when(found, Clock(number.count, is_exact=False))


def _when(found: Found, clock: Clock | None) -> When | None:
    if clock is None:
        return None
    is_bare = 1 <= clock.hour <= 12 and not _SAYS.of_a_half.search(found.said)
    hour = clock.hour + 12 if is_bare and clock.hour <= AFTERNOON_UP_TO else clock.hour
    minutes = hour * 60 + clock.minute
    how = _LATER.get(found["how"], found["how"]) or "at"
    is_last_midnight = minutes == DAY and how not in UP_TO
    return When(how, 0 if is_last_midnight else minutes, is_bare) if minutes <= DAY else None


def valued(sentence: str, known: frozenset[str]) -> Passage:
    """Tag also places as `spot`, events, seats, and people as `who`. `known`: people of whom somebody has spoken."""
    passage = tagged(sentence)
    for words in (_SAYS.day, _SAYS.instead):
        passage.take(words)
    passage.text = passage.text.strip(" ,.")
    passage.tag("seats", _SAYS.seats, lambda found: _seats(found))
    passage.tag("spot", _SAYS.spot, _spot)
    passage.tag("spot", _SAYS.spots, _one_of_two)
    passage.tag("event", _SAYS.event, lambda found: _event(found, known))
    passage.tag("who", _SAYS.people, lambda found: _who(found, known))
    passage.text = _SAYS.is_short.sub(lambda found: found[0].rstrip()[:-2] + " is ", passage.text)
    return passage


def _seats(found: Found) -> Seats | None:
    """Read how many fit in, the driver included: `room for two more` is three."""
    number = next((each for name in ("one", "other", "third", "fourth", "bare") if (each := found.get(name, Number))), None)
    if found["bare"] and not found.led_by(_SAYS.with_car):
        return None
    takes_them = found.led_by(_SAYS.takers) and not found.followed_by(_SAYS.with_driver)  # `she can take four`
    is_beside = found["more"] or found["riders"] or found["free"] or found["left"] or takes_them
    return Seats(number.count + bool(is_beside)) if number and number.count else None


def _spot(found: Found) -> Spot | None:
    name = found.passage.said(found.match["name"] or found.match["home"]).strip()
    how = "from" if found["how"].startswith(("leav", "out of", "done", "finish")) else found["how"] or "at"
    how = "at" if how in ("outside", "opposite", "in front of") else how
    if how == "in" and _SAYS.in_a_car.fullmatch(name) and (name[:2] in ("a ", "an") or found.led_by(_SAYS.by_car)):
        return None  # `in Ann's Volvo`
    if how == "from" and _SAYS.of_a_half.fullmatch(name.split()[-1]):
        return None  # `from the afternoon on`
    if how == "on" and found.led_by(_SAYS.arriving):
        return None  # `arriving on Amtrak`
    return None if _SAYS.no_spot.search(name) and how != "from" else Spot(how, name)


def _event(found: Found, known: frozenset[str]) -> Event | None:
    whose = found.match["whose"] or ""
    is_of_work = bool(names_in(found.said.rpartition("'s ")[2], known))  # `Ann working night`
    return None if is_of_work else Event(found.said, names_in(whose))


def _one_of_two(found: Found) -> Spot | None:
    """Take `in the inn Zur Linde at Oberdorf` for one place."""
    place, town = found.get("a", Spot), found.get("b", Spot)
    if place and town and (place.how, town.how) == ("in", "at") and place.name[0].isupper():
        place, town = Spot("at", town.name), Spot("in", place.name)  # `in Newton at Golda Meir House`
    if place and town and _SAYS.activity.search(place.name) and town.how in ("at", "in") and town.name[0].islower():
        return town  # `at home in her cottage`, `at football practice on the field`
    if place is None or town is None or not {place.how, town.how} <= {"at", "in", "on"} or not town.name[0].isupper():
        return None
    return Spot(place.how, f"{place.name} {town.how} {town.name}")


def _who(found: Found, known: frozenset[str]) -> Who | None:
    """Read names. Kin is somebody; any other word with a capital only if it is known to be."""
    names = names_in(found.said, known)
    return Who(names) if names else None


def people_in(said: list[str]) -> People:
    """Return those of whom something is said that is only said of people, or who are named together with them."""
    known: set[str] = set()
    for each in said:
        passage = tagged(each)
        passage.tag("spot", _SAYS.spot, lambda found: None if found["how"].startswith(("leav", "finish")) else _spot(found))
        known |= {name for found in _SAYS.is_fetched.finditer(each) for name in names_in(found["who"])}
        begun = [found for found in passage.find(_SAYS.is_somebody) if _tells_of_somebody(found)]
        for found in begun:
            known |= {*names_in(found.match["own"] or found.said)}
        for too in _SAYS.is_too.finditer(passage.text, begun[0].end) if begun else ():
            known |= {*names_in(passage.said(too["somebody"]))}
    of_kin, at_home = (
        frozenset(name for each in said for found in form.finditer(each) for name in names_in(found["who"]))
        for form in (_SAYS.children, _SAYS.household)
    )
    genders = ((_name(found[0]), _SAYS.gender.search(found[0])) for each in said for found in _SAYS.name.finditer(each))
    return People(frozenset(known), of_kin, at_home, {name: each.lastgroup or "" for name, each in genders if each})


def _tells_of_somebody(found: Found) -> bool:
    text = found.passage.text
    is_several = not found.match["titled"] and _SAYS.SEVERAL.match(text, found.start)
    is_several = is_several or (found.start == 0 and _SAYS.of_shop.match(text))
    return not is_several and not _SAYS.no_name.fullmatch(found.said.split()[0].strip(","))


def strays_in(said: list[str]) -> list[str]:
    """Return words with a capital that may be somebody or something, whoever reads them."""
    return [word for each in said for found in _SAYS.stray.finditer(each) for word in found[0].removesuffix("'s").split("-")]


def names_in(text: str, known: frozenset[str] | None = None) -> tuple[str, ...]:
    """Return names, of kin and those that are `known`: `Alex and my mother` are Alex and Mother, `my sister Emily` is Emily."""
    found = ((_name(each[0]), bool(_SAYS.kin.match(each[0]))) for each in _SAYS.name.finditer(text))
    names = (name for name, is_kin in found if known is None or is_kin or name in known)
    two = ((name,) if name.casefold() not in _TWO else (f"{name[:-1]} 1", f"{name[:-1]} 2") for name in names)
    return tuple(dict.fromkeys(name for each in two for name in each))


def _name(said: str) -> str:
    if said.casefold() in ("i", "me", "myself"):
        return TELLER
    called = _SAYS.called.search(re.sub(r"(?<=\w)[ -]in[ -]law\b", "-in-law", said))
    name = called[0] if called else said.split()[-1]
    return name[0].upper() + name[1:]

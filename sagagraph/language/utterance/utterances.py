"""Utterances: what somebody means by what they say, before anybody does anything about it.

A text is taken apart into utterances, and each is one of the kinds below. Whatever is unclear gets the kind that does less: a
question rather than news, praise rather than a decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from sagagraph.errors import InvalidInputError
from sagagraph.language.utterance.decisions import Act, decision_in, is_small_talk
from sagagraph.language.utterance.shorthand import in_full, spelled


class Kind(StrEnum):
    """What an utterance is for. Only `WISH`, `NEWS` and `DECISION` can change anything."""

    QUESTION = "question"
    HYPOTHETICAL = "hypothetical"
    """A change to be tried on a copy."""
    WISH = "wish"
    NEWS = "news"
    HEARSAY = "hearsay"
    """News that is denied, feared, of another time or of other people."""
    DECISION = "decision"
    SMALL_TALK = "small talk"


@dataclass(frozen=True, slots=True)
class Utterance:
    """`text`: as it was written; of a polite request or a hypothetical, the wish in it."""

    kind: Kind
    text: str
    act: Act | None = None
    place: int = 0
    """Of a choice: which one, from 1."""
    said: str = ""
    """The whole of it, where `text` is a part."""


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{text})", re.IGNORECASE)


# -- taking a text apart -----------------------------------------------------------------------------------------------

_SENTENCE: Final = re.compile(r"(?<=[.!?;])(?<!\b[ap]\.m\.)(?<!\b[ap]\.m)(?<!\be\.g\.)(?<!\bi\.e\.)(?<!\bSt\.)(?<!\bMt\.)\s+|\n+")
_NOISE: Final = re.compile(
    r"^(?:(?:hm+|um+|uh+|er+|oh|ah+|aha|omg|oh my god|ugh|lol|ha(?:ha)+|wow|btw|by the way|to be honest|tbh|honestly|look|listen"
    r"|anyways?|(?:quick|one|another) (?:more )?(?:question|thing))[\s,.!:…–-]+)+(?=\S)"
    r"|(?<=\w)[\s,]+(?:btw|by the way|lol|duh|tbh|to be honest|ha(?:ha)+|xx*|innit)\W*$",
    re.IGNORECASE,
)
_ALSO_ASKED: Final = re.compile(
    r",?\s+(?:and|but|so|also)\s+(?=(?:also )?(?:can|could|would) you (?:please )?(?:tell|explain|say|show)|"
    r"(?:what|how much|how long|why|is it|is that|is there|when do)\b[^,]*\?$)|,\s+(?=how much\b|what does\b|what is\b)",
    re.IGNORECASE,
)
_HEAD: Final = re.compile(
    r"^(?:(?P<yes>yes|yep|yeah|yup|sure|ok(?:ay)?|alright|perfect|great|fine|cool|nice|wonderful|super)|(?P<no>no|nope|nah)"
    r"|(?P<hello>hi|hello|hey|good (?:morning|evening|afternoon)|thanks(?: a lot| so much)?|thank you(?: so much"
    r"| very much)?|thx|sorry))"
    r"(?: there| again)?(?:\s*[,!.–-]+\s*|\s+(?:and|but|then|so)\s+|\s+(?=(?:the|it|that|this|i|we|my|our|he|she|they"
    r"|you|can|what|what's|how|book|go|thanks|thank|is|are|when|where|why|then|that's|make)\b))"
    r"(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_BUT: Final = re.compile(
    r"^(?P<first>.{2,40}?)(?:,\s*|\s+)(?:but|and|as long as|provided|only if|if)\s+(?P<rest>.+)$", re.IGNORECASE | re.DOTALL
)
_CORRECTED: Final = re.compile(
    r"[,.;]?\s+(?:no wait|wait no|no|sorry|i mean|make that|or rather|scratch that|no sorry|no actually)[,:]?\s+"
    r"(?:make (?:it|that) )?(?P<now>(?P<number>\d+|one|two|three|four|five|six|seven)(?: (?P<unit>[a-z]+))?)[.! ]*$",
    re.IGNORECASE,
)
_A_NUMBER: Final = r"\b(?:\d+|one|two|three|four|five|six|seven)\b"


def utterances(text: str) -> tuple[Utterance, ...]:
    """Return what a text says, in order. Wishes that follow one another stay together, as they were written."""
    found: list[Utterance] = []
    for sentence in _SENTENCE.split(_with_corrections(spelled(in_full(text)).strip())):
        for each in _parts(_NOISE.sub("", sentence.strip())):
            last = found[-1] if found else None
            if last is not None and last.kind is each.kind is Kind.WISH and not (last.said or each.said):
                found[-1] = replace(last, text=f"{last.text} {each.text}")
            else:
                found.append(each)
    return tuple(found)


_STATED: Final = (Kind.WISH, Kind.NEWS, Kind.HEARSAY)


def is_statement(said: Utterance) -> bool:
    """Tell whether it was written as a statement, rather than as a question or a decision."""
    return said.kind in _STATED and not said.said


def wishes_in(text: str) -> str:
    """Return what a text wishes, for those who read sentences without a conversation.

    Raises:
        InvalidInputError: it only asks, supposes or decides, and so changes nothing.
    """
    said = utterances(text)
    if not said or all(map(is_statement, said)):
        return text
    wished = [each.text for each in said if each.kind is Kind.WISH]
    if not wished:
        raise InvalidInputError(
            f"this asks, supposes or decides, and changes nothing: {text.strip()!r}. Say what you wish", field="text"
        )
    return " ".join(f"{each.rstrip(' .')}." for each in wished)


def news_in(text: str) -> str:
    """Return a report of what has happened. Raises `InvalidInputError` for what only asks, supposes, denies or fears it."""
    told = [each.text for each in utterances(text) if each.kind in (Kind.NEWS, Kind.WISH)]
    if not told or len(told) != len(utterances(text)):
        raise InvalidInputError(
            f"this asks, or is not certain, and changes nothing: {text.strip()!r}. Say what has happened", field="text"
        )
    return " ".join(told)


def _with_corrections(text: str) -> str:
    """`4 nights in Paris. No wait, 5`: the number that was said last holds."""
    found = _CORRECTED.search(text)
    if found is None:
        return text
    before = text[: found.start()]
    unit = rf"(?= {re.escape(found['unit'])})" if found["unit"] else ""
    numbers = list(re.finditer(_A_NUMBER + unit, before, re.IGNORECASE))
    if not numbers:
        return text
    last = numbers[-1]
    return before[: last.start()] + found["number"] + before[last.end() :]


def _parts(sentence: str) -> Iterator[Utterance]:
    if not re.search(r"\w", sentence):
        return
    alone = _decision(sentence) or _small_talk(sentence)
    if alone is not None:
        yield alone
        return
    head = _HEAD.match(sentence)
    if head is not None and not (head["no"] and sentence[head.end("no")] == " " and not _SUBJECT.match(head["rest"])):
        if not head["no"]:
            said = sentence[: head.start("rest")].strip(" ,!.–-")
            yield _decision(said) or Utterance(Kind.SMALL_TALK, said)
        elif (decided := _decision(head["rest"])) is not None:
            yield replace(decided, act=Act.PRAISE if decided.act is Act.APPROVE else decided.act)
            return
        yield from _parts(head["rest"])
        return
    split = _BUT.match(sentence)
    decided = _decision(split["first"]) if split else None
    if split is not None and decided is not None:
        yield decided
        rest = split["rest"]
        is_condition = sentence[split.end("first") : split.start("rest")].strip(" ,").casefold() not in ("and", "but")
        yield from [Utterance(Kind.HEARSAY, rest, said=sentence)] if is_condition else _parts(rest)
        return
    pieces = [piece for piece in _ALSO_ASKED.split(sentence) if piece.strip()]
    if len(pieces) > 1 and _kind_of(pieces[0]).kind in (Kind.WISH, Kind.NEWS):
        for piece in pieces:
            yield from _parts(piece)
        return
    yield _kind_of(sentence)


# -- questions and hypotheticals ---------------------------------------------------------------------------------------

_LEAD: Final = r"^\W*(?:(?:and|but|so|also|hey|well|please|then|oh|um+|hmm+|btw|by the way)[, ]+)*"
_SUBJECT: Final = _words(
    r"(?:i|you|we|he|she|it|they|there|this|that|these|those|the|my|our|your|his|her|their|any|all|every\w*|some\w*)\b"
)
_ASKS: Final = re.compile(
    _LEAD + r"(?:what|what's|why|who|who's|whose|whom|which|how|how's|is|are|was|were|did|does|has|am|should|will|would|"
    r"isn't|aren't|wasn't|weren't|didn't|doesn't|hasn't|won't|when's|where's|(?:are )?you sure|"
    r"(?:when|where) (?:is|are|do|does|did|will|would|can|should|was|were|am|to)|"
    r"(?:do|have) (?:i|you|we|they|all|any|kids|children|babies|people|hotels|flights|trains)|"
    r"(?:can|could|may|must|shall|had) (?:i|you|we|they|he|she|it|there|the|my|our|any\w*)|"
    r"(?:can|could|would|will) you (?:please )?(?:tell|explain|show|say)|(?:just )?(?:tell|remind|send) me|explain|show me "
    r"(?:what|why|how|the)|let me know"
    r"|i(?:'m| am| was|'d| would)? (?:just )?(?:wonder\w*|like to know|want to know|curious)|any idea|do you know)\b",
    re.IGNORECASE,
)
_POLITE: Final = re.compile(
    _LEAD + r"(?:(?:can|could|would|will) (?:you|u)(?: please| pls| maybe| perhaps| kindly| just)*"
    r"|(?:can|could|may|shall|might) (?:i|we)(?: please| maybe| perhaps| just| also)*"
    r"|(?:would|is) it (?:be )?possible (?:for (?:us|me) )?to|why don't (?:we|you)|would you mind|could there be|can there be)\s+"
    r"(?P<wish>(?:add|adding|arrive|be|begin|book|bring|change|changing|check|choose|come|depart|do|drop|exchange|extend|find|finding"
    r"|fly|get|go|have|include|keep|leave|look|make|making|meet|move|pick|plan|planning|prefer|put|remove|replace|return|search|shorten"
    r"|skip|spend|start|stay|stop|suggest|swap|switch|take|travel|try|use|visit)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
_ONLY_ABLE: Final = _words(
    r"for free|refund\w*|money back|later|afterwards|still|at any time|cancel\w*|my mind|penalt\w+|if|when"
)
_SUPPOSED: Final = re.compile(
    _LEAD
    + r"(?:(?:what|how) (?:happens )?if|what about|how about|suppos(?:e|ing)(?: that)?|imagine(?: that)?|assum(?:e|ing)(?: that)?"
    r"|say (?:i|we)\b(?=.*\?)|let's say|hypothetically,?|(?:and |but )?if)\s+(?P<wish>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_WOULD: Final = re.compile(
    r"\b(?:would (?:it|that|this|the price|a|an|the|we|i|there)\b|(?:what|how much(?: more| less)?) would|what'd"
    r"|how much (?:more|less|extra)"
    r"|is it (?:cheaper|faster|quicker|nicer|better) (?:if|with|in|to|when|without)|could (?:we|i) save"
    r"|what does it cost (?:if|with|in))",
    re.IGNORECASE,
)
_AROUND: Final = re.compile(
    r"\b(?:(?:and |so )?how much (?:more|less|extra)?(?: money)? ?(?:would|does|will|is|do)? ?(?:that|it|this|we"
    r"|i)?(?: be| cost| save)?(?: then)?"
    r"|(?:what|how) would (?:that|it|this|the price|we|i)? ?(?:be|cost|save|change|happen)?(?: me| us)?|what (?:would"
    r"|do|will) (?:we|i) (?:save|pay|do)"
    r"|would (?:it|that|this) (?:be|get|become) (?:(?:much |any |a lot )?(?:cheaper|dearer|faster|quicker"
    r"|more expensive|better|possible|ok(?:ay)?))"
    r"|would (?:it|that) cost(?: more| less)?|is it (?:cheaper|faster|quicker|nicer|better)|could (?:we"
    r"|i) save(?: money| something)?"
    r"|what then|what happens|what does it cost|cost(?: (?:me|us))?(?: more| less)?(?=\W*$)|^\W*would|then(?=\W*$)"
    r"|by chance)\b|\?",
    re.IGNORECASE,
)
_TENSES: Final = {
    "stayed": "stay",
    "staying": "stay",
    "went": "go",
    "flew": "fly",
    "left": "leave",
    "came": "comes",
    "added": "add",
    "skipped": "skip",
    "dropped": "drop",
    "took": "take",
    "had": "have",
    "made": "make",
    "travelled": "travel",
    "started": "start",
    "returned": "return",
    "arrived": "arrive",
    "wanted": "want",
    "swapped": "swap",
    "removed": "remove",
    "visited": "visit",
    "moved": "move",
    "changed": "change",
    "replaced": "replace",
    "brought": "bring",
    "landed": "lands",
}
_TENSE: Final = re.compile(rf"\b(?:{'|'.join(_TENSES)})\b", re.IGNORECASE)


def _kind_of(said: str) -> Utterance:
    supposed = _SUPPOSED.match(said)
    is_asked = said.rstrip().endswith("?") or _ASKS.match(said) is not None
    if supposed is not None or (is_asked and _WOULD.search(said)):
        return Utterance(Kind.HYPOTHETICAL, supposed_wish(supposed["wish"] if supposed else said), said=said)
    polite = _POLITE.match(said)
    if polite is not None and not _ONLY_ABLE.search(polite["wish"]) and not _ASKS.match(polite["wish"]):
        wish = polite["wish"].rstrip("? ")
        decided = _decision(wish)
        if decided is None:
            return Utterance(Kind.WISH, wish)
        return Utterance(Kind.DECISION, wish, Act.PRAISE if decided.act is Act.APPROVE else decided.act, decided.place, said)
    if is_asked:
        return Utterance(Kind.QUESTION, said)
    return Utterance(_stated(said), said)


def supposed_wish(said: str) -> str:
    """Return the wish in a hypothetical: `if we stayed 4 nights, how much more would that be?` is `we stay 4 nights`."""
    plain = _TENSE.sub(lambda found: _TENSES[found[0].casefold()], _AROUND.sub(" ", said))
    return " ".join(plain.split()).strip(" ,.;")


# -- news --------------------------------------------------------------------------------------------------------------

_FALLEN: Final = (
    r"cancell?ed|overbooked|delayed|postponed|late|closed|blocked|ill|sick|broken|stuck|missed|lost|out of order|fully booked"
)
_HAPPENED: Final = _words(
    rf"(?:has|have|had|is|are|was|were|got|gets|been|be|being)\s?(?:n't|nt|not)?\s+(?:(?:just|now|all|also|been|not|never|currently)\s+)*"
    rf"(?:{_FALLEN})\b"
    r"|(?:hotels?|flights?|trains?|rooms?|bookings?|stays?) (?:just )?(?:cancell?ed|overbooked)\b"
    r"|cancell?ed (?:on (?:me|us)|my|our|the)\b|fell through|(?:has|have) fallen through|br(?:oke|eaks?|oken) down|goes? "
    r"(?:bust|bankrupt)|gone (?:bust|bankrupt)|(?:get|fall)s? (?:sick|ill)\b"
    r"|is on strike|strike\b"
    r"|does(?:n't| not) (?:run|fly|start)\b|accident|(?:can(?:not|'t| not)|won't) (?:come|make it)|(?:isn't"
    r"|is not) coming|drops? out"
    r"|missed (?:my|our|the)\b|(?:traffic )?jam\b|minutes? late|hours? late|delay\b|there is (?:snow|a storm)"
    r"|has (?:to cancel|a flat tyre)"
)
_DENIED: Final = _words(
    rf"(?:not|n't|isnt|wasnt|hasnt|never|no longer|nothing)\b(?:\s+\w+){{0,3}}\s+(?:{_FALLEN}|fall\w* through|broke\w*)"
    r"|no (?:delay|accident|jam|strike)s?\b|n't (?:been )?(?:cancel|delay|overbook|late)"
)
_HEDGED: Final = _words(
    r"might|may be|may get|could be|would be|worried|worry|afraid|scared|fear|hope|rumou?rs?|i think|i guess|maybe"
    r"|perhaps|probably"
    r"|last (?:year|time|month|week|summer)|once|years? ago|often|usually|always|sometimes|a lot|in general|neighbou?r"
    r"|if|unless|heard"
    r"|read (?:that|about|something)|people say|they say|insurance|in case|tend to|get cancelled|gets cancelled"
)


def _stated(said: str) -> Kind:
    if not _HAPPENED.search(said) and not _DENIED.search(said):
        return Kind.WISH
    return Kind.HEARSAY if _HEDGED.search(said) or _DENIED.search(said) else Kind.NEWS


def tells_news(said: str) -> bool:
    """Tell whether it speaks of something that falls through."""
    return _HAPPENED.search(said) is not None


def _decision(said: str) -> Utterance | None:
    found = decision_in(said)
    return None if found is None else Utterance(Kind.DECISION, said, *found)


def _small_talk(said: str) -> Utterance | None:
    return Utterance(Kind.SMALL_TALK, said) if is_small_talk(said) else None

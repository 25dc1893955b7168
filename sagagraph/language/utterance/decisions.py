"""Decisions: what somebody decides in so many words, and talk that means nothing. The whole of it must be such a phrase."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Act(StrEnum):
    """What a decision decides."""

    APPROVE = "approve"
    PRAISE = "praise"
    """`Looks good`: agreement that does not say what to do."""
    REJECT = "reject"
    NOT_NOW = "not now"
    CANCEL = "cancel"
    CANCEL_PART = "cancel a part"
    UNDO = "undo"
    CHOOSE = "choose"
    SKIP = "skip"
    WITHOUT = "book without"
    CONFIRM = "confirm"
    """`It did`: what was asked about has happened."""
    AGAIN = "again"
    """The same once more, after it is over."""


def _whole(text: str) -> re.Pattern[str]:
    return re.compile(rf"^\W*(?:{text})\W*$", re.IGNORECASE)


_IT: Final = (
    r"(?: (?:it|this|that|them|everything|all(?: of it)?|(?:the|this|that|my|our) (?:trip|plan|booking|day|one|thing|offer)))?"
)
_PLEASE: Final = (
    r"(?:,? ?(?:please|pls|plz|thanks?|thank you|thx|now|then|right away|for (?:me|us)"
    r"|for [$€£]?[\d,.]+[k]?|as (?:it is|shown|planned)))*"
)
_YES: Final = (
    r"(?:(?:that's |it's |this is |all )?(?:yes|yep|yeah|yup|sure|ok(?:ay)?|alright|all right|perfect|great|fine|good|cool"
    r"|super|lovely|brilliant|excellent"
    r"|of course|absolutely|definitely))"
)
_PRAISES: Final = (
    r"(?:(?:that|this|it|all|hmm+|oh|well|yes|ok|okay)[ ,]*)*(?:ok(?:ay)?|fine|great|good|perfect|nice|cool|lovely"
    r"|wonderful|excellent|super"
    r"|awesome|alright|all right|(?:looks?|sounds?|seems?|is|'s) (?:\w+ )?(?:good|fine|great|perfect|nice|ok(?:ay)?"
    r"|lovely)(?: to me)?"
    r"|i like (?:it|that|this)|we like (?:it|that|this)|love it)"
)
_DECISIONS: Final[tuple[tuple[Act, re.Pattern[str]], ...]] = tuple(
    (act, _whole(words))
    for act, words in (
        (
            Act.WITHOUT,
            rf"(?:(?:{_YES}|please|just)[ ,]+)*(?:book|take|go)(?: it)? (?:without|anyway|regardless)(?: (?:it|this"
            rf"|that))?{_PLEASE}",
        ),
        (
            Act.CONFIRM,
            rf"(?:{_YES}[ ,]+)*(?:(?:it|they|that|this) (?:just |really |actually )?(?:did|was|has|have|were|happened|is true)"
            r"(?: happen(?:ed)?| indeed)?|i(?:'m| am) (?:sure|certain|serious)|it(?:'s| is) (?:true|cancelled|gone))",
        ),
        (
            Act.AGAIN,
            r"(?:(?:can you |could you )?(?:plan|try|do|start|find|make|look for) (?:it|this|that|one|the (?:same|trip))?"
            r"(?: trip| plan| thing)?|(?:the )?same(?: trip| plan| thing| one)?)? ?(?:(?:once )?again|once more|anew)(?: "
            r"please)?",
        ),
        (
            Act.APPROVE,
            rf"(?:{_YES}[ ,]+)*(?:yes|yep|yeah|yup|sure|of course|absolutely|definitely|approved?|confirmed|deal"
            rf"|agreed|proceed){_PLEASE}"
            rf"|(?:(?:{_YES}|please|just|well|then|looks (?:good|fine)|sounds good)[ ,]+)*"
            rf"(?:(?:go ahead|let's|lets|let us|i want to|we want to|i'd like to|we'd like to|i would like to|please)(?: and)? )*"
            rf"(?:book|reserve|confirm|approve|accept|buy|do|take){_IT}{_PLEASE}(?:,? (?:book it|thanks?))*"
            rf"|(?:(?:{_YES}|please|just|(?:looks|sounds) (?:good|fine|great|perfect))[ ,]+)*(?:go ahead|go for it|go on"
            rf"|please proceed|make it (?:so|happen)|let'?s (?:go|do it|book(?: it)?)"
            rf"|(?:i|we)(?:'ll| will)? take it|tell (?:everybody|everyone|them)|confirm the booking|book away)"
            rf"(?: (?:with (?:it|that|this)(?: one| plan)?|and (?:book|do|confirm){_IT}))?{_PLEASE}",
        ),
        (Act.PRAISE, _PRAISES + _PLEASE),
        (
            Act.REJECT,
            rf"(?:no|nope|nah)(?:,? (?:thanks?|thank you|please))?|reject{_IT}|(?:i|we) (?:do not|don't|dont) (?:like"
            rf"|want) (?:it|this|that)"
            r"(?: one| plan| trip)?|not (?:that|this)(?: one)?|no,? not (?:that|this)(?: one)?|discard(?: it| this| that)?",
        ),
        (
            Act.NOT_NOW,
            r"(?:no,? )?(?:not (?:now|yet|today)|wait(?:,? no)?|hold on|hang on|later|maybe(?: later)?|one moment"
            r"|just a (?:moment|second|minute))"
            r"(?:,? (?:please|wait|hold on|thanks?|a (?:moment|minute|second)))*"
            r"|(?:no,? )?(?:please )?(?:don't|dont|do not)|(?:please )?(?:book|do|confirm|reserve|buy)(?: it| this| that)?"
            r" (?:tomorrow|later|tonight|next week|another (?:day|time)|in \w+ (?:hours?|days?|minutes?))"
            rf"|(?:please )?(?:don't|dont|do not|never) (?:book|do|confirm|take|pay|send|tell)(?: \w+)?{_IT}(?: (?:yet"
            rf"|now|please|for now))*"
            r"|(?:let me|i(?:'ll| will| have to| need to| want to| must)|we(?:'ll| will| have to| need to| must)"
            r"|gotta) (?:first )?"
            r"(?:think|sleep|ask|check|see|talk|discuss|decide|let you know|tell you|get back to you)\b.*|no hurry|i(?:'m| "
            r"am) not sure(?: yet)?|not sure(?: yet)?",
        ),
        (
            Act.SKIP,
            r"(?:please )?(?:skip(?: (?:it|that|this|the question))?|never ?mind|forget (?:it|that|about it)|whatever"
            r"|(?:it |that )?doesn'?t matter"
            r"|(?:leave|keep) (?:it|that|this|everything|the plan)(?: (?:as|like|the way|how) (?:it|that) (?:is|was)| alone)?"
            r"|no matter|(?:i was |we were )?(?:just |only )?asking|nothing|changed my mind"
            r"|(?:don't|do not) change (?:it|anything|that|a thing))(?: please)?",
        ),
        (
            Act.UNDO,
            r"(?:please |can you |ok |no,? )*(?:undo|revert|take (?:that|it) back|go back|remove (?:that|it)"
            r"|change (?:it|that) back"
            r"|put (?:it|that|everything) back|scratch that"
            r"|as (?:it was )?before|back to (?:the )?(?:previous|old|last|first|original) (?:one|plan|version))"
            r"(?: (?:that|it|this|(?:to )?(?:the way|how|as) it was(?: (?:before|at the start|originally))?|(?:the |my |that "
            r")?(?:last )?(?:changes?|one|thing|step|cancell?ation)"
            r"|to (?:the )?(?:previous|old|last|first|original) (?:one|plan"
            r"|version)|please|again))*",
        ),
        (
            Act.CANCEL,
            r"(?:please |can you |ok,? |(?:i|we)(?:'d like| would like| want| need| have)? to |let's )*(?:cancel"
            r"|call off|abort|undo|drop|stop|forget)"
            r"(?: (?:it|that|this|everything|all(?: of it)?|now|please|(?:the|my|our)(?: whole| entire)? (?:plan|day"
            r"|thing|trip|reunion|booking|bookings"
            r"|reservations?|journey|holiday|vacation|lot)))*"
            r"|(?:i want|give me|can i have) my money back|refund (?:me|it|everything)",
        ),
        (
            Act.CANCEL_PART,
            r"(?:please |can you |ok,? |(?:i|we)(?:'d like| would like| want| need| have)? to |let's )*(?:cancel|call off)"
            r"(?: just| only)?(?: (?:the|my|our|that))? (?:(?:first|last|return|outbound|second) )?(?:flights?|hotels?"
            r"|trains?|rooms?|stays?|rides?)\b.*",
        ),
    )
)
_NTH: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
    "one": 1,
    "two": 2,
    "three": 3,
}
_CHOSEN: Final = _whole(
    rf"(?:(?:{_YES}|please|can you|i think|i'd|i|we|we'd|i'll|we'll|let's|would|rather|just)[ ,]+)*"
    r"(?:(?:take|book|choose|pick|prefer|want|have|go (?:for|with)|like|do|show me)[ ,]+)?"
    rf"(?:the |that )?(?:(?P<nth>first|second|third|fourth|1st|2nd|3rd|4th)(?: (?:one|plan|option|alternative|trip|other))?"
    rf"|(?:number|option|plan|alternative|no\.?|#) ?(?P<n>[1-4]|one|two|three)|(?P<other>other)(?: (?:one|plan"
    rf"|option)))(?: instead)?{_PLEASE}",
)
_SMALL: Final = _whole(
    r"(?:(?:hi|hello|hey|good (?:morning|evening|afternoon|night|day)|howdy|greetings|thanks?|thank you|cheers|anyway|a "
    r"million|for that"
    r"|bye|goodbye|see you"
    r"|lol|haha+|wow|sorry|welcome|there|again|so much|very much|a lot|all|everyone|friend|how are you|(?:you(?:'re"
    r"| are)|that was|that's|this is)"
    r" (?:so |really |very )?(?:great|good|nice|kind|helpful|awesome|funny|amazing)|well done|good job|nice work"
    r"|have a nice (?:day|evening)|for (?:your|the) help"
    r"|until later|talk soon|oh|ah|hmm+|and|no problem)[\s,.!?]*)+",
)


_BEFORE: Final = re.compile(
    r"^\W*(?:(?P<doubt>no|nope|nah|wait|hang on|hold on|maybe|perhaps|i guess)|kk?|then|so|and|but|well|actually|just|right"
    r"|honestly|anyway"
    r"|(?:sod|screw|damn) it|you know what|in that case)\b[\s,.!:–-]+(?=\w)",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"(?<=\w)[\s,.!]+(?:then|lol|duh|tbh|man|mate|dude|haha|though|anyways?|after all|actually|sorry|(?P<doubt>i (?:guess"
    r"|think|suppose)))\W*$",
    re.IGNORECASE,
)


def decision_in(said: str) -> tuple[Act, int] | None:
    """Return what is decided and, of a choice, which one, from 1 (0: the other one); None for what is no decision.

    Words that only lead up to it are left out; who hesitates agrees, and approves nothing.
    """
    if said.rstrip().endswith("?"):
        return None
    plain, found, is_in_doubt = said.strip(), _decided(said.strip()), False
    while found is None and (filler := _BEFORE.search(plain) or _AFTER.search(plain)) is not None:
        is_in_doubt = is_in_doubt or filler["doubt"] is not None
        plain = plain[: filler.start()] + plain[filler.end() :]
        found = _decided(plain)
    return (Act.PRAISE, 0) if found is not None and is_in_doubt and found[0] is Act.APPROVE else found


def _decided(plain: str) -> tuple[Act, int] | None:
    chosen = _CHOSEN.match(plain)
    if chosen is not None:
        named = (chosen["nth"] or chosen["n"] or "").casefold()
        return Act.CHOOSE, _NTH.get(named) or int(named or 0)
    act = next((act for act, words in _DECISIONS if words.match(plain)), None)
    return None if act is None else (act, 0)


def is_small_talk(said: str) -> bool:
    return _SMALL.match(said) is not None

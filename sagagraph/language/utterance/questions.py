"""Questions: what is asked about, as far as words tell, and which of what was not understood has to be settled first."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final


class Topic(StrEnum):
    IDENTITY = "identity"
    HELP = "help"
    UNDERSTOOD = "understood"
    OUTSIDE = "outside"
    """Nothing that is known here: weather, visas, breakfast."""
    NUMBERS = "numbers"
    """Confirmation numbers."""
    CHANGED = "changed"
    NEXT = "next"
    ADVICE = "advice"
    ALTERNATIVES = "alternatives"
    WHY = "why"
    REFUND = "refund"
    """What cancelling costs and leaves."""
    STATUS = "status"
    PRICE = "price"
    PLAN = "plan"
    """Times, places, people: what the plan says."""


_TOPICS: Final[tuple[tuple[Topic, re.Pattern[str]], ...]] = tuple(
    (topic, re.compile(rf"\b(?:{words})", re.IGNORECASE))
    for topic, words in (
        (
            Topic.IDENTITY,
            r"who are you|what are you(?! doing)|are you (?:an? )?(?:real|human|person|bot|robot|ai|machine)|your name",
        ),
        (
            Topic.HELP,
            r"what (?:can|do|could) you (?:do|help|plan|need)|how does (?:this|it|that) work|help me\b|what (?:can"
            r"|should|do) i (?:say|ask|type|write)"
            r"|how do i (?:use|start|begin|book|change|cancel)|what is this",
        ),
        (
            Topic.UNDERSTOOD,
            r"(?:have|did|do|what) you (?:understood|understand|know|hear|heard|get|got|note|remember)"
            r"|what was understood|what (?:did|have) i "
            r"(?:say|said|ask|asked|tell|told)|my wishes|summar|recap",
        ),
        (
            Topic.OUTSIDE,
            r"weather|rain|vegetarian|vegan|gluten|wheelchair|gym\b|spa\b|balcony|views?\b|smoking|taxi|uber|credit cards?"
            r"|amex|paypal|lounge"
            r"|(?:window|aisle)\b|seat\b|legroom|upgrades?|(?:business|first|premium) class|quiet|shower|crib|cot\b|late "
            r"check|dinner|lunch|visas?\b|passport|breakfast|pool\b|wi-?fi|insurance|luggage|baggage|bags?\b|meals?\b"
            r"|restaurants?|museums?|safe\b|vaccin\w*"
            r"|bust\b|bankrupt|parking|pets?\b|dogs?\b|any good\b|nice area|subway|metro\b|tips?\b|time difference|jet ?lag",
        ),
        (
            Topic.ALTERNATIVES,
            r"(?:second|third|other|next) (?:one|plan|option)\b|next best|second best|(?:number|option|plan) \d|alternatives?"
            r"|(?:any(?:thing)?|other|another|more) (?:other )?(?:options?|plans?"
            r"|hotels?|flights?|trips?|choices?|ways?|else)"
            r"|anything else|cheapest|any(?:thing)? cheaper|is there (?:a |an )?(?:cheaper|better|faster|nicer)|options",
        ),
        (
            Topic.NUMBERS,
            r"(?:confirmation|booking|reservation|reference) (?:numbers?|codes?|no\b|ids?|references?)|reference\b"
            r"|confirmation\b|ref\b",
        ),
        (
            Topic.CHANGED,
            r"what(?:'s| is| has| have|s)? (?:been )?(?:changed|different|new)|differen\w+|diff\b|what did you change|did .* "
            r"change",
        ),
        (
            Topic.NEXT,
            r"what now|what(?:'s| is|s)? (?:next|left|missing|still)|left to do|what (?:do|must|should) (?:i"
            r"|we) (?:have to )?do|what happens (?:now|next)|to decide|expires?\b|(?:hold|keep) it\b",
        ),
        (
            Topic.ADVICE,
            r"should (?:i|we)|would you|do you (?:recommend|think|like)|worth it|is (?:it|that|this) (?:a )?(?:good|fair|ok)"
            r"|wrong with|best (?:price|deal)",
        ),
        (Topic.WHY, r"why|how come|reasons?|what for"),
        (
            Topic.REFUND,
            r"refund\w*|non-?refundable|money back|get back\b(?=.*cancel)|cancell?ation|(?:cost|fee|fees|lose|pay|much"
            r"|happens|charge)\b.*\bcancel(?!l?ed)"
            r"|cancel(?:ling|ing)?\b(?!l?ed).*\b(?:cost|fee|free|lose|back|pay|charge)|(?:can|could|may) (?:i"
            r"|we) (?:still |just )*cancel|change my mind"
            r"|(?:do|does|did|would|will|can) (?:i|we) (?:lose|get (?:anything )?back)|what (?:i|we) lose|call\w*(?: it| "
            r"that| everything)*(?: all)? off"
            r"|chang\w+ (?:\w+ )?cost|cost\w* .*\b(?:to change|changing)\b|penalt\w+|\bfees?\b|undone|undo\b|get (?:sick|ill)",
        ),
        (
            Topic.STATUS,
            r"cancell?ed|overbooked|delayed|late\b|booked|confirmed|paid\b|pay(?:ed)? already|still (?:on|ok|okay"
            r"|valid|fine|standing)|(?:all|is|everything) (?:ok|okay|fine|done|good|set|sorted|well)|on time"
            r"|already|happened|work(?:ed)?\b|broken?|break down|broke down|sick|ill\b|closed|over\b|cancel on|go through"
            r"|gone through|book it\b|ready",
        ),
        (
            Topic.PRICE,
            r"how much|prices?|costs?|expensive|total|currency|dollars?|euros?|pounds?|pay|include[sd]?|budget|cheap|spend|money",
        ),
        (
            Topic.PLAN,
            r"when|time\b|how (?:long|many|do|does|far)|which|what day|dates?|days?|depart\w*|leav\w+|arriv\w+|land\w*"
            r"|check[- ]?(?:in|out)|where|who|name\b|airline"
            r"|hotels?|flights?|trains?|stars?|nights?|direct|plan\b|itinerary|schedule|staying|return|back\b|drive\w*|pick\w*|fetch\w*|car\b|room|going|doing",
        ),
    )
)


def topic_of(asked: str) -> Topic | None:
    """Return the topic of a question; None if its words tell nothing."""
    plain = asked.replace("’", "'")
    return next((topic for topic, words in _TOPICS if words.search(plain)), None)


_MATTERS: Final = re.compile(
    r"\d|[$€£]|(?<!^)\b[A-Z][a-z]{2,}|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|\w+day\b"
    r"|mum|mom|dad|mother|father|wife|husband|friends?|kids?|child(?:ren)?|sisters?|brothers?|grand\w+|baby|babies|everybody|dollars?|euros?|one|two|three"
    r"|four|five|six|seven|eight|nine|ten)\b",
)


def must_be_settled(not_understood: str) -> bool:
    """Tell whether a person, place, date or amount may be in what was not understood: then no plan is offered without asking."""
    return _MATTERS.search(not_understood) is not None or not_understood[:1].isupper()

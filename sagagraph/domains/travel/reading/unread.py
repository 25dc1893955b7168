"""What nobody understood: named, so that a person knows what the trip will not heed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from sagagraph.domains.travel.reading.passage import Passage

_CLAUSE: Final = re.compile(r"[.,;:!?()\[\]{}→\"]|\s{2,}|\b(?:and|but|with)\b", re.IGNORECASE)
_WORD: Final = re.compile(r"[^\W\d_]{3,}(?:'[^\W\d_]+)?|\d+(?:[.,:]\d+)*")
_NOT_PLANNED: Final = re.compile(
    r"\b(?:(?:by|only(?: by)?) trains?|trains? only"
    r"|(?:no|without(?: an?| any)?) (?:flights?|flying|trains?|hotels?|stays?)(?!\s{2})"
    r"|(?:for|only) (?:the )?(?:flights?|hotels?)(?=\s*(?:only|alone|[,.;!]|$))|the other way (?:a)?round|vice versa)\b",
    re.IGNORECASE,
)
"""What means something though none of its words does: every trip has hotels, and goes how it can be had.

Two spaces stand where something was understood: `no flights before 9` is no wish for trains.
"""
MOST_NAMED: Final = 5
_MEANINGLESS: Final = frozenset(
    {
        *("all", "along", "also", "altogether", "another", "any", "anything", "are", "around", "ask", "away", "back", "bit"),
        *("book", "booked", "booking", "can", "check", "choose", "cities", "city", "come", "coming", "could", "day", "days"),
        *("dear", "depart", "departing", "departs", "departure", "do", "does", "don't", "each", "either", "end", "ending"),
        *("ends", "exactly", "explore", "exploring", "find", "first", "flexible", "flies", "flight", "flights", "fly", "flying"),
        *(
            "for",
            "from",
            "get",
            "getaway",
            "give",
            "going",
            "gonna",
            "good",
            "great",
            "had",
            "has",
            "have",
            "hello",
            "help",
            "her",
        ),
        *("here", "hey", "him", "his", "holiday", "holidays", "home", "hotel", "hotels", "how", "i'd", "i'll", "i'm", "instead"),
        *(
            "into",
            "its",
            "it's",
            "itinerary",
            "journey",
            "just",
            "keep",
            "kind",
            "know",
            "leave",
            "leaves",
            "leaving",
            "let",
            "let's",
        ),
        *(
            "like",
            "live",
            "look",
            "looking",
            "love",
            "make",
            "may",
            "maybe",
            "mean",
            "meant",
            "might",
            "minimum",
            "month",
            "more",
        ),
        *("most", "must", "near", "need", "needs", "new", "next", "nice", "night", "nights", "not", "now", "off", "okay", "once"),
        *("one", "only", "onto", "onwards", "open", "jaw", "other", "our", "out", "over", "per", "perhaps", "plan", "planning"),
        *("please", "plus", "possible", "prefer", "rather", "really", "return", "returning", "returns", "round", "said", "say"),
        *("see", "set", "shall", "should", "some", "someone", "sometime", "soon", "spend", "spending", "start", "starting"),
        *("starts", "stay", "staying", "stays", "stop", "stopping", "stops", "suggest", "sure", "take", "taking", "thank"),
        *("thanks", "that", "the", "their", "them", "then", "there", "they", "this", "those", "ticket", "tickets", "time"),
        *("times", "together", "too", "tops", "total", "tour", "tours", "train", "trains", "transport", "travel", "traveling"),
        *("travelling", "trip", "trips", "until", "via", "visit", "visiting", "wanna", "want", "wanting", "wants", "was"),
        *("we'd", "we'll", "we're", "well", "what", "when", "where", "which", "while", "will", "wish", "within", "would", "yes"),
        *("you", "your", "afterwards", "again", "actually", "after", "before", "about", "between", "finally", "flown", "goes"),
        *("than", "through", "though", "add", "change", "swap", "skip", "drop", "remove", "without", "replace", "correction"),
        *("currency", "budget", "price", "money", "cost", "costs", "evenly", "equally", "respectively", "every", "who", "why"),
        *("based", "lives", "living", "everything", "everybody", "everyone", "nobody", "honeymoon", "vacation", "break", "way"),
        *("but", "and", "with", "include", "including", "think", "thinking", "ideally", "sir", "madam", "hi", "dates", "date"),
        *("following", "afternoon", "morning", "evening", "whole", "whatever", "never", "mind", "plz", "pls", "ive", "i've"),
        *("arrive", "arrives", "arriving", "arrival", "land", "landing", "ppl", "pax", "man", "woman", "people", "seats"),
        *("romantic", "dream", "lovely", "beautiful", "sunny", "carry", "also", "nicely", "arrange", "world"),
        *("preference", "matter", "matters", "doesn't", "isn't", "preferably", "split", "share", "sorry", "myself"),
    }
)
"""Words that say nothing of their own in a wish for a trip."""


def left_unread(rest: Passage) -> tuple[str, ...]:
    """The parts of a sentence in which something is left that means something, each as it was written."""
    unplanned = [" ".join(match[0].split()) for match in _NOT_PLANNED.finditer(rest.text)]
    clauses = (" ".join(clause.split()) for clause in _CLAUSE.split(rest.text))
    named = [_trimmed(clause) for clause in clauses if any(_means_something(word) for word in _WORD.findall(clause))]
    return tuple(dict.fromkeys((*unplanned, *named)))[:MOST_NAMED]


def _trimmed(clause: str) -> str:
    """From the first to the last word that means something."""
    meaning = [match for match in _WORD.finditer(clause) if _means_something(match[0])]
    return clause[meaning[0].start() : meaning[-1].end()]


def _means_something(word: str) -> bool:
    return word.casefold() not in _MEANINGLESS

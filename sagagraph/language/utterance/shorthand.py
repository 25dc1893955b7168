"""Shorthand: what people type in a hurry, written out (`b4`, `thats`, `w/ my gf`), and slips of the finger in common words."""

from __future__ import annotations

import re
from difflib import get_close_matches
from functools import cache
from typing import Final

from sagagraph.language.words import words

_WRITTEN_OUT = (
    "hw=how,wud=would,cud=could,shud=should,wat=what,wen=when,b4=before,bc=because,cuz=because,cos=because,coz=because,"
    "u=you,ur=your,pls=please,plz=please,thx=thanks,ty=thanks,"
    "tmrw=tomorrow,tmr=tomorrow,2moro=tomorrow,nite=night,nites=nights,wknd=weekend,wkend=weekend,gimme=give me,lemme=let me,"
    "gonna=going to,wanna=want to,gotta=have to,dunno=don't know,ppl=people,gf=girlfriend,bf=boyfriend,hubby=husband,"
    "kiddo=child,kiddos=kids,thats=that's,whats=what's,wheres=where's,whens=when's,hows=how's,whos=who's,theres=there's,"
    "heres=here's,lets=let's,theyre=they're,youre=you're,weve=we've,ive=i've,im=i'm,itll=it'll,prolly=probably,"
    "def=definitely,approx=approximately,abt=about,btwn=between,mths=months,yrs=years,yr=year"
)
_IN_FULL: Final = dict(each.split("=") for each in _WRITTEN_OUT.split(","))
_SHORT: Final = re.compile(
    rf"\b(?:{'|'.join(_IN_FULL)})\b(?!')|\b(?P<verb>do|does|did|ca|wo|is|are|was|were|has|have|would|could|should|ai)nt\b"
    r"|(?P<with>\bw/)(?P<out>o\b)? ?|(?<=[a-z]) (?:n|'n'|n')(?= [a-z])",
    re.IGNORECASE,
)
_LETTERS: Final = re.compile(r"(?<![^\W_])[a-z]{5,}(?![^\W_])")
_COMMON: Final = words(
    """
    adults airline airport alternative another anything arrive arrival available before breakfast budget business cancel
    cancelled cancellation change changed cheaper cheapest children confirmation could direct dollars earlier earliest euros
    evening everything expensive flexible flight flights girlfriend boyfriend holiday hotel hotels husband include included
    instead itinerary journey latest leave leaving luggage maximum midnight minimum monday tuesday wednesday thursday friday
    saturday sunday morning night nights people person pounds previous price refund refundable remove replace return second
    september october november december january february should something somewhere start station stars still ticket tickets
    together tomorrow total train trains travel travellers weekend weeks where which without would
    """
)
_REAL: Final = words(
    """
    adult leaves leaved leaving heaving starts stark stall star wheres wherever straw strain tracks traits training tracing
    morning moaning hostel hotels hotelier notes peoples persons priced prices pricey traveler traveled traveling travelled
    travelling travels nightly changes changing changed weekday weekends weekdays weekly arrived arrives departs returned
    returning returns replaced removed removing starting started stares stairs cancels canceled arrivals included includes
    including flights tickets totally trained refunds refunded could cold cloud shoulder should shout world would wound
    whole child childrens budgets earlies early latest later lasted latter sights lights rights fights flying fried fridays
    sundays mondays tuesdays wednesdays thursdays saturdays evenings mornings holidays husbands euro pound dollar stand
    stage state station stations witch switch charge charged charges chance chances chained chapter leading leaking remote
    removes replaces seconds totals traveller cruise cancellations airlines airports alternatives couldn shouldn wouldn
    likely latent chiang chang changde changle prince canela moanda whichever there these three those their theirs stall
    stalls journeys business busines
    """
)
"""Words of their own that only look like slips."""


def in_full(text: str) -> str:
    """Write out shorthand. Words that are not shorthand stay as they are."""
    return _SHORT.sub(_written_out, text.replace("’", "'"))


def _written_out(found: re.Match[str]) -> str:
    if found["with"]:
        return "without " if found["out"] else "with "
    if found["verb"]:
        return f"{found['verb']}n't"
    return _IN_FULL.get(found[0].casefold(), " and")


def spelled(text: str) -> str:
    """Correct slips in common words; whoever spells a name in small letters keeps it."""
    return _LETTERS.sub(lambda found: _common(found[0]), text)


@cache
def _common(word: str) -> str:
    if word in _COMMON or word in _REAL:
        return word
    close = [each for each in get_close_matches(word, _COMMON, 1, 0.83) if each[0] == word[0]]
    return close[0] if close and abs(len(close[0]) - len(word)) <= 1 else word

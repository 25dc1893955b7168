"""Who is not to wait alone: `Emily should not wait alone`, `don't leave Grandma alone`, `nobody should have to wait alone`."""

from __future__ import annotations

import re
from typing import Final

from sagagraph.domains.reunion.reading.clauses import NAMES, names
from sagagraph.domains.reunion.reading.facts import CompanyFact, Fact, PersonFact
from sagagraph.domains.reunion.reading.quantities import durations, times

_WHO: Final = rf"(?P<who>{NAMES}|her|him|them|anybody|anyone|everybody|everyone)"
_NOBODY: Final = r"(?:[Nn]obody|[Nn]o[- ]?one|[Nn]one of us)"
_SELF: Final = r"(?:(?:her|him)self|themsel(?:f|ves))"
_ALONE: Final = rf"(?:all )?(?:alone|unaccompanied|by {_SELF}|on (?:her|his|their) own)"
_WAIT: Final = r"(?:waits?|stay|stand|sit|be|be left|be kept|be waiting|be left waiting)(?: (?:around|there))?"
_WAITING: Final = r"(?:wait(?:ing)?|stay(?:ing)?|be(?:ing)?(?: left)?)(?: (?:around|there))?"
_WHERE: Final = r"(?:,? (?:at|in|on|outside|there|anywhere|ever|again|please|after all)\b.*)?"
_SHALL: Final = r"(?:should|must|may|can|will|is to|are to|ought to|has to|have to|needs? to|wants? to|would like to)"
_SHALL_NOT: Final = (
    r"(?:(?:should|must|may|can|will|is|are|ought|does|do|would)(?: ?not|n't)(?: to| rather| want to| like to)?|won't|can't"
    rf"|{_SHALL} (?:never|not(?: ever)?)|never|would rather not|is never to|hates? to)(?: have to)?(?: ever)?"
)
_SURE: Final = r"(?:[Pp]lease )?(?:[Mm]ake sure|[Ee]nsure|[Ss]ee to it)(?: that)?"
_NOT: Final = r"(?:do not|don't|never)(?: ever)?"

_WANTED: Final = tuple(
    re.compile(form)
    for form in (
        rf"{_SHALL_NOT} {_WAIT} {_ALONE}{_WHERE}",
        rf"(?P<everybody>{_NOBODY}) {_SHALL}(?: ever)?(?: have to)? {_WAIT} {_ALONE}{_WHERE}",
        rf"(?:{_SURE} )?(?P<everybody>{_NOBODY})(?: ever)? (?:waits|is left(?: waiting)?|is|has to wait) {_ALONE}{_WHERE}",
        rf"{_SURE} {_WHO} (?:is not|isn't|is never|are not|aren't|are never)(?: left)?(?: waiting)? {_ALONE}{_WHERE}",
        rf"{_SURE} {_WHO} (?:does not|doesn't|never|do not|don't)(?: have to)? waits? {_ALONE}{_WHERE}",
        rf"(?:[Pp]lease )?(?:[Dd]o not|[Dd]on't|[Nn]ever)(?: ever)? (?:leave|let|keep) {_WHO} (?:{_WAITING} )?{_ALONE}{_WHERE}",
        rf"(?:(?:I|[Ww]e) )?(?:{_NOT}) want {_WHO} (?:to )?(?:have to )?{_WAITING} {_ALONE}{_WHERE}",
        rf"(?:should|must|has to|needs to|is to) (?:always )?(?:wait|stay|be(?: there)?|be waiting) with {_WHO}"
        rf"(?: while (?:she|he|they) waits?)?{_WHERE}",
        rf"(?:(?:should|must|has to|needs to|is to) )?(?:[Pp]lease )?[Kk]eep {_WHO} company{_WHERE}",
        rf"(?:needs?|wants?|(?:should|must) (?:always )?have) company(?: while (?:she|he|they) waits?| while waiting)?{_WHERE}",
        rf"hates? (?:to wait|waiting) {_ALONE}{_WHERE}",
    )
)
_NOT_WANTED: Final = tuple(
    re.compile(form)
    for form in (
        rf"(?:may|can|could|might)(?: well)? {_WAIT} {_ALONE}{_WHERE}",
        rf"(?:does not|doesn't|do not|don't|would not|wouldn't) mind {_WAITING} {_ALONE}{_WHERE}",
        rf"(?:is|are) (?:fine|ok|okay|happy)(?: with)? {_WAITING} {_ALONE}{_WHERE}",
        rf"[Ii]t(?: is|'s) (?:fine|ok|okay|all right)(?: if| when) {_WHO} (?:waits?|is|are|stays?)(?: left)? {_ALONE}{_WHERE}",
    )
)
_WITHOUT: Final = re.compile(rf",? without (?:having to wait|waiting|being left) {_ALONE}{_WHERE}$")
_EVERYBODY: Final = frozenset({"anybody", "anyone", "everybody", "everyone"})
_PRONOUNS: Final = frozenset({"her", "him", "them"})


def read_company(people: tuple[str, ...], rest: str) -> list[Fact] | None:
    """`people`: whom the clause is about, which a pronoun in it means too. With a time or a duration it says something else."""
    if times(rest) or durations(rest):
        return None
    for forms, is_wanted in ((_WANTED, True), (_NOT_WANTED, False)):
        for form in forms:
            said = form.fullmatch(rest)
            if said:
                return _facts(said, people, is_wanted=is_wanted)
    return None


def without_company(rest: str) -> tuple[str, bool]:
    """What is left of a clause that ends in `without waiting alone`, and whether it did."""
    left = _WITHOUT.sub("", rest)
    return left, left != rest


def company(people: tuple[str, ...], *, is_wanted: bool = True) -> list[Fact]:
    return [*(PersonFact(name) for name in people), CompanyFact(people, is_wanted)]


def _facts(said: re.Match[str], people: tuple[str, ...], *, is_wanted: bool) -> list[Fact] | None:
    groups = said.groupdict()
    who = groups.get("who")
    if groups.get("everybody") or who in _EVERYBODY:
        return company((), is_wanted=is_wanted)
    meant = people if who is None or who in _PRONOUNS else names(who)
    return company(meant, is_wanted=is_wanted) if meant else None

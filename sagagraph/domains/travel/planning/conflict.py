"""Conflict: which wishes cannot be met together: a smallest set, and what would have to give way."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from sagagraph.domains.travel.planning.measures import price_alone
from sagagraph.domains.travel.planning.relaxation import least_change
from sagagraph.domains.travel.planning.search import best_path
from sagagraph.domains.travel.planning.wishes import ALL_WISHES, Wish, in_words, wishes_of
from sagagraph.domains.travel.wording import listed
from sagagraph.planning.domain import Relaxation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sagagraph.domains.travel.planning.market import Market
    from sagagraph.domains.travel.request import TripRequest

    Wishes = frozenset[Wish]


class Conflict:
    """Conflict of a `request` that has no trip in `market`. Dropping a wish never loses a trip: subsets of a feasible set
    are feasible.
    """

    def __init__(self, request: TripRequest, market: Market) -> None:
        self._request = request
        self._market = market
        self._wishes = wishes_of(request)
        self._kept: list[Wishes] = []
        self._refused: list[Wishes] = []
        self.wishes = self._smallest_refused()
        """A smallest set that cannot be kept together; empty where there is no trip at all."""

    @property
    def in_words(self) -> tuple[str, ...]:
        return self._named(self.wishes)

    def relaxations(self) -> Iterator[Relaxation]:
        """Return one relaxation for every wish of the conflict."""
        return (self._relaxation(wish) for wish in self.wishes)

    def _can_keep(self, wishes: Wishes) -> bool:
        if any(wishes <= kept for kept in self._kept):
            return True
        if any(refused <= wishes for refused in self._refused):
            return False
        is_kept = best_path(self._request, self._market, price_alone, wishes | (ALL_WISHES - set(self._wishes))) is not None
        (self._kept if is_kept else self._refused).append(wishes)
        return is_kept

    def _smallest_refused(self) -> tuple[Wish, ...]:
        """Try the smallest sets first. A feasible set is filled up, so that its other subsets need no search."""
        for size in range(len(self._wishes) + 1):
            for wishes in combinations(self._wishes, size):
                if not self._can_keep(frozenset(wishes)):
                    return wishes
                self._fill_up(frozenset(wishes))
        raise AssertionError("all wishes together can be kept")  # nobody asks for a conflict then

    def _fill_up(self, wishes: Wishes) -> None:
        for wish in self._wishes:
            wishes = wishes | {wish} if self._can_keep(wishes | {wish}) else wishes

    def _relaxation(self, wish: Wish) -> Relaxation:
        if self._can_do_without({wish}):
            return least_change(self._request, self._market, wish)
        together = self._named(self._smallest_concession(wish))
        words = in_words(self._request, wish)
        sentence = (
            f"giving up {words!r} alone does not help: {listed([repr(each) for each in together])} would have to go together"
        )
        return Relaxation(words, sentence, together=together)

    def _smallest_concession(self, wish: Wish) -> tuple[Wish, ...]:
        """Return wishes, including that one, without which there is a trip, and none of which could be kept."""
        others = [each for each in self._wishes if each is not wish]
        for size in range(1, len(others) + 1):
            for more in combinations(others, size):
                if self._can_do_without({wish, *more}) and not self._can_do_without(set(more)):
                    return tuple(each for each in self._wishes if each is wish or each in more)
        raise AssertionError(f"{wish} is in no conflict")

    def _can_do_without(self, wishes: set[Wish]) -> bool:
        return self._can_keep(frozenset(self._wishes) - wishes)

    def _named(self, wishes: tuple[Wish, ...]) -> tuple[str, ...]:
        return tuple(in_words(self._request, wish) for wish in wishes)

"""`python -m tests.ui.crashing --rounds 20`: servers that die under visitors who do everything; prints what became of it."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random, SystemRandom

from tests.support.databases import databases
from tests.ui.crashing.weather import Forecast, Round, keep_beside, weather
from tests.ui.nursery import Nursery

_WITHHELD = (frozenset[str](), frozenset[str](), frozenset({"void", "deadline"}))


def drawn(seed: str, *, visitors: int, acts: int) -> Forecast:
    """One or two servers, and what the reservation service promises, by chance."""
    random = Random(seed)
    return Forecast(seed, visitors, servers=random.choice((1, 1, 2)), acts=acts, withheld=random.choice(_WITHHELD))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.ui.crashing")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--visitors", type=int, default=5)
    parser.add_argument("--acts", type=int, default=25, help="of each visitor")
    parser.add_argument("--store", default="sqlite", help="sqlite, postgresql, or the URL of a PostgreSQL server")
    parser.add_argument("--seed", type=int, default=None, help="draws all but the machine's own timing; by default a new one")
    asked = parser.parse_args()
    seed = SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    rounds: list[Round] = []
    with tempfile.TemporaryDirectory() as folder:
        keep_beside(Path(folder))
        with databases(asked.store) as made, Nursery() as nursery:
            for number in range(asked.rounds):
                forecast = drawn(f"{seed} {number}", visitors=asked.visitors, acts=asked.acts)
                rounds.append(asyncio.run(weather(nursery, made, forecast)))
                sys.stderr.write(f"{_line(rounds[-1])}\n")
                sys.stderr.writelines(
                    f"FAULT round {each.forecast.seed}: {fault}\n" for each in rounds[-1:] for fault in each.faults
                )
    sys.stdout.writelines(f"{line}\n" for line in _summary(seed, rounds))
    return 1 if any(each.faults for each in rounds) else 0


def _line(one: Round) -> str:
    drawn = one.forecast
    withheld = f", without {' and '.join(sorted(drawn.withheld))}" if drawn.withheld else ""
    return f"round {drawn.seed}: {one.seconds} s, {drawn.servers} servers{withheld}, {_listed(one.harms)}; {_listed(one.ends)}"


def _summary(seed: int, rounds: list[Round]) -> list[str]:
    harms: Counter[str] = sum((each.harms for each in rounds), Counter())
    answers: Counter[str] = sum((each.answers for each in rounds), Counter())
    ends: Counter[str] = sum((each.ends for each in rounds), Counter())
    faults = sum(len(each.faults) for each in rounds)
    ended = sum(times for harm, times in harms.items() if harm.startswith("killed"))
    return [
        f"seed {seed}: {len(rounds)} rounds, {sum(each.seconds for each in rounds):.0f} s, {ended} kills",
        f"servers were {_listed(harms)}",
        f"visitors were answered: {_listed(answers)}",
        f"sagas ended: {_listed(ends)}",
        f"{faults} faults",
    ]


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{times} {what}" for what, times in sorted(counts.items())) or "nothing"


if __name__ == "__main__":
    sys.exit(main())

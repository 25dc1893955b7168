"""`python -m tests.fuzz`: many inputs for each reader, or so many for all of them; ends with 1 if one could not be taken."""

from __future__ import annotations

import argparse
import sys
import time
import traceback

from tests.fuzz.campaign import fuzz
from tests.fuzz.readers import READERS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, help="for each reader")
    parser.add_argument("--all", type=int, metavar="INPUTS", help="for all readers together")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 100_000)
    parser.add_argument("--only", default="", help="readers with these words in their name")
    told = parser.parse_args()
    failed = 0
    readers = [each for each in READERS if told.only in each]
    count = -(-told.all // len(readers)) if told.all else told.inputs
    for name in readers:
        begun = time.monotonic()
        try:
            result = f"{fuzz(name, count, told.seed)} taken, nothing found"
        except BaseExceptionGroup as exc:
            failed, result = failed + 1, f"{len(exc.exceptions)} FAULTS"
            for each in exc.exceptions:
                traceback.print_exception(each, limit=-6)
        except Exception as exc:
            failed, result = failed + 1, "A FAULT"
            traceback.print_exception(exc, limit=-6)
        took = time.monotonic() - begun
        sys.stdout.write(f"{name}: {count} inputs, seed {told.seed}, {took:.0f} s: {result}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{count * len(readers):,} inputs for {len(readers)} readers, seed {told.seed}: {failed} faults\n")
    return 1 if failed else 0


raise SystemExit(main())

"""Repair of trips, for every single and every pair of faults: judged by an oracle and a ledger, and held against starting again.

`python -m benchmarks.repair` (`make bench-repair`) runs all of it and writes docs/benchmarks/repair.md.
"""

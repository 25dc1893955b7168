"""The work that everybody does: an operation that does nothing but return a small dict."""

from __future__ import annotations

TO = "Oslo"


def result_of(number: int, to: str) -> dict[str, str]:
    return {"ok": f"{to}-{number}"}

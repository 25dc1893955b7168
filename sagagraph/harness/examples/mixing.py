"""Mixing: a simulator as an external validator of `stirred_tank.yaml`, in steps of a hundredth of a second."""

from __future__ import annotations

from typing import Any


def judge(given: dict[str, Any]) -> dict[str, Any]:
    """Tell whether 95 % of the dye is spread at the end of `mixing_s`, at `speed_rpm` of the stirrer."""
    spread, rate = 0.0, given["speed_rpm"] / 60 * 0.05
    for _ in range(round(given["mixing_s"] * 100)):
        spread += (1 - spread) * rate / 100
    return {"verdict": "PASS" if spread >= 0.95 else "FAIL", "margin": spread - 0.95, "reason": f"{spread:.4f} is spread"}

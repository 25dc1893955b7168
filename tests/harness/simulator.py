"""Validators outside, of all manners: functions and, as `python -m tests.harness.simulator`, tools of an MCP server."""

from __future__ import annotations

import time
from typing import Any

from sagagraph.harness.examples.mixing import judge


def slow(given: dict[str, Any]) -> dict[str, Any]:
    time.sleep(30)
    return judge(given)


def boastful(_given: dict[str, Any]) -> dict[str, Any]:
    return {"verdict": "PASS", "score": 100}


def dead(_given: dict[str, Any]) -> None:
    raise SystemExit(1)


if __name__ == "__main__":
    from mcp.server.fastmcp import FastMCP

    server: FastMCP[Any] = FastMCP("simulator", log_level="ERROR")

    @server.tool()
    def mixing(speed_rpm: float, mixing_s: float) -> dict[str, Any]:
        return judge({"speed_rpm": speed_rpm, "mixing_s": mixing_s})

    server.run()

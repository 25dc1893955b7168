"""Files that domains leave for people: whole or not at all, in folders that an id can not lead out of."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import quote

_LONGEST_NAME = 200


def file_name(name: str) -> str:
    """One file name for each name."""
    quoted = quote(name, safe=" ~@")
    if len(quoted) > _LONGEST_NAME:
        return hashlib.sha256(name.encode()).hexdigest()
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


def write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing, also when the process dies in between."""
    fresh = path.with_name(path.name + ".part")
    fresh.write_bytes(content)
    fresh.replace(path)

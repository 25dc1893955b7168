"""Files that commands read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sagagraph.errors import InvalidInputError


def json_file(path: Path, field: str) -> Any:
    """Raises `InvalidInputError`, which names `field` and the file, where it can not be read or is not JSON."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(value, ensure_ascii=False).encode()  # half a character can be escaped in JSON, and not be written again
        return value
    except OSError as exc:
        raise InvalidInputError(f"{path} can not be read: {exc.strerror}", field=field) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{path} is not JSON: {exc}", field=field) from exc

"""Files: those that commands read, and those that domains write for people, in full or not at all."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from sagagraph.errors import InvalidInputError

MOST_BYTES: Final = 16_000_000
_LONGEST_NAME = 200


def file_name(name: str) -> str:
    """Return a file name, a different one for each name; no id can lead out of the folder with it."""
    quoted = quote(name, safe=" ~@")
    if len(quoted) > _LONGEST_NAME:
        return hashlib.sha256(name.encode()).hexdigest()
    return quoted if quoted.strip(".") else quoted.replace(".", "%2E")


def write_whole(path: Path, content: bytes) -> None:
    """Write all of it or nothing, even if the process dies in between."""
    fresh = path.with_name(path.name + ".part")
    fresh.write_bytes(content)
    fresh.replace(path)


def text_file(path: Path, field: str) -> str:
    """Read a text file. Raises `InvalidInputError`, which names `field` and the file, if it cannot be read, is not text, or is
    far too large.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise InvalidInputError(f"{path} has more than {MOST_BYTES} bytes", field=field)
        return content.decode()
    except OSError as exc:
        raise InvalidInputError(f"{path} cannot be read: {exc.strerror}", field=field) from exc
    except UnicodeDecodeError as exc:
        raise InvalidInputError(f"{path} is not text: {exc.reason} at byte {exc.start}", field=field) from exc


def write_json(path: Path, document: Any, field: str) -> None:
    """Write JSON to a file. Raises `InvalidInputError`, which names `field` and the file, if it cannot be written."""
    write_text(path, json.dumps(document, ensure_ascii=False, indent=2), field)


def write_text(path: Path, text: str, field: str) -> None:
    """Write lines to a file. Raises `InvalidInputError`, which names `field` and the file, if it cannot be written."""
    try:
        path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as exc:
        raise InvalidInputError(f"{path} cannot be written: {exc.strerror}", field=field) from exc


def json_file(path: Path, field: str) -> Any:
    """Read a JSON file. Raises `InvalidInputError`, which names `field` and the file, if it cannot be read or is not JSON."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        json.dumps(value, ensure_ascii=False).encode()  # lone surrogates can be escaped in JSON, but not be written again
        return value
    except OSError as exc:
        raise InvalidInputError(f"{path} cannot be read: {exc.strerror}", field=field) from exc
    except (ValueError, RecursionError) as exc:
        raise InvalidInputError(f"{path} is not JSON: {exc}", field=field) from exc


def sqlite_path(url: str) -> Path:
    """Return the path in `sqlite:///FILE`."""
    return Path(url.removeprefix("sqlite:///")).expanduser()

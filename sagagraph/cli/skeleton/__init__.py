"""Skeleton of a project: a saga that books and undoes, its test, and how to run them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from sagagraph.errors import InvalidInputError

_FILES: Final = ("README.md", "main.py", "test_main.py")


def begin_project(folder: Path) -> tuple[Path, ...]:
    """Create the folder with its files. Raises `InvalidInputError` if there is something in it already."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if any(folder.iterdir()):
            raise InvalidInputError(f"{folder} is not empty: nothing was written", field="NAME")
        return tuple(Path(shutil.copy(Path(__file__).parent / name, folder / name)) for name in _FILES)
    except OSError as exc:
        raise InvalidInputError(f"{folder} cannot be written: {exc.strerror}", field="NAME") from exc

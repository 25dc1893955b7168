"""Forms: patterns over words and tagged values, written as they are said, in code or in a room's `forms.ini`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from configparser import RawConfigParser
from functools import cache
from pathlib import Path
from typing import Final

VALUE: Final = "[\U000f0000-\U000ffffd]"
"""The character after the name of a tag, which stands for its value."""
_KIND: Final = str.maketrans({chr(ord("a") + n): chr(0xE000 + n) for n in range(26)})
_PART: Final = re.compile(
    r"\\.|\[(?:\\.|[^\]\\])*\]|(?P<tag>\{(?P<kind>[a-z]+)(?::(?P<name>\w+))?\})|(?P<space> +(?P<many>[?*+])?)"
    r"|(?P<group>\((?!\?))|(?P<named>\(\?<(?=\w))"
)
_HOLE: Final = re.compile(r"\{([A-Z_]+)\}")


@cache
def form(pattern: str) -> re.Pattern[str]:
    """Return a regular expression over words and tags; case does not matter.

    `{n}` is any value tagged `n`, found again as `found["n"]`; `{n:nights}` as `found["nights"]`; `{n:_}` is not captured. A
    space stands for any amount of space, `(a|b)` captures nothing, and `(?<which>a|b)` is found as `which`.
    """

    def written(part: re.Match[str]) -> str:
        if part["tag"]:
            return tag_of(part["kind"]) + (VALUE if part["name"] == "_" else f"(?P<{part['name'] or part['kind']}>{VALUE})")
        if part["space"]:
            return {None: r"\s+", "?": r"\s*", "*": r"\s*", "+": r"\s+"}[part["many"]]
        return "(?:" if part["group"] else "(?P<" if part["named"] else part[0]

    return re.compile(_PART.sub(written, pattern), re.IGNORECASE)


def tag_of(kind: str) -> str:
    """Return the name of a tag as it stands in a passage, before the character of its value."""
    return "\ue0ff" + kind.translate(_KIND)


class Forms:
    """The forms of one section of `forms.ini` beside a module, in their order, compiled when they are first used.

    An entry is an attribute, or found by its name; they are iterated by their names.

    `{NAME}` stands for the entry NAME, a part of forms, of the same section, of the one that it belongs to (`[stays]` of
    `[stays.roles]`), or of `[everywhere]` in that file, or in the one of this package. `parts`: entries that are defined in code.
    """

    def __init__(self, module: str, section: str, **parts: str) -> None:
        own = _entries(Path(module).parent)
        self._names = [name for name in own[section] if not name.isupper()]
        self._entries = {
            **_entries(Path(__file__).parent)["everywhere"],
            **own.get("everywhere", {}),
            **own.get(section.partition(".")[0], {}),
            **own[section],
            **parts,
        }
        self._compiled: dict[str, re.Pattern[str]] = {}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        return self[name]

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            self._compiled[name] = form(self.text(name))
        return self._compiled[name]

    def text(self, name: str) -> str:
        """Return an entry, its parts filled in, for use in other forms."""
        return _HOLE.sub(lambda hole: f"({self.text(hole[1])})", self._entries[name].replace("\n", ""))

    def phrase(self, name: str) -> str:
        """Return an entry as it is written, its parts filled in."""
        return _HOLE.sub(lambda hole: f"({self._entries[hole[1]]})", self._entries[name].replace("\n", " "))

    def listed(self, name: str) -> frozenset[str]:
        """Return the words of an entry that is simply a list of them."""
        return frozenset(self._entries[name].split())

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)


@cache
def _entries(folder: Path) -> dict[str, dict[str, str]]:
    ini = RawConfigParser(delimiters=("=",), comment_prefixes=("#",), empty_lines_in_values=False)
    ini.optionxform = str  # type: ignore[method-assign, assignment]  # the way configparser keeps capitals
    ini.read_string((folder / "forms.ini").read_text(encoding="utf-8"))
    return {section: dict(ini.items(section)) for section in ini.sections()}

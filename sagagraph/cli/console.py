"""Console: prints what providers, models and files said, none of which can control the terminal.

Rich, which takes as long to import as a short command runs, is only imported for colours and tables.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType
    from rich.segment import Segment

_STEERING: Final = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")
"""Control characters, which a terminal would obey instead of showing. Line ends and tabs stay."""


class Printer:
    """Printer on standard output or standard error."""

    def __init__(self, *, stderr: bool = False) -> None:
        self._is_error = stderr

    def print(self, told: RenderableType, *, markup: bool = True) -> None:
        """Print a line or something of rich's. `markup`: whether words in brackets are colours."""
        if isinstance(told, str) and not (markup and "[" in told):
            self._write(f"{told}\n")
        else:
            self._rich.print(told, markup=markup)

    def ask(self, question: str) -> str:
        """Print a question and wait for the line that answers it. Raises `EOFError`."""
        self._write(question)
        return input()

    def _write(self, text: str) -> None:
        stream = sys.stderr if self._is_error else sys.stdout
        stream.write(text.translate(_STEERING))
        stream.flush()

    @cached_property
    def _rich(self) -> Console:
        return _steered(stderr=self._is_error, emoji=False, highlight=False, soft_wrap=True)


def escape(text: str) -> str:
    """Return text whose brackets are no colours."""
    if "[" not in text:
        return text
    from rich.markup import escape as escaped

    return escaped(text)


def _steered(**options: Any) -> Console:  # the options are rich's
    from rich.console import Console
    from rich.segment import Segment

    class Steered(Console):
        def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
            for each in super().render(renderable, options):
                yield each if each.control else Segment(each.text.translate(_STEERING), each.style)

    return Steered(**options)

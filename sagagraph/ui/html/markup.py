"""HTML that is made of elements: every text in it is escaped, whoever wrote it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


class Html(str):
    """Markup that was made here; any other string is text."""

    __slots__ = ()


def element(name: str, *children: str, **attributes: str) -> Html:
    """`class_` stands for `class`, and `data_x` for `data-x`."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items() if value)
    return Html(f"<{name}{written}>{joined(*children)}</{name}>")


def joined(*children: str) -> Html:
    return Html("".join(each if isinstance(each, Html) else escape(each) for each in children))


def table(header: tuple[str, ...], rows: Sequence[Sequence[str]]) -> Html:
    """Narrow screens scroll it by itself."""
    head = element("tr", *(element("th", each) for each in header))
    body = (element("tr", *(element("td", cell) for cell in row)) for row in rows)
    whole = element("table", element("thead", head), element("tbody", *body))
    return element("div", whole, class_="sg-scroll")

"""Templates and style: every value inserted into a template is escaped, whoever wrote it."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from sagagraph.ui.differences import dated

_FOLDER: Final = Path(__file__).parent / "templates"
CSS: Final = (_FOLDER / "style.css").read_text(encoding="utf-8")
LOOK_AGAIN: Final = (_FOLDER / "look_again.js").read_text(encoding="utf-8")
CHOOSE: Final = (_FOLDER / "choose.js").read_text(encoding="utf-8")
REQUEST: Final = (_FOLDER / "request.js").read_text(encoding="utf-8")
CSS_AROUND: Final = (_FOLDER / "around.css").read_text(encoding="utf-8")
CSS_ALONE: Final = (_FOLDER / "alone.css").read_text(encoding="utf-8")


def rounded(value: Any, away_from: Any) -> str:
    """Round away from another number, to three digits but never before the point; return what is no fraction as it is."""
    if not isinstance(value, float) or abs(value) >= 1e15 or isinstance(away_from, str):
        return str(value)
    exact = Decimal(str(value))
    step = Decimal(1).scaleb(min(0, exact.adjusted() - 2))
    return f"{float(exact.quantize(step, ROUND_CEILING if value > away_from else ROUND_FLOOR)):.15g}"


_templates: Final = Environment(
    loader=FileSystemLoader(_FOLDER), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
_templates.filters["dated"] = dated
_templates.filters["rounded"] = rounded
_templates.globals["busy"] = (_FOLDER / "busy.js").read_text(encoding="utf-8")


def render(name: str, **values: Any) -> Markup:
    """Render the template of this name with `values`."""
    return Markup(_templates.get_template(f"{name}.html").render(values))  # noqa: S704 - all that is in it has been escaped


def table(header: tuple[str, ...], rows: Any) -> Markup:
    """Render `rows` of cells as a table that scrolls on narrow screens."""
    return render("table", header=header, rows=rows)

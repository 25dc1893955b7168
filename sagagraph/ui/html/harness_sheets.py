"""Sheets of a harness: its variables, derived quantities and rules, and the file with what somebody entered in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from sagagraph.errors import InvalidInputError
from sagagraph.extras import needing
from sagagraph.planning.fields import Field, Form, Row, Sheet, Widget, choices_of

_FIELD: Final = "harness"
_TRY: Final = "try"
"""The field of a way out that is to be tried: names and values, separated by semicolons."""
_VARIABLES: Final = ("name", "unit", "value", "from", "to", "may move")
_DERIVED: Final = ("name", "formula")
_RULES: Final = ("name", "what must hold", "severity")
_SEVERITIES: Final = ("CRITICAL", "FATAL")
_COLUMNS: Final = {"id": "name", "assertion": "what must hold", "domain": "from", "negotiable": "may move", "derived": "formula",
                   "rules": "what must hold"}  # fmt: skip
"""Where the parts of a file stand that are called otherwise there."""
_WIDE: Final = {"what must hold": 36, "formula": 36, "name": 20, "unit": 8, "value": 8, "from": 5, "to": 5}
_MORE: Final = "The last row is for one more; one without a name is left out."
_WEIGHED: Final = f"No way out moves the limit of a FATAL rule; it may move that of a CRITICAL one. {_MORE}"
_NAMED: Final = f"Each name stands for its formula, in rules and in other formulas. {_MORE}"
_DECIDED: Final = f"Without a value, a variable is decided within its bounds. {_MORE}"


def harness_sheets(text: str) -> tuple[Sheet, ...]:
    """Return the sheets of a file. Raises `InvalidInputError` for what cannot be read."""
    document = _document(text)
    variables = [{"name": name, **_shown(each)} for name, each in _named(document, "variables")]
    rules = [_shown_rule(each) for each in _listed(document)]
    derived = [{"name": name, "formula": _text(term)} for name, term in _named(document, "derived")]
    sheets = [_sheet("Variables", "variable", _VARIABLES, variables, _DECIDED)]
    if derived:
        sheets.append(_sheet("Derived", "derived", _DERIVED, derived, _NAMED))
    return (*sheets, _sheet("Rules", "rule", _RULES, rules, _WEIGHED))


def with_entries(text: str, form: Form) -> str:
    """Return the file with what a form's entries change in it; the same text if they change nothing."""
    document = _document(text)
    before = repr(document)
    kinds = {name.partition("-")[0] for name in form}
    if "variable" in kinds:
        document["variables"] = dict(_variables(document, form))
        document["rules"] = list(_rules(document, form))
    if "derived" in kinds:
        terms = ((form.get(f"derived-{n}-name", ""), form.get(f"derived-{n}-formula", "")) for n in range(len(form)))
        document["derived"] = {name: term for name, term in terms if name}
    for move in filter(None, form.get(_TRY, "").split(";")):
        name, _, value = move.partition("=")
        dict(_named(document, "variables")).get(name, {})["value"] = _value(value)
    if repr(document) == before:
        return text
    from sagagraph.harness.registry.yaml_file import yaml_text

    return yaml_text(document)


def at_its_row(sheets: tuple[Sheet, ...], exc: InvalidInputError) -> tuple[tuple[Sheet, ...], str]:
    """Return the sheets with a fault of their file at its cell, and what it says there; as it is, if it is not about a row."""
    part, _, place = (exc.field or "").partition(".")
    why = str(exc).removeprefix(f"{exc.field}: ")
    for sheet in (each for each in sheets if each.title.casefold() == part):
        for number, (_, cells) in enumerate(sheet.rows[:-1]):
            called = cells[0][0].value
            name = next((each for each in (called, str(number)) if f"{place}.".startswith(f"{each}.")), None)
            if name is not None:
                key = place[len(name) + 1 :] or part
                column = _COLUMNS.get(key, key)
                cell = next((cell for (cell,) in cells if cell.label == column), cells[0][0])
                marked = tuple(each.marked(lambda field, at=cell.name: field.asking({at: why})) for each in sheets)  # type: ignore[misc]
                return marked, f"{sheet.title}, {called}, {cell.label}: {why}"
    return sheets, str(exc)


def _document(text: str) -> dict[str, Any]:
    with needing("harness"):
        from sagagraph.harness.registry.yaml_file import read_yaml

    document = read_yaml(text, _FIELD)
    if not isinstance(document, dict):
        raise InvalidInputError("is no harness: it has no variables and no rules", field=_FIELD)
    return document


def _named(document: Mapping[str, Any], part: str) -> list[tuple[str, Any]]:
    """Return the parts that can be shown as rows; a file that is wrong is explained when it is loaded."""
    found = document.get(part)
    return list(found.items()) if isinstance(found, dict) else []


def _listed(document: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = document.get("rules")
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _shown(variable: Any) -> dict[str, str]:
    known = variable if isinstance(variable, dict) else {}
    domain = known.get("domain")
    low, high = domain if domain is not None and _is_range(domain) else (domain, None)
    may_move = "yes" if known.get("negotiable") is True else ""
    return {"unit": _text(known.get("unit")), "value": _text(known.get("value")), "from": _text(low), "to": _text(high),
            "may move": may_move}  # fmt: skip


def _shown_rule(rule: Mapping[str, Any]) -> dict[str, str]:
    judged = rule.get("assertion", f"judged by {rule.get('uses', 'nobody')}")
    return {"name": _text(rule.get("id")), "what must hold": _text(judged), "severity": _text(rule.get("severity"))}


def _is_range(domain: Any) -> bool:
    return isinstance(domain, list) and len(domain) == 2 and not any(isinstance(each, str | bool) for each in domain)


def _text(value: Any) -> str:
    """Return a value as it stands in a file; texts without quotation marks."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, bool):
        return str(value).lower()
    from sagagraph.harness.registry.yaml_file import decimal_text

    return decimal_text(value)


def _value(text: str) -> Any:
    """Return what a file would have there: text, if it is nothing else."""
    from sagagraph.harness.registry.yaml_file import read_yaml

    try:
        return read_yaml(text, _FIELD) if text else None
    except InvalidInputError:
        return text


def _sheet(title: str, kind: str, columns: tuple[str, ...], rows: list[dict[str, str]], hint: str) -> Sheet:
    return Sheet(title, columns, tuple(_row(kind, number, columns, each) for number, each in enumerate([*rows, {}])), hint)


def _row(kind: str, number: int, columns: tuple[str, ...], known: Mapping[str, str]) -> Row:
    choices = {"severity": _SEVERITIES, "may move": ("", "yes")}
    cells = tuple((_field(f"{kind}-{number}-{each}", each, known.get(each, ""), choices.get(each, ())),) for each in columns)
    return f"{number + 1}", cells


def _field(name: str, label: str, value: str, choices: tuple[str, ...]) -> Field:
    widget = Widget.CHOICE if choices else Widget.TEXT
    return Field(name, label, value, widget, choices_of(*choices), _WIDE.get(label, 6))


def _entered(form: Form, kind: str, number: int, known: Mapping[str, str], columns: tuple[str, ...]) -> dict[str, str]:
    """Return the entries of a row that differ from what was shown in it."""
    said = {each: form.get(f"{kind}-{number}-{each}", "") for each in columns}
    return {each: text for each, text in said.items() if text != known.get(each, "")}


def _variables(document: Mapping[str, Any], form: Form) -> Iterator[tuple[str, Any]]:
    for number, (name, known) in enumerate([*_named(document, "variables"), ("", {})]):
        said = _entered(form, "variable", number, {"name": name, **_shown(known)}, _VARIABLES)
        if called := said.get("name", name):
            yield called, _changed(dict(known) if isinstance(known, dict) else {}, said)


def _changed(variable: dict[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    if "unit" in said or "unit" not in variable:
        variable["unit"] = said.get("unit") or variable.get("unit", "1")
    if "value" in said:
        variable["value"] = _value(said["value"])
    if said.keys() & {"from", "to"}:
        ends = variable["domain"] if _is_range(variable.get("domain")) else [None, None]
        variable["domain"] = [_value(said[each]) if each in said else end for each, end in zip(("from", "to"), ends, strict=True)]
    if "may move" in said:
        variable["negotiable"] = said["may move"] == "yes"
    return {name: value for name, value in variable.items() if value is not None}


def _rules(document: Mapping[str, Any], form: Form) -> Iterator[dict[str, Any]]:
    for number, known in enumerate([*_listed(document), {}]):
        said = _entered(form, "rule", number, _shown_rule(known) if known else {"severity": _SEVERITIES[0]}, _RULES)
        if said.get("name", known.get("id")):
            names = {"name": "id", "what must hold": "assertion", "severity": "severity"}
            yield {**known, **{names[each]: text for each, text in said.items()}}

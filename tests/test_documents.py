"""Documents: what code and documents cite is there, links lead somewhere, and docs/formats.md names what there is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import typer

import sagagraph
from sagagraph.cli.app import app

pytestmark = pytest.mark.quick

ROOT = Path(__file__).parents[1]
FOLDERS = ("sagagraph", "tests", "benchmarks", "docs")
PROTOCOL, FORMATS = ROOT / "docs" / "protocol.md", ROOT / "docs" / "formats.md"

_NUMBERS = r"\d+[ab]?(?:(?:, | and | to |, and )\d+[ab]?)*"
_CITATIONS = {
    "rule": re.compile(rf"\brules? ({_NUMBERS})"),
    "I": re.compile(r"\b(I[1-9]\d?)\b"),
    "L": re.compile(r"protocol\.md ((?:L\d+(?:, | and )?)+)"),
    "M": re.compile(r"protocol\.md ((?:M\d+(?:, | and )?)+)"),
    "section": re.compile(rf"formats\.md sections? ({_NUMBERS})"),
}
_LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)


def files(*suffixes: str) -> Iterator[Path]:
    yield from (path for path in (ROOT / "README.md", ROOT / "CHANGELOG.md") if path.suffix in suffixes)
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in suffixes and path != Path(__file__))


@cache
def known() -> dict[str, frozenset[str]]:
    """The numbers that can be cited, by kind."""
    protocol, formats = PROTOCOL.read_text(), FORMATS.read_text()
    numbers = {"rule": re.findall(r"^###+ Rule (\w+):", protocol, re.MULTILINE)}
    numbers |= {letter: re.findall(rf"^\| ({letter}\d+) \|", protocol, re.MULTILINE) for letter in "ILM"}
    numbers["section"] = re.findall(r"^## (\d+)\. ", formats, re.MULTILINE)
    return {kind: frozenset(found) for kind, found in numbers.items()}


def cited(text: str) -> Iterator[tuple[str, str]]:
    for kind, citation in _CITATIONS.items():
        for found in citation.finditer(text):
            yield from ((kind, each) for each in re.findall(r"[ILM]?\d+[ab]?", found[1]))


def test_the_protocol_has_its_numbers() -> None:
    assert known()["rule"] == {*map(str, range(13)), "2a", "3a", "3b"}
    assert {kind: len(numbers) for kind, numbers in known().items() if kind != "rule"} == {
        "I": 11,
        "L": 10,
        "M": 17,
        "section": 12,
    }


def test_what_is_cited_exists() -> None:
    strays = [
        f"{path.relative_to(ROOT)} cites {kind} {number}"
        for path in files(".py", ".md")
        for kind, number in cited(path.read_text(encoding="utf-8"))
        if number not in known()[kind]
    ]
    assert strays == []


def test_names_of_tests_cite_rules_that_exist() -> None:
    code = [path.read_text(encoding="utf-8") for path in files(".py")]
    named = {found for text in code for found in re.findall(r"def test_rule_(\d+[ab]?)_", text)}
    assert named
    assert named <= known()["rule"]


def test_nothing_cites_a_document_that_is_not_in_the_repository() -> None:
    elsewhere = re.compile(r"\bPROTOCOL\b|\bFORMATS\b|\b(?:DESIGN|STACK|STYLE)(?:\.md| section)\b")
    strays = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for path in files(".py", ".md")
        for found in elsewhere.finditer(path.read_text(encoding="utf-8"))
    ]
    assert strays == []


# -- links ---------------------------------------------------------------------------------------------------------------


def links(document: Path) -> Iterator[str]:
    for inside, picture in _LINK.findall(_CODE.sub("", document.read_text(encoding="utf-8"))):
        target = inside or picture
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors(document: Path) -> set[str]:
    """Of its headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", document.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


def is_there(document: Path, target: str) -> bool:
    name, _, anchor = target.partition("#")
    path = (document.parent / name).resolve() if name else document
    return path.exists() and (not anchor or anchor in anchors(path))


@pytest.mark.parametrize("document", list(files(".md")), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_leads_somewhere(document: Path) -> None:
    assert [target for target in links(document) if not is_there(document, target)] == []


# -- the contract --------------------------------------------------------------------------------------------------------


def is_command(words: list[str]) -> bool:
    command = typer.main.get_command(app)
    for word in words:
        if not hasattr(command, "resolve_command"):
            return False
        context = typer.Context(command, resilient_parsing=True)
        command = command.resolve_command(context, [word])[1]
    return command is not None


def test_every_command_of_the_contract_exists() -> None:
    named = set(re.findall(r"`sagagraph ([a-z]+(?: [a-z]+)?)", FORMATS.read_text()))
    assert len(named) > 25
    assert [each for each in sorted(named) if not is_command(each.split())] == []


def test_every_name_of_the_contract_can_be_imported() -> None:
    listed = FORMATS.read_text().split("`from sagagraph import`")[1].split("The errors")[0]
    names = re.findall(r"`(\w+)`", listed)
    assert len(names) > 15
    assert [each for each in names if not hasattr(sagagraph, each)] == []

"""Parser: the text of an assertion as a tree, within bounds on length, depth, size and cost. Whatever else it says is refused.

Written by hand, by precedence (Pratt 1973): each refusal must name what it refuses (docs/adr/0022-harnesses.md).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import COMPARISONS, LIST, Call, Each, Literal, Name, Node, depth_of

MOST_CHARACTERS: Final = 100_000
MOST_NODES: Final = 10_000
MOST_DEPTH: Final = 50
MOST_LINKS: Final = 200
"""Of a sum or a product, before its parts need names."""
MOST_TREE: Final = 250
"""How deep a tree is, links of chains counted."""
MOST_DIGITS: Final = 400
"""Of a number as written, and of the power of ten in it."""

FUNCTIONS: Final[dict[str, tuple[int, int]]] = {
    "abs": (1, 1), "min": (1, 1000), "max": (1, 1000), "sum": (1, 1), "len": (1, 1), "exp": (1, 1), "log": (1, 1), "sqrt": (1, 1),
    "kelvin": (1, 1), "implies": (2, 2), "all": (1, 1), "any": (1, 1),
}  # fmt: skip
"""Name → how many operands it takes, at least and at most."""
KEYWORDS: Final = frozenset({"and", "or", "not", "in", "if", "then", "else", "implies", "for", "true", "false", "True", "False"})
_IMPLIES, _OR, _AND, _COMPARED, _SUM, _PRODUCT, _SIGN, _POWER = range(1, 9)
_LEVELS: Final = {"implies": _IMPLIES, "or": _OR, "and": _AND, "+": _SUM, "-": _SUM, "*": _PRODUCT, "/": _PRODUCT, "**": _POWER,
                  **dict.fromkeys((*COMPARISONS, "in", "not"), _COMPARED)}  # fmt: skip
"""How tightly an operator binds what stands on both its sides."""

_TOKEN: Final = re.compile(
    r"""\s*(?:
      (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
    | (?P<field>input\s*\.\s*get\s*\(\s*(?P<quote>['"])(?P<key>[A-Za-z][A-Za-z0-9_]*)(?P=quote)\s*\))
    | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<string>"[^"\\\n]*"|'[^'\\\n]*')
    | (?P<sign>\*\*|<=|>=|==|!=|[-+*/<>()\[\],≤≥≠])
    )""",
    re.VERBOSE,
)
_SPELLED: Final = {"≤": "<=", "≥": ">=", "≠": "!="}
_NUMBER: Final = re.compile(r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]+))?")
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class NotANumberError(ValueError):
    """Text that is no finite decimal number, or an absurdly long one."""


def rational(text: str) -> fmpq:
    """Return a decimal number exactly. Raises `NotANumberError`."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["part"]):
        raise NotANumberError(f"{text[:40]!r} is no decimal number")
    whole, part = found["whole"] or "", found["part"] or ""
    written = found["power"] or "0"
    if len(whole) + len(part) > MOST_DIGITS or len(written) > 5 or abs(int(written)) > MOST_DIGITS:
        raise NotANumberError(f"{text[:40]} has more than {MOST_DIGITS} digits")
    shift = int(written) - len(part)
    value = fmpq(int(whole + part or "0") * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    return -value if found["sign"] == "-" else value


def is_name(text: str) -> bool:
    """Tell whether it can name a variable: letters, digits and underscores, no word of the language."""
    return _IDENTIFIER.fullmatch(text) is not None and text not in KEYWORDS and text not in FUNCTIONS and len(text) <= 100


def parse(text: str, where: str) -> Node:
    """Return the tree. `where` names the assertion in errors.

    Raises:
        InvalidInputError: what cannot be read, and at which character.
    """
    if len(text) > MOST_CHARACTERS:
        raise InvalidInputError(f"has more than {MOST_CHARACTERS} characters", field=where)
    parser = _Parser(_tokens(text, where), where)
    tree = parser.expression()
    token = parser.tokens[parser.at]
    if token.kind != "end":
        raise InvalidInputError(f"{token.text!r} at character {token.at} is too much", field=where)
    if depth_of(tree) > MOST_TREE:
        raise InvalidInputError(f"is nested more than {MOST_TREE} deep with its chains", field=where)
    return tree


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


def _tokens(text: str, where: str) -> list[_Token]:
    tokens: list[_Token] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            shown = text[at:].strip()[:1]
            raise InvalidInputError(f"{shown!r} at character {at + 1} is no part of the assertion language", field=where)
        kind = "name" if found["field"] else found.lastgroup or ""
        said = found["key"] or found[kind]
        tokens.append(_Token(kind, _SPELLED.get(said, said), found.end() - len(said) + 1))
        at = found.end()
    if not tokens:
        raise InvalidInputError("is empty", field=where)
    return [*tokens, _Token("end", "the end", at + 1)]


@dataclass(slots=True)
class _Parser:
    tokens: list[_Token]
    where: str
    at: int = 0
    depth: int = 0
    nodes: int = 0

    def expression(self, least: int = _IMPLIES) -> Node:
        """Read operators that bind at least so tightly, and what they join."""
        left = self._prefix(least)
        while _LEVELS.get(word := self._operator(), 0) >= least:
            level = _LEVELS[word]
            if level == _COMPARED:
                left = self._comparison(left)
            elif level in (_AND, _OR):
                operands = [left]
                while self._take(word):
                    operands.append(self.expression(level + 1))
                left = self._call(word, *operands)
            elif level in (_IMPLIES, _POWER):
                self.at += 1
                left = self._call(word, left, self._nested(_SIGN if level == _POWER else _IMPLIES))
            else:
                left = self._chain(left, level)
        return left

    def _operator(self) -> str:
        token = self.tokens[self.at]
        return token.text if token.kind in ("sign", "name") else ""

    def _prefix(self, least: int) -> Node:
        if self._take("not", least <= _COMPARED):
            return self._call("not", self._nested(_COMPARED))
        if self._take("if", least <= _IMPLIES):
            condition = self._nested()
            self._expect("then")
            then = self._nested()
            self._expect("else")
            return self._call("if", condition, then, self._nested())
        if self._take("+"):
            return self._nested(_SIGN)
        return self._call("neg", self._nested(_SIGN)) if self._take("-") else self._atom()

    def _comparison(self, left: Node) -> Node:
        """A chain, `a < b <= c`, is all of its links."""
        links: list[Node] = []
        while _LEVELS.get(self._operator()) == _COMPARED:
            sign = self._next().text
            negated = sign == "not"
            if negated:
                self._expect("in")
            right = self.expression(_SUM)
            link = self._call("in" if negated else sign, left, right)
            links.append(self._call("not", link) if negated else link)
            left = right
        return links[0] if len(links) == 1 else self._call("and", *links)

    def _chain(self, left: Node, level: int) -> Node:
        """Left to right."""
        links = 0
        while _LEVELS.get(sign := self._operator()) == level:
            self.at += 1
            left = self._call(sign, left, self.expression(level + 1))
            links += 1
            if links > MOST_LINKS:
                self._fail(f"chains more than {MOST_LINKS} operands; name parts of it under `derived`")
        return left

    def _atom(self) -> Node:
        token = self._next()
        if token.kind == "number":
            try:
                return self._counted(Literal(rational(token.text), token.text))
            except NotANumberError as exc:
                self._fail(str(exc))
        if token.kind == "string":
            return self._counted(Literal(token.text[1:-1], token.text))
        if token.kind == "name":
            return self._named(token)
        if token.text == "(":
            inner = self._nested()
            self._expect(")")
            return inner
        if token.text == "[":
            return self._call(LIST, *self._items("]"))
        return self._fail(f"{token.text!r} at character {token.at} is not where a value can be")

    def _named(self, token: _Token) -> Node:
        if token.text in ("true", "false", "True", "False"):
            return self._counted(Literal(token.text in ("true", "True"), token.text.lower()))
        if self._operator() == "(":
            return self._function(token)
        if not is_name(token.text):
            word = "a word of the language" if token.text in KEYWORDS or token.text in FUNCTIONS else "no name of a variable"
            self._fail(f"{token.text!r} at character {token.at} is {word}")
        return self._counted(Name(token.text))

    def _function(self, token: _Token) -> Node:
        if token.text not in FUNCTIONS:
            self._fail(f"{token.text!r} is no function of the assertion language; there are {', '.join(FUNCTIONS)}")
        self._expect("(")
        operands = self._items(")", "for")
        if self.tokens[self.at - 1].text == "for":
            return self._each(token.text, operands)
        least, most = FUNCTIONS[token.text]
        if not least <= len(operands) <= most:
            wanted = str(least) if least == most else f"{least} or more"
            self._fail(f"{token.text} takes {wanted} operand{'' if wanted == '1' else 's'}, not {len(operands)}")
        return self._call(token.text, *operands)

    def _each(self, name: str, operands: tuple[Node, ...]) -> Node:
        """`BODY for NAME in LIST)`, from the name on."""
        bound = self._next().text
        if name not in ("all", "any") or len(operands) != 1 or not is_name(bound):
            self._fail(f"{name}(… for {bound} in …) cannot be: only all and any take `for`, with one term and a name")
        self._expect("in")
        items = self._nested()
        self._expect(")")
        return self._counted(Each(name, operands[0], bound, items))

    def _items(self, *ends: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not any(self._take(end) for end in ends):
            if items:
                self._expect(",")
            items.append(self._nested())
        return tuple(items)

    # -- tokens and bounds --

    def _next(self) -> _Token:
        token = self.tokens[self.at]
        if token.kind == "end":
            self._fail("ends where a value is expected")
        self.at += 1
        return token

    def _take(self, text: str, allowed: bool = True) -> bool:
        taken = allowed and self._operator() == text
        self.at += taken
        return taken

    def _expect(self, text: str) -> None:
        if not self._take(text):
            token = self.tokens[self.at]
            self._fail(
                f"{text!r} is expected, not {token.text if token.kind == 'end' else f'{token.text!r} at character {token.at}'}"
            )

    def _nested(self, least: int = _IMPLIES) -> Node:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self._fail(f"is nested more than {MOST_DEPTH} deep")
        node = self.expression(least)
        self.depth -= 1
        return node

    def _call(self, name: str, *operands: Node) -> Node:
        return self._counted(Call(name, operands))

    def _counted(self, node: Node) -> Node:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            self._fail(f"has more than {MOST_NODES} parts")
        return node

    def _fail(self, message: str) -> NoReturn:
        raise InvalidInputError(message, field=self.where)

"""Parser: the text of an assertion as a tree, within bounds on length, depth, size and cost. Whatever else it says is refused.

Written by hand: the grammar has a dozen rules, and each refusal must name what it refuses (docs/adr/0022-harnesses.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NoReturn

from flint import fmpq

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import COMPARISONS, Call, Each, Items, Literal, Name, Node, depth_of

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
    parser.expect_end()
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
    at = 0
    end = len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            shown = text[at:].strip()[:1]
            raise InvalidInputError(f"{shown!r} at character {at + 1} is no part of the assertion language", field=where)
        kind = found.lastgroup if found.lastgroup not in ("quote", "key") else "field"
        said = found["key"] if found["field"] else (found[kind] if kind else "")
        tokens.append(_Token("name" if found["field"] else kind or "", _SPELLED.get(said, said), found.end() - len(said) + 1))
        at = found.end()
    if not tokens:
        raise InvalidInputError("is empty", field=where)
    return tokens


@dataclass(slots=True)
class _Parser:
    tokens: list[_Token]
    where: str
    at: int = 0
    depth: int = 0
    nodes: int = 0
    bound: list[str] = field(default_factory=list)

    # -- levels, loosest first --

    def expression(self) -> Node:
        return self._deeper(self._implication)

    def _implication(self) -> Node:
        if self._take("if"):
            condition = self.expression()
            self._expect("then")
            then = self.expression()
            self._expect("else")
            return self._call("if", condition, then, self.expression())
        left = self._joined("or", lambda: self._joined("and", self._negation))
        if self._take("implies"):
            return self._call("implies", left, self._deeper(self._implication))
        return left

    def _joined(self, word: str, level: Callable[[], Node]) -> Node:
        operands = [level()]
        while self._take(word):
            operands.append(level())
        return operands[0] if len(operands) == 1 else self._call(word, *operands)

    def _negation(self) -> Node:
        if self._take("not"):
            return self._call("not", self._deeper(self._negation))
        return self._comparison()

    def _comparison(self) -> Node:
        """A chain, `a < b <= c`, is all of its links."""
        left = self._sum()
        links: list[Node] = []
        while (sign := self._relation()) is not None:
            right = self._sum()
            link = self._call("in" if sign == "not in" else sign, left, right)
            links.append(self._call("not", link) if sign == "not in" else link)
            left = right
        if not links:
            return left
        return links[0] if len(links) == 1 else self._call("and", *links)

    def _relation(self) -> str | None:
        if self._peek() in COMPARISONS and self._kind() == "sign":
            return self._next().text
        if self._take("in"):
            return "in"
        if self._peek() == "not" and self._peek(1) == "in":
            self.at += 2
            return "not in"
        return None

    def _sum(self) -> Node:
        return self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._signed))

    def _chain(self, signs: tuple[str, ...], level: Callable[[], Node]) -> Node:
        """Left to right; the depth of a long chain counts."""
        left, links = level(), 0
        while self._peek() in signs and self._kind() == "sign":
            left = self._call(self._next().text, left, level())
            links += 1
            if links > MOST_LINKS:
                self._fail(f"chains more than {MOST_LINKS} operands; name parts of it under `derived`")
        return left

    def _signed(self) -> Node:
        if self._kind() == "sign" and self._peek() in ("-", "+"):
            sign = self._next().text
            operand = self._deeper(self._signed)
            return operand if sign == "+" else self._call("neg", operand)
        return self._power()

    def _power(self) -> Node:
        base = self._atom()
        if self._kind() == "sign" and self._take("**"):
            return self._call("**", base, self._deeper(self._signed))
        return base

    def _atom(self) -> Node:
        token = self._next()
        if token.kind == "number":
            return self._counted(Literal(self._number(token), token.text))
        if token.kind == "string":
            return self._counted(Literal(token.text[1:-1], token.text))
        if token.kind == "name":
            return self._named(token)
        if token.text == "(":
            inner = self.expression()
            self._expect(")")
            return inner
        if token.text == "[":
            return self._counted(Items(self._list("]")))
        return self._fail(f"{token.text!r} at character {token.at} is not where a value can be")

    def _number(self, token: _Token) -> fmpq:
        try:
            return rational(token.text)
        except NotANumberError as exc:
            return self._fail(str(exc))

    def _named(self, token: _Token) -> Node:
        if token.text in ("true", "false", "True", "False"):
            return self._counted(Literal(token.text in ("true", "True"), token.text.lower()))
        if self._peek() == "(" and self._kind() == "sign":
            return self._function(token)
        if token.text not in self.bound and not is_name(token.text):
            word = "a word of the language" if token.text in KEYWORDS or token.text in FUNCTIONS else "no name of a variable"
            self._fail(f"{token.text!r} at character {token.at} is {word}")
        return self._counted(Name(token.text))

    def _function(self, token: _Token) -> Node:
        if token.text not in FUNCTIONS:
            self._fail(f"{token.text!r} is no function of the assertion language; there are {', '.join(FUNCTIONS)}")
        self._expect("(")
        each = self._each(token.text) if token.text in ("all", "any") else None
        if each is not None:
            return each
        operands = self._list(")")
        least, most = FUNCTIONS[token.text]
        if not least <= len(operands) <= most:
            wanted = str(least) if least == most else f"{least} or more"
            self._fail(f"{token.text} takes {wanted} operand{'' if wanted == '1' else 's'}, not {len(operands)}")
        return self._call(token.text, *operands)

    def _each(self, name: str) -> Node | None:
        """`BODY for NAME in LIST)`, if there is a `for` before the parenthesis that closes. The name is bound in the body
        only.
        """
        bound = self._bound_ahead()
        if bound is None:
            return None
        self.bound.append(bound)
        body = self.expression()
        self.bound.pop()
        self._expect("for")
        self._next()
        self._expect("in")
        items = self.expression()
        self._expect(")")
        return self._counted(Each(name, body, bound, items))

    def _bound_ahead(self) -> str | None:
        level = 0
        for index in range(self.at, len(self.tokens)):
            token = self.tokens[index]
            if token.kind == "sign":
                level += (token.text in "([") - (token.text in ")]")
                if level < 0:
                    return None
            elif level == 0 and token.text == "for" and token.kind == "name":
                bound = self.tokens[index + 1].text if index + 1 < len(self.tokens) else ""
                return bound if is_name(bound) else self._fail(f"{bound!r} cannot be bound by `for`")
        return None

    def _list(self, end: str) -> tuple[Node, ...]:
        items: list[Node] = []
        while not self._take_sign(end):
            if items:
                self._expect(",")
            items.append(self.expression())
        return tuple(items)

    # -- tokens --

    def _peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead].text if self.at + ahead < len(self.tokens) else ""

    def _kind(self) -> str:
        return self.tokens[self.at].kind if self.at < len(self.tokens) else ""

    def _next(self) -> _Token:
        if self.at >= len(self.tokens):
            self._fail("ends where a value is expected")
        self.at += 1
        return self.tokens[self.at - 1]

    def _take(self, text: str) -> bool:
        if self._peek() != text or self._kind() == "string":
            return False
        self.at += 1
        return True

    def _take_sign(self, text: str) -> bool:
        return self._kind() == "sign" and self._take(text)

    def _expect(self, text: str) -> None:
        if not self._take(text):
            found = f"{self._peek()!r} at character {self.tokens[self.at].at}" if self.at < len(self.tokens) else "the end"
            self._fail(f"{text!r} is expected, not {found}")

    def expect_end(self) -> None:
        if self.at < len(self.tokens):
            self._fail(f"{self._peek()!r} at character {self.tokens[self.at].at} is too much")

    # -- bounds --

    def _deeper(self, level: Callable[[], Node]) -> Node:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            self._fail(f"is nested more than {MOST_DEPTH} deep")
        node = level()
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

"""Parser: the text of an assertion as a tree, within limits on length, depth, size and cost. Anything else is refused.

Lark reads it (docs/adr/0022-harnesses.md); names, numbers and operands are checked as they are read.
"""

from __future__ import annotations

import re
from functools import cache, reduce
from typing import Any, Final, NoReturn

from flint import fmpq
from lark import Lark, Token, Transformer, Tree, UnexpectedCharacters, UnexpectedInput, v_args

from sagagraph.errors import InvalidInputError
from sagagraph.harness.language.tree import Call, Each, Literal, Name, Node, parts_of

MOST_CHARACTERS: Final = 100_000
MOST_NODES: Final = 10_000
MOST_DEPTH: Final = 50
MOST_TREE: Final = 200
"""The greatest depth of a tree, counting links of sums and products."""
MOST_DIGITS: Final = 400
"""Digits of a number as written, and of the power of ten in it."""

FUNCTIONS: Final[dict[str, tuple[int, int]]] = {
    "abs": (1, 1), "min": (1, 1000), "max": (1, 1000), "sum": (1, 1), "len": (1, 1), "exp": (1, 1), "log": (1, 1), "sqrt": (1, 1),
    "kelvin": (1, 1), "implies": (2, 2), "all": (1, 1), "any": (1, 1),
}  # fmt: skip
"""Name → how many operands it takes, at least and at most."""
KEYWORDS: Final = frozenset({"and", "or", "not", "in", "if", "then", "else", "implies", "for", "true", "false", "True", "False"})
_GRAMMAR: Final = r"""
    ?start: either | either "implies" start -> implies | "if" start "then" start "else" start -> if
    ?either: both | both ("or" both)+ -> or
    ?both: truth | truth ("and" truth)+ -> and
    ?truth: "not" truth -> not | sum (comparison sum)* -> compared
    !comparison: COMPARED | "in" | "not" "in"
    ?sum: product (ADDED product)* -> chained
    ?product: signed (TIMES signed)* -> chained
    ?signed: ADDED signed -> sign | power
    ?power: atom | atom "**" signed -> power
    ?atom: "(" start ")" | NUMBER -> number | STRING -> string | FIELD -> field | NAME -> named
         | "[" _items? "]" -> list
         | NAME "(" _items? ")" -> function
         | NAME "(" start "for" NAME "in" start ")" -> each
    _items: start ("," start)*
    COMPARED: /<=|>=|==|!=|[<>≤≥≠]/
    ADDED: /[+-]/
    TIMES: /[*\/]/
    NUMBER: /([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?/
    FIELD.1: /input\s*\.\s*get\s*\(\s*('[A-Za-z][A-Za-z0-9_]*'|"[A-Za-z][A-Za-z0-9_]*")\s*\)/
    STRING: /"[^"\\\n]*"|'[^'\\\n]*'/
    NAME: /[A-Za-z_][A-Za-z0-9_]*/
    %ignore /\s+/
"""
_SPELLED: Final = {"≤": "<=", "≥": ">=", "≠": "!="}
_NUMBER: Final = re.compile(r"(?P<sign>[+-]?)(?P<whole>[0-9]*)(?:\.(?P<part>[0-9]*))?(?:[eE](?P<power>[+-]?[0-9]+))?")
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


class NotANumberError(ValueError):
    """The text is not a finite decimal number, or is an absurdly long one."""


def rational(text: str) -> fmpq:
    """Return a decimal number exactly. Raises `NotANumberError`."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None or not (found["whole"] or found["part"]):
        raise NotANumberError(f"{text[:40]!r} is not a decimal number")
    whole, part = found["whole"] or "", found["part"] or ""
    written = found["power"] or "0"
    if len(whole) + len(part) > MOST_DIGITS or len(written) > 5 or abs(int(written)) > MOST_DIGITS:
        raise NotANumberError(f"{text[:40]} has more than {MOST_DIGITS} digits")
    shift = int(written) - len(part)
    value = fmpq(int(whole + part or "0") * 10 ** max(shift, 0), 10 ** max(-shift, 0))
    return -value if found["sign"] == "-" else value


def is_name(text: str) -> bool:
    """Tell whether it can name a variable: letters, digits and underscores, and not a word of the language."""
    return _IDENTIFIER.fullmatch(text) is not None and text not in KEYWORDS and text not in FUNCTIONS and len(text) <= 100


def parse(text: str, where: str) -> Node:
    """Return the tree. `where` names the assertion in errors.

    Raises:
        InvalidInputError: it says what cannot be read, and at which character.
    """
    try:
        if len(text) > MOST_CHARACTERS:
            _fail(f"has more than {MOST_CHARACTERS} characters")
        if not text.strip():
            _fail("is empty")
        tree: Node = _parser().parse(text)  # type: ignore[assignment]  # Lark types what its transformer makes as a tree
        _check_size(text, tree)
    except _RefusedError as exc:
        raise InvalidInputError(str(exc), field=where) from exc
    except UnexpectedInput as exc:
        raise InvalidInputError(_unexpected(text, exc), field=where) from exc
    return tree


class _RefusedError(Exception):
    pass


def _fail(message: str) -> NoReturn:
    raise _RefusedError(message)


def _unexpected(text: str, fault: UnexpectedInput) -> str:
    at = fault.pos_in_stream or 0
    if isinstance(fault, UnexpectedCharacters):
        return f"{text[at]!r} at character {at + 1} is no part of the assertion language"
    token = getattr(fault, "token", None)
    if token is None or token.type == "$END":
        return "ends where more is expected"
    return f"{str(token)!r} at character {at + 1} is not where it can be"


def _check_size(text: str, tree: Node) -> None:
    nested = deepest = 0
    for character in text:
        nested += (character in "([") - (character in ")]")
        deepest = max(deepest, nested)
    waiting = [(tree, 1, 1)]
    for count, (node, depth, links) in enumerate(waiting):
        deepest = max(deepest, depth)
        if count > MOST_NODES:
            _fail(f"has more than {MOST_NODES} parts")
        if links > MOST_TREE:
            _fail(f"chains more than {MOST_TREE} operands; name parts of it under `derived`")
        is_chain = isinstance(node, Call) and node.name in ("+", "-", "*", "/")
        waiting += [(each, depth + (number > 0 or not is_chain), links + 1) for number, each in enumerate(parts_of(node))]
    if deepest > MOST_DEPTH:
        _fail(f"is nested more than {MOST_DEPTH} deep")


@cache
def _parser() -> Lark:
    return Lark(_GRAMMAR, parser="lalr", transformer=_Nodes(), maybe_placeholders=False)


@v_args(inline=True)
class _Nodes(Transformer[Token, Node]):
    """Transformer: what each rule of the grammar becomes."""

    def number(self, token: Token) -> Node:
        try:
            return Literal(rational(token), str(token))
        except NotANumberError as exc:
            return _fail(str(exc))

    def string(self, token: Token) -> Node:
        return Literal(str(token[1:-1]), str(token))

    def field(self, token: Token) -> Node:
        return self.named(token.update(value=re.split("['\"]", token)[1]))

    def named(self, token: Token) -> Node:
        if token in ("true", "false", "True", "False"):
            return Literal(token in ("true", "True"), token.lower())
        if not is_name(token):
            is_word = token in KEYWORDS or token in FUNCTIONS
            word = "a word of the language" if is_word else "no name of a variable"
            _fail(f"{str(token)!r} at character {(token.start_pos or 0) + 1} is {word}")
        return Name(str(token))

    def function(self, token: Token, *operands: Node) -> Node:
        if token not in FUNCTIONS:
            _fail(f"{str(token)!r} is no function of the assertion language; there are {', '.join(FUNCTIONS)}")
        least, most = FUNCTIONS[token]
        if not least <= len(operands) <= most:
            wanted = str(least) if least == most else f"{least} or more"
            _fail(f"{token} takes {wanted} operand{'' if wanted == '1' else 's'}, not {len(operands)}")
        return Call(str(token), operands)

    def each(self, token: Token, body: Node, bound: Token, items: Node) -> Node:
        if token not in ("all", "any") or not is_name(bound):
            _fail(f"{token}(… for {bound} in …) cannot be: only all and any take `for`, with one term and a name")
        return Each(str(token), body, str(bound), items)

    def chained(self, left: Node, *rest: Any) -> Node:
        """Combine from left to right. `Any`: operators and operands in turn."""
        return reduce(lambda found, link: Call(str(link[0]), (found, link[1])), zip(rest[::2], rest[1::2], strict=True), left)

    def comparison(self, *words: Token) -> str:
        return " ".join(_SPELLED.get(each, each) for each in words)

    def compared(self, left: Node, *rest: Any) -> Node:
        """Return a chain, `a < b <= c`, as the conjunction of its links."""
        links: list[Node] = []
        for sign, right in zip(rest[::2], rest[1::2], strict=True):
            link = Call(sign.removeprefix("not "), (left, right))
            links.append(Call("not", (link,)) if sign == "not in" else link)
            left = right
        return Call("and", tuple(links)) if len(links) > 1 else links[0] if links else left

    def sign(self, token: Token, operand: Node) -> Node:
        return Call("neg", (operand,)) if token == "-" else operand  # noqa: S105 - no password

    def power(self, base: Node, exponent: Node) -> Node:
        return Call("**", (base, exponent))

    def __default__(self, data: str, children: list[Any], _meta: object) -> Any:
        """Handle other rules of the grammar, which have the names of calls; names that begin with a line are parts of one."""
        return Tree(data, children) if data.startswith("_") else Call(str(data), tuple(children))

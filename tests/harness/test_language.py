"""The assertion language: what it says, and sixty ways to escape, hang or exhaust it that are refused by name."""

from __future__ import annotations

import time

import pytest

from sagagraph.errors import InvalidInputError
from sagagraph.harness.judging.check import RuleVerdict, artifact_from, check
from sagagraph.harness.language.parser import parse
from sagagraph.harness.language.tree import in_words
from sagagraph.harness.registry.harness import Harness
from sagagraph.harness.registry.loading import harness_from, harness_of

pytestmark = pytest.mark.quick


def rule(assertion: str) -> Harness:
    return harness_of({"rules": [{"id": "R", "assertion": assertion}]})


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("a + b * 2 ** -x <= 3", "(a + (b * (2 ** (-x)))) <= 3"),
        ("1 < x <= 2", "(1 < x) and (x <= 2)"),
        ("not a < 1 and b or c implies d", "(((not (a < 1)) and b) or c) implies d"),
        ("if a < 1 then b else c", "if (a < 1) then b else c"),
        ("all(x < 3 for x in xs)", "all(x < 3 for x in xs)"),
        ("input.get('speed') / 2 < 1", "(speed / 2) < 1"),
        ("-2 ** 2 < y", "(-(2 ** 2)) < y"),
        ("a not in [1, 2]", "not (a in [1, 2])"),
    ],
)
def test_it_reads_as_python_does(text: str, meant: str) -> None:
    assert in_words(parse(text, "R")) == meant


ESCAPES = [
    "__import__('os').system('true')",
    "().__class__.__bases__",
    "x.__class__ == 1",
    "eval('1')",
    "exec('1')",
    "open('/etc/passwd')",
    "lambda: 1",
    "[i for i in x]",
    "{1: 2}",
    "{1}",
    "x[0] < 1",
    "x := 3",
    "f'{x}' == 'a'",
    "print(x)",
    "globals()",
    "getattr(x, 'y')",
    "input.get",
    "input.get('__class__')",
    "input['x'] < 1",
    "input.get('x').real < 1",
    "x; y",
    "x if y else z",
    "import os",
    "x @ y < 1",
    "x // y < 1",
    "x % 2 == 0",
    "x & 1",
    "x | 1",
    "~x",
    "x << 900000",
    "x is None",
    "await x",
    "b'1' == x",
    "0x10 < x",
    "1_000 < x",
    "1j < x",
    "`x`",
    "x\x00 < 1",
    "type(x) == 1",
    "range(10**9)",
    "sum(1 for i in x)",
    "min()",
    "exp(1, 2) < x",
    "*x < 1",
    "x ** ** 2 < 1",
    "(x < 1",
    "x < 1)",
    "",
    "   ",
    "'a\\x41' == x",
    "all(y for exp in x)",
    "and x",
    "x <",
    "1 < 2",
    "3",
    "1e99999 < x",
    "1" * 500 + " < x",
    "(" * 80 + "x" + ")" * 80 + " < 1",
    "not " * 80 + "x",
    "x" + " + 1" * 300 + " < 1",
    "all(all(x<1 for x in y) for y in z) < 1",
    "len(x, y) < 1",
    "x == x == ",
    "x << 1",
]


@pytest.mark.parametrize("text", ESCAPES)
def test_an_escape_is_refused_by_name(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        rule(text)
    assert str(refused.value).startswith("rules")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["9**9**9**x < 1", "x ** 10**9 < 2", "exp(exp(exp(x))) < 1", "(x+1)**9999 * (x+2)**9999 < 1", "10**400**x < 1"]
)
def test_what_would_exhaust_is_an_error_and_soon(text: str) -> None:
    before = time.process_time()
    checked = check(rule(text), artifact_from('{"x": 1e6}'))
    assert checked.verdict is RuleVerdict.ERROR
    assert time.process_time() - before < 2


@pytest.mark.parametrize(
    "text",
    [
        "rules: &a [*a]",
        "{rules: [{id: A, assertion: x < 1}], variables: {x: {unit: 'm½L'}}}",
        "a: &a [x, x]\nb: &b [*a, *a]\nrules: [{id: A, assertion: x < 1}]",
        "rules: [{id: A, id: B, assertion: x < 1}]",
        "rules: !!python/object:os.system []",
        "- 1",
        "rules: {}",
        "rules: [{id: A}]",
        "rules: [{assertion: x < 1}]",
        "rules: [{id: A, assertion: x < 1}, {id: A, assertion: x < 2}]",
        "rules: [{id: A, assertion: true}]",
        "rules: [{id: A, assertion: x < 1, severity: MILD}]",
        "rules: [",
        "",
        "x: [" * 2000,
        "{rules: [{id: A, assertion: y < 1}], variables: {x: {unit: s}}}",
        "{rules: [{id: A, assertion: x}], variables: {x: {unit: s}}}",
        "{rules: [{id: A, assertion: x < 1}], variables: {x: {domain: [0, 1]}}}",
        "{rules: [{id: A, assertion: x < 1}], variables: {x: {unit: '1', domain: [2, 1]}}}",
        "{rules: [{id: A, assertion: a < x}], variables: {x: {unit: '1'}}, derived: {a: b + x, b: a + x}}",
        "{rules: [{id: A, assertion: x < 1}], variables: {and: {unit: '1'}}}",
        "{rules: [{id: A, assertion: x < 1}], variables: {x: {unit: '9**9**9'}}}",
        "{rules: [{id: A, assertion: x < 1}], variables: {x: {unit: '1', kind: parameter}}}",
        "{rules: [{id: A, assertion: x < 1}], tests: {poisoned: [{artifact: {x: 2}, must_fail: [B]}]}}",
    ],
)
def test_a_broken_file_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        harness_from(text)
    assert "\n" not in str(refused.value)

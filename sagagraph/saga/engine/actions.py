"""Actions: what can be done, undone and probed (door 1)."""

from __future__ import annotations

import inspect
import json
import logging
import sys
import typing
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from sagagraph.errors import InvalidInputError, UnknownActionError
from sagagraph.saga.core.call import Call
from sagagraph.saga.core.reversals import REVERSING
from sagagraph.saga.engine.exceptions import FailsOn, check_fails_on
from sagagraph.validators.protocol import Validator
from sagagraph.workflow.kind import ActionKind
from sagagraph.workflow.lock import Lock
from sagagraph.workflow.operation import DEFAULT_POLICY, GuaranteeTerms, OperationSpec, references
from sagagraph.workflow.policy import Policy
from sagagraph.workflow.values import Json

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

# pydantic is imported where a value is first read or written: it takes a third of the time that importing the engine takes.

Function = Callable[..., Any]
"""A user's own: of its arguments and its result we know what its annotations say, and no more."""
Find = Callable[[str, int], "Action"]
"""An action by its name and version. Raises `UnknownActionError`."""


@dataclass(frozen=True, slots=True)
class Guarantees:
    """Promises of the provider (docs/protocol.md rule 0). Declare only what it really keeps.

    `void(request, call)` cancels by `call.idempotency_key` and leaves a tombstone where nothing had landed. `void=True` says that
    the compensation does: called with None as the result, as often as needed, whether or not the call has landed. With `settles`
    it needs no tombstone: it is called when nothing can land any more.

    `settles`: a call that has ended, or whose process is dead, lands within this time or never. After it, what a probe finds
    absent did not happen. It must cover what the function leaves running elsewhere when it is stopped at its time limit
    (`asyncio.to_thread`). `here=True`: what happens in this very process, or in a transaction that dies with its connection; no
    margin for clocks is waited for.
    """

    dedup: timedelta | None = None
    void: Function | bool | None = None
    deadline: bool = False
    refusals_final: bool = False
    clock_margin: timedelta = timedelta(seconds=1)
    """How far the provider's clock may be from our store's; deadlines and remembered keys are counted on with this to spare."""
    settles: timedelta | None = None
    here: bool = False

    def __post_init__(self) -> None:
        if self.settles is not None and self.settles < timedelta(0):
            raise InvalidInputError("a time, 0 or more", field="settles")
        if self.here and self.settles is None:
            raise InvalidInputError("say with it how long a call takes to settle: settles=timedelta(0)", field="here")

    @property
    def terms(self) -> GuaranteeTerms:
        dedup_s = self.dedup.total_seconds() if self.dedup is not None else None
        margin_s = self.clock_margin.total_seconds()
        settles_s = None if self.settles is None else self.settles.total_seconds() + (0.0 if self.here else margin_s)
        return GuaranteeTerms(
            dedup_s, bool(self.void), self.deadline, self.refusals_final, margin_s, settles_s, self.void is True
        )


@dataclass(frozen=True, slots=True)
class UndoCost:
    """Cost of undoing an operation now, and what would be left of it. `amount` is in `currency`, as a plain number."""

    amount: float = 0.0
    currency: str | None = None
    residue: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Action:
    """An action made by `@action`. Calling it calls the function itself, outside any saga."""

    name: str
    version: int
    kind: ActionKind
    execute: Function
    compensate: Function | None
    probe: Function | None
    reverse: Function | None
    undo_cost: Function | None
    policy: Policy
    validators: tuple[Validator, ...]
    guarantees: Guarantees
    request_type: Any
    result_type: Any
    home: str
    """Where the function was defined: two actions with the same name from different homes are different actions."""
    formerly: tuple[tuple[str, int], ...] = ()
    """Names and versions under which earlier releases journalled it."""
    provider: str = ""
    """The identity of the provider that it calls (docs/protocol.md rule 2a)."""
    locks: Callable[[Any], Iterable[Lock]] | None = None
    read_again: bool = False
    needs_body: bool = False
    """Going forward, only the body that asks for it can run it; the registered action serves to undo and probe it."""
    fails_on: FailsOn = ()
    """What its function raises when nothing happened, beside `Refused`."""
    _adapters: dict[str, TypeAdapter[Any]] = field(default_factory=dict, repr=False)
    _terms: GuaranteeTerms | None = field(default=None, init=False, repr=False)

    def __call__(self, request: object, call: Call) -> Any:
        return self.execute(request, call)

    def spec(
        self,
        operation_id: str,
        request: object,
        depends_on: Iterable[str] = (),
        *,
        locks: Iterable[Lock] | None = None,
        **changes: Any,
    ) -> OperationSpec:
        """Return this action as one planned operation; `request` may hold `reference`s, or be a value of the request type.

        `locks`: instead of those that the action declares, which need a request without references.
        """
        inputs = self.request_to_json(request)
        locks = self._locks(inputs) if locks is None else locks
        return OperationSpec(
            id=operation_id,
            action=self.name,
            kind=self.kind,
            inputs=inputs,
            depends_on=tuple(depends_on),
            policy=self.policy,
            guarantees=_terms_of(self),
            has_probe=self.probe is not None,
            action_version=self.version,
            provider_id=self.provider,
            locks=tuple(locks),
            read_again=self.read_again,
            **changes,
        )

    def _locks(self, inputs: Json) -> Iterable[Lock]:
        if self.locks is None:
            return ()
        if any(True for _each in references(inputs)):
            raise InvalidInputError(f"say which: the request of action {self.name!r} is known only later", field="locks")
        return self.locks(self.request_from_json(inputs))

    def is_known_as(self, name: str, version: int) -> bool:
        return (name == self.name and version == self.version) or (name, version) in self.formerly

    def request_to_json(self, request: object) -> Json:
        return to_json(request)

    def request_from_json(self, value: Json) -> Any:
        return self._read("request", self.request_type, value)

    def result_from_json(self, value: Json) -> Any:
        """Return a result as `execute` would have returned it; None stays None (an operation that a person settled)."""
        return None if value is None else self._read("result", self.result_type, value)

    def _read(self, which: str, kind: Any, value: Json) -> Any:
        if kind is Any:
            return _copied(value)
        if which not in self._adapters:
            from pydantic import TypeAdapter

            self._adapters[which] = TypeAdapter(kind)
        try:
            return self._adapters[which].validator.validate_python(_copied(value), strict=False)
        except _validation_error() as exc:
            first = exc.errors(include_url=False)[0]
            where = ".".join(str(part) for part in first["loc"]) or which
            raise InvalidInputError(f"{first['msg']} (the {which} of action {self.name!r})", field=where) from exc


def _terms_of(action: Action) -> GuaranteeTerms:
    """Return what its provider promises: made once for each action, because each operation asks."""
    if (terms := action._terms) is None:
        terms = action.guarantees.terms
        object.__setattr__(action, "_terms", terms)
    return terms


def _no_number(constant: str) -> None:
    raise InvalidInputError(f"{constant} cannot be journalled: JSON has no such number")


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidInputError(f"two keys are both {twice!r} as JSON: a value would be lost")
    return found


_READER = json.JSONDecoder(parse_constant=_no_number, object_pairs_hook=_distinct)


def to_json(value: object) -> Json:
    """Return a JSON value with the content of `value`: a pydantic model, a dataclass or a plain value."""
    writer = _anything()  # to import pydantic takes time, which must not be a call's
    if (plain := _plain(value)) is not _NOT_PLAIN:
        return plain
    try:
        return _READER.decode(writer.dump_json(value, fallback=_not_journallable).decode())
    except _serialization_error() as exc:
        raise InvalidInputError(f"a {type(value).__name__} cannot be journalled: {exc}") from exc


# Pydantic is imported when it is needed first, and looked up no more than once: this runs for every operation.


@cache
def _validation_error() -> type[ValidationError]:
    from pydantic import ValidationError

    return ValidationError


@cache
def _serialization_error() -> type[ValueError]:
    from pydantic_core import PydanticSerializationError

    return PydanticSerializationError


@cache
def _anything() -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    return TypeAdapter(Any, config=ConfigDict(ser_json_inf_nan="constants"))


def _plain(value: object) -> Json:
    """Return a copy of what is JSON already, as most requests and results are; otherwise `_NOT_PLAIN`. Anything else differs from
    what is read of it again, or cannot be written: in a fraction of the time that pydantic takes.
    """
    try:
        copy = _PLAIN_READER.decode(_PLAIN_WRITER.encode(value))
    except (TypeError, ValueError, OverflowError, RecursionError, msgspec.MsgspecError):
        return _NOT_PLAIN
    return copy if copy == value else _NOT_PLAIN


_NOT_PLAIN: Json = object()
_PLAIN_WRITER = msgspec.json.Encoder()
_PLAIN_READER = msgspec.json.Decoder()


_copied: Callable[[Json], Json] = msgspec.to_builtins
"""Copies a JSON value: a caller who changes what it was given must not change the journal's state."""


def _not_journallable(value: object) -> NoReturn:
    raise TypeError(f"{type(value).__name__} is neither a pydantic model nor a dataclass nor a plain value")


class Declaration(typing.TypedDict, total=False):
    """Options of `@action`."""

    compensate: Function
    """`compensate(request, result, call)` undoes the operation semantically."""
    probe: Function
    """`probe(request, call)` returns a `Probe`."""
    kind: ActionKind | str
    policy: Policy
    validators: Iterable[Validator]
    guarantees: Guarantees
    reverse: Function
    """`reverse(request, result, call)` undoes a pivot that has landed."""
    undo_cost: Function
    """`undo_cost(request, result)` returns an `UndoCost` and changes nothing."""
    fails_on: FailsOn
    """Exceptions of the function that say that nothing happened, the same as `Refused`: types, or a function of the exception
    that returns whether they do, or a `Refused` that says more (a code, whether it may be tried again).
    """
    locks: Callable[[Any], Iterable[Lock]]
    """`locks(request)` returns what no other saga may take meanwhile (docs/protocol.md rule 12)."""
    read_again: bool
    """Read it again just before the pivot: what it says then must be what it said, or the plan does not hold any more."""
    provider: str
    """Which provider it calls: an id that stays the same wherever the provider is reached, such as an account, or the origin of
    its address. A saga that knows another one is refused or held (docs/protocol.md rule 2a).
    """
    name: str
    version: int
    formerly: Iterable[str]
    """`name` (of version 1) or `name@version`, as earlier releases journalled it. This action must be able to undo and find
    theirs.
    """


@typing.overload
def action(function: Function, /, **declared: typing.Unpack[Declaration]) -> Action: ...
@typing.overload
def action(**declared: typing.Unpack[Declaration]) -> Callable[[Function], Action]: ...
def action(function: Function | None = None, /, **declared: typing.Unpack[Declaration]) -> Action | Callable[[Function], Action]:
    """Make `async def f(request, call)` or `def f(request, call)` an action that sagas can run, undo and probe.

    Without `kind`, an action with a compensation is compensatable, and one that declares nothing is read-only. Raising `Refused`,
    or what `fails_on` covers, says that nothing happened; any other exception leaves the operation in doubt.
    """
    frame = sys._getframe(1)  # resolves annotations that name local types
    names = {**frame.f_globals, **frame.f_locals}
    if function is None:
        return lambda decorated: _made(decorated, names, declared)
    return _made(function, names, declared)


def _made(function: Function, names: dict[str, object], declared: Declaration) -> Action:
    request_type, result_type = _types_of(function, names)
    compensate, probe = declared.get("compensate"), declared.get("probe")
    name = declared.get("name", function.__name__)
    if name.endswith(REVERSING):
        raise InvalidInputError(f"action {name!r}: names that end in {REVERSING!r} are those of reversals", field="name")
    made = Action(
        name=name,
        version=declared.get("version", 1),
        kind=kind_of(function.__name__, declared.get("kind"), compensate, probe),
        execute=function,
        compensate=compensate,
        probe=probe,
        reverse=declared.get("reverse"),
        undo_cost=declared.get("undo_cost"),
        policy=declared.get("policy", DEFAULT_POLICY),
        validators=tuple(declared.get("validators", ())),
        guarantees=declared.get("guarantees") or Guarantees(),
        request_type=request_type,
        result_type=result_type,
        home=f"{function.__module__}.{function.__qualname__}",
        formerly=_former_names(name, declared.get("formerly", ())),
        provider=declared.get("provider", ""),
        locks=declared.get("locks"),
        read_again=declared.get("read_again", False),
        fails_on=declared.get("fails_on", ()),
    )
    check_void(made.name, made.guarantees, made.compensate)
    check_fails_on(made.name, made.fails_on)
    if made.read_again and made.kind is not ActionKind.READ_ONLY:
        raise InvalidInputError(f"action {name!r} is {made.kind.value}: only what reads can be read again", field="read_again")
    DECLARED.add(made)
    return made


def _former_names(name: str, given: Iterable[str]) -> tuple[tuple[str, int], ...]:
    if isinstance(given, str):
        raise InvalidInputError(f"action {name!r}: give a tuple of names, not {given!r} alone", field="formerly")
    return tuple(_former_name(name, each) for each in given)


def _former_name(name: str, given: str) -> tuple[str, int]:
    former, at, version = given.rpartition("@")
    if not at:
        former, version = given, "1"
    if not former or not version.isdecimal() or former.endswith(REVERSING):
        raise InvalidInputError(f"action {name!r}: {given!r} is neither a name nor name@version", field="formerly")
    return former, int(version)


def kind_of(name: str, kind: ActionKind | str | None, compensate: Function | None, probe: Function | None) -> ActionKind:
    if kind is None:
        if compensate is None and probe is not None:
            raise InvalidInputError(
                f"action {name!r} has a probe but no compensation: say whether it is a pivot, retriable or read-only",
                field="kind",
            )
        return ActionKind.COMPENSATABLE if compensate else ActionKind.READ_ONLY
    try:
        kind = ActionKind(kind)
    except ValueError:
        known = ", ".join(each.value for each in ActionKind)
        raise InvalidInputError(f"{kind!r} is not a kind of action; known are {known}", field="kind") from None
    if kind is ActionKind.COMPENSATABLE and compensate is None:
        raise InvalidInputError(f"action {name!r} is compensatable but has no compensation", field="compensate")
    return kind


def check_void(name: str, guarantees: Guarantees, compensate: Function | None) -> None:
    if guarantees.void is True and compensate is None:
        raise InvalidInputError(f"action {name!r} has no compensation that could void it: give a function", field="void")


def _types_of(function: Function, names: dict[str, object]) -> tuple[Any, Any]:
    parameters = list(inspect.signature(function).parameters.values())
    if len(parameters) < 2:
        raise InvalidInputError(f"action {function.__name__!r} takes (request, call)", field=function.__name__)
    try:
        hints = typing.get_type_hints(function, localns=names)
    except NameError as exc:
        raise InvalidInputError(f"action {function.__name__!r}: its annotation names an unknown type ({exc})") from exc
    return hints.get(parameters[0].name, Any), hints.get("return", Any)


class ActionRegistry:
    """Actions by name and version. A later definition replaces an earlier one of the same name and version (a reloaded
    module).
    """

    def __init__(self, actions: Iterable[Action] = ()) -> None:
        self._actions: dict[tuple[str, int], dict[str, Action]] = {}
        self._renamed: dict[tuple[str, int], dict[str, Action]] = {}
        for each in actions:
            self.add(each)

    def add(self, made: Action) -> None:
        self._actions.setdefault((made.name, made.version), {})[made.home] = made
        for former in made.formerly:
            self._renamed.setdefault(former, {})[made.home] = made

    def find(self, name: str, version: int) -> Action:
        """Return the action with that name; otherwise the one that formerly had it.

        Raises `UnknownActionError` when there is none, or when several match and nothing tells them apart.
        """
        found = self._actions.get((name, version)) or self._renamed.get((name, version), {})
        if len(found) == 1:
            return next(iter(found.values()))
        if not found:
            raise UnknownActionError(
                f"action {name!r} version {version} is not registered in this process: import its module, "
                "or name it in `formerly=` of the action that it became"
            )
        homes = ", ".join(sorted(found))
        raise UnknownActionError(f"action {name!r} version {version} is defined more than once ({homes}): give each a name=")

    def knows(self, name: str, version: int) -> bool:
        return (name, version) in self._actions or (name, version) in self._renamed


def warn_of_no_provider(made: Action) -> None:
    """Log once in a process that an action with effects names no provider: after a restart another one may answer for it."""
    if made.provider or made.kind is ActionKind.READ_ONLY or (made.home, made.name) in _WARNED_OF:
        return
    _WARNED_OF.add((made.home, made.name))
    _LOG.warning(
        "action %r has effects and names no provider: a saga that is resumed cannot tell whether the same one answers. "
        'Name it: @action(provider="...")',
        made.name,
    )


_LOG = logging.getLogger("sagagraph")
_WARNED_OF: set[tuple[str, str]] = set()

DECLARED = ActionRegistry()
"""Every action that this process has defined; an engine's own registry goes before it."""

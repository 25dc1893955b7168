"""Entries: what a domain offers to the registry, the command line and the app, before any of it is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file

if TYPE_CHECKING:
    import typer

    from sagagraph.context.model import Model
    from sagagraph.planning.board import Board
    from sagagraph.planning.domain import Domain, Json
    from sagagraph.planning.page import Page
    from sagagraph.saga.core.state import Saga
    from sagagraph.saga.engine.views.view import Account
    from sagagraph.saga.stores.port import Documents
    from sagagraph.settings import Settings
    from sagagraph.validators.verdict import Verdict

D = TypeVar("D", bound="Domain")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Surroundings: the environment in which a domain is opened."""

    settings: Settings
    outbox: Path
    """Where it leaves documents for people."""
    model: Callable[[], Model | None]
    """The language model of the settings, if they name one."""
    provider: Callable[[], str]
    """The address of the reservation service. If the settings name none, the first call starts one inside this process."""
    documents: Documents
    """Where it keeps what its actions produce, in the database of the journals."""
    rows_in: Callable[[Path, str], list[dict[str, Any]]]
    """Reads the rows of a table in a database file left by an earlier release."""


@dataclass(frozen=True, slots=True)
class Case:
    """Case: the arguments of `sagagraph validate`."""

    problem: Path
    plan: Path
    events: tuple[Path, ...] = ()
    executed_until: str | None = None
    against: Path | None = None
    without_time_constraints: bool = False

    def read_events(self) -> list[Any]:
        """Read the events of all files; each file holds one event or a list of them."""
        files = [json_file(each, "--event") for each in self.events]
        return [event for file in files for event in (file if isinstance(file, list) else [file])]

    def read_against(self) -> Any:
        """Read the old plan; None if there is none."""
        return None if self.against is None else json_file(self.against, "--against")

    def check_told(self) -> None:
        """Check that a plan carried out so far, and the time up to which it was, are given together."""
        if self.executed_until is not None and self.against is None:
            raise InvalidInputError("name the plan that was carried out until then: --against OLDPLAN", field="--executed-until")
        if self.against is not None and self.executed_until is None and not self.read_events():
            raise InvalidInputError("say until when the old plan was carried out: --executed-until or --event", field="--against")


class Entry(Generic[D]):
    """Entry: a domain as the registry knows it. `domains/NAME/entry.py` has a subclass, and an entry point names its instance.

    Each method imports what it needs of the domain when it is called: an entry alone costs nothing to load.
    """

    name: ClassVar[str]
    """The domain's name in the journals of its sagas."""
    runs_sagas: ClassVar[bool] = True
    """Whether its plans are carried out; `open`, `title` and `account` are for those whose plans are."""
    has_time_constraints: ClassVar[bool] = False
    """Whether `sagagraph validate` may leave out limits on the time between two steps."""
    is_first: ClassVar[bool] = False
    """Whether lists begin with it, and the app with its page."""
    commands: ClassVar[Mapping[str, str]] = {}
    """The commands that it adds to the command line, each with its line in `--help`."""
    workers: ClassVar[tuple[str, ...]] = ()
    """The modules that planning processes import in advance."""

    def is_configured(self, settings: Settings) -> bool:
        """Tell whether the settings name all that it needs; the app leaves it out otherwise."""
        return True

    def title(self, plan: Json) -> str:
        """Return the plan in words, its parts separated by semicolons; empty if there is nothing to say."""
        return ""

    def account(self, saga: Saga) -> Account:
        """Return what the saga costs now, and what it leaves behind."""
        from sagagraph.saga.engine.views.view import Account

        return Account()

    def open(self, around: Surroundings) -> AbstractAsyncContextManager[D]:
        """Open the domain, ready to plan. Raises `ProviderError` if an outside part cannot be reached."""
        raise InvalidInputError(f"{self.name} runs no sagas; there are commands for it", field="DOMAIN")

    def page(self, domain: D, model: Model | None) -> Page | None:
        """Return the page through which people talk to it and see its plans, in the app and in sentences on the command line."""
        return None

    def board(self) -> Board | None:
        """Return the page of a domain that runs no sagas."""
        return None

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        """Judge a plan, whoever made it, by the domain's validators. Raises `InvalidInputError`, which names what is unusable."""
        raise InvalidInputError(f"{self.name} judges no plans in files", field="DOMAIN")

    def command(self, name: str) -> typer.Typer:
        """Return one of `commands`, with its implementation."""
        raise NotImplementedError(name)

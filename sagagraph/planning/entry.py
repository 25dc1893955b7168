"""Entries: what a domain gives to the registry, the command line and the app, before anything of it is loaded."""

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
    """What a domain is opened on."""

    settings: Settings
    outbox: Path
    """Where it keeps what it leaves for people."""
    model: Callable[[], Model | None]
    """The language model of the settings, if they name one."""
    provider: Callable[[], str]
    """The address of the reservation service. Where the settings name none, the first call starts one inside this process."""
    documents: Documents
    """Where it keeps what its actions leave, in the database of the journals."""
    rows_in: Callable[[Path, str], list[dict[str, Any]]]
    """Reads the rows of a table in a database file that an earlier release left."""


@dataclass(frozen=True, slots=True)
class Case:
    """What `sagagraph validate` is given."""

    problem: Path
    plan: Path
    events: tuple[Path, ...] = ()
    executed_until: str | None = None
    against: Path | None = None

    def read_events(self) -> list[Any]:
        """Of all files; each holds one event or a list of them."""
        files = [json_file(each, "--event") for each in self.events]
        return [event for file in files for event in (file if isinstance(file, list) else [file])]

    def read_against(self) -> Any:
        """The old plan; None where there is none."""
        return None if self.against is None else json_file(self.against, "--against")

    def check_told(self) -> None:
        """A plan that was carried out, and until when, are named together."""
        if self.executed_until is not None and self.against is None:
            raise InvalidInputError("name the plan that was carried out until then: --against OLDPLAN", field="--executed-until")
        if self.against is not None and self.executed_until is None and not self.read_events():
            raise InvalidInputError("say until when the old plan was carried out: --executed-until or --event", field="--against")


class Entry(Generic[D]):
    """A domain as the registry knows it. `domains/NAME/entry.py` has a subclass, and an entry point names its instance.

    Each method imports what it needs of the domain when it is called: an entry by itself costs nothing.
    """

    name: ClassVar[str]
    """Of the domain, as the journals of its sagas have it."""
    runs_sagas: ClassVar[bool] = True
    """Whether its plans are carried out; `open`, `title` and `account` are for those that are."""
    is_first: ClassVar[bool] = False
    """Whether lists begin with it, and the app with its page."""
    commands: ClassVar[Mapping[str, str]] = {}
    """The commands that it adds to the command line, each with the line that `--help` shows."""
    workers: ClassVar[tuple[str, ...]] = ()
    """The modules that processes for planning import before there is anything to plan."""

    def title(self, plan: Json) -> str:
        """The plan in words, its parts separated by semicolons; empty where there is nothing to say."""
        return ""

    def account(self, saga: Saga) -> Account:
        """What the saga costs now, and what it leaves behind."""
        from sagagraph.saga.engine.views.view import Account

        return Account()

    def open(self, around: Surroundings) -> AbstractAsyncContextManager[D]:
        """The domain, ready to plan. Raises `ProviderError` where an outside part cannot be reached."""
        raise InvalidInputError(f"{self.name} runs no sagas; there are commands for it", field="DOMAIN")

    def page(self, domain: D, model: Model | None) -> Page | None:
        """How people talk to it and see its plans: for the app, and for sentences on the command line."""
        return None

    async def judge(self, case: Case, around: Surroundings) -> Verdict:
        """A plan, whoever made it, by the validators of the domain. Raises `InvalidInputError` that names what is unusable."""
        raise InvalidInputError(f"{self.name} judges no plans in files", field="DOMAIN")

    def command(self, name: str) -> typer.Typer:
        """One of `commands`, with what it is made of."""
        raise NotImplementedError(name)

"""Options: those of every command, and those that several share. It imports little, so that `--help` need not wait."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn, TypeVar, get_type_hints

import typer

from sagagraph.errors import InvalidInputError

if TYPE_CHECKING:
    from sagagraph.settings import Settings

PERSON = "command line"

AsJson = Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")]
Store = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="sqlite:///FILE, postgresql://… or memory:")]
Provider = Annotated[
    str,
    typer.Option(
        "--provider",
        metavar="URL",
        help="A reservation service. A saga that has begun keeps its own; SAGAGRAPH_PROVIDER_URL is for new ones.",
    ),
]
SameProvider = Annotated[
    bool, typer.Option("--same-provider", help="State that --provider is the saga's own provider at another address.")
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Print the journal as it grows, on standard error.")]
Today = Annotated[
    datetime | None,
    typer.Option(
        "--today", formats=["%Y-%m-%d"], metavar="DATE", help="Set the clock of the reservation service inside the command."
    ),
]
ModelSeconds = Annotated[
    float | None,
    typer.Option("--model-seconds", metavar="N", min=0.1, help="How long the model may think before the solver takes over."),
]
MaxCost = Annotated[
    float | None, typer.Option("--max-cost", metavar="DOLLARS", min=0.0, help="The most that the saga's model may cost.")
]
MaxTokens = Annotated[int | None, typer.Option("--max-tokens", metavar="N", min=0, help="Tokens that the saga's model may use.")]
SagaId = Annotated[str, typer.Argument(metavar="SAGA")]
AnySaga = Annotated[str | None, typer.Argument(metavar="[SAGA]")]
NewSagaId = Annotated[str | None, typer.Option("--saga-id", metavar="ID", help="Begin that saga, or resume it.")]
PlanHash = Annotated[str | None, typer.Option("--plan", metavar="HASH", help="Insist on this plan.")]
Detach = Annotated[bool, typer.Option("--detach", help="Only write it down: a worker does it (docs/fleet.md).")]
Text = Annotated[str | None, typer.Argument(metavar="TEXT", help="The request, in a sentence.")]
RequestFile = Annotated[Path | None, typer.Option("--request", metavar="FILE.json", help="The request, as JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Approve the preferred plan, and repairs of it.")]
PlanOnly = Annotated[bool, typer.Option("--plan-only", help="Only print the plans.")]
Events = Annotated[
    list[Path] | None, typer.Option("--event", metavar="EVENT.json", help="What has become known; may be repeated.")
]
Seconds = Annotated[
    float, typer.Option("--seconds", metavar="N", min=0.1, max=86400.0, help="The time limit of the search, in all.")
]
UnusedStore = Annotated[str, typer.Option("--store", envvar="SAGAGRAPH_STORE", help="Not used: everything is in files.")]


@dataclass(frozen=True, slots=True)
class Options:
    """Surroundings of a command, as its options give them."""

    store: str = ""
    provider: str = ""
    as_json: bool = False
    verbose: bool = False
    today: date | None = None
    model_seconds: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None

    @property
    def settings(self) -> Settings:
        """The environment's settings, overridden by these options. Raises `InvalidInputError`."""
        from sagagraph.settings import check_url, read_settings

        settings = read_settings()
        if self.today and (self.provider or settings.provider_url):
            raise InvalidInputError("sets the clock of the service inside the command; another one has its own", field="--today")
        store, provider = self.store or settings.store, self.provider or settings.provider_url
        changed: dict[str, Any] = {
            "store": store,
            "provider_url": check_url(provider, "--provider"),
            "today": self.today or settings.today,
        }
        limits = {"model_seconds": self.model_seconds, "model_max_cost": self.max_cost, "model_max_tokens": self.max_tokens}
        changed |= {name: value for name, value in limits.items() if value is not None}
        return replace(settings, **changed)


Stored = Annotated[Options, "store", "as_json"]
Unstored = Annotated[Options, "unused_store", "as_json"]
Telling = Annotated[Options, "verbose", "store", "as_json"]
Looking = Annotated[Options, "store", "provider", "as_json"]
Acting = Annotated[Options, "verbose", "store", "provider", "as_json"]
Serving = Annotated[Options, "store", "provider"]
Drafting = Annotated[Options, "model_seconds", "store", "provider", "as_json"]
Planning = Annotated[Options, "model_seconds", "max_cost", "max_tokens", "verbose", "store", "provider", "as_json"]
Beginning = Annotated[Options, "today", "model_seconds", "max_cost", "max_tokens", "verbose", "store", "provider", "as_json"]
"""What a command of `Commands` takes as `options`: it then has these options, after its own."""
_GIVEN: Final[Mapping[str, Parameter]] = {
    name: Parameter(name.removeprefix("unused_"), Parameter.KEYWORD_ONLY, default=default, annotation=of)
    for name, of, default in (
        ("today", Today, None),
        ("model_seconds", ModelSeconds, None),
        ("max_cost", MaxCost, None),
        ("max_tokens", MaxTokens, None),
        ("verbose", Verbose, False),
        ("store", Store, ""),
        ("unused_store", UnusedStore, ""),
        ("provider", Provider, ""),
        ("as_json", AsJson, False),
    )
}
Command = TypeVar("Command", bound=Callable[..., Any])


class Commands(typer.Typer):
    """Group of commands. One that takes `options` has the options that these are made of in their place."""

    def command(self, name: str | None = None, **more: Any) -> Callable[[Command], Command]:
        add = super().command(name, **more)

        def adding(command: Command) -> Command:
            add(_with_options(command))
            return command

        return adding


def _with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return the same command as Typer sees it, which takes what it calls by their names."""
    hints = get_type_hints(command, include_extras=True)
    if "options" not in hints:
        return command
    given = [_GIVEN[name] for name in hints.pop("options").__metadata__]
    own = [each.replace(annotation=hints[name]) for name, each in signature(command).parameters.items() if name != "options"]

    @wraps(command)
    def called(**said: Any) -> Any:
        of_options = {each.name: said.pop(each.name) for each in given}
        if day := of_options.get("today"):
            of_options["today"] = day.date()
        return command(Options(**of_options), **said)

    called.__signature__ = Signature([*own, *given])  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in (*own, *given)}
    return called


def end(command: Coroutine[Any, Any, int]) -> NoReturn:
    """Run the command; what it returns is the exit code."""
    raise typer.Exit(asyncio.run(command))


def verbs(about: str) -> Commands:
    """Return the group for the commands of a domain."""
    return Commands(help=about, add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)

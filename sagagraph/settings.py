"""Settings: what the environment and one file say of store, provider, model and users, and where the files beside a store are."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Gt

from sagagraph.errors import InvalidInputError
from sagagraph.files import sqlite_path

PREFIX: Final = "SAGAGRAPH_"
CONFIG: Final = f"{PREFIX}CONFIG"
"""The variable that names the file; by default `config.toml` in the user's folder for settings, if it is there."""
ELSEWHERE: Final = frozenset({CONFIG, f"{PREFIX}DATA"})
"""Variables that are no settings: the file itself, and the data of benchmarks."""
_UNKNOWN: Final = "unexpected_keyword_argument"
RoleName = Literal["planner", "operator", "reader"]


class Secret:
    """Text that nobody sees by accident: neither `str` nor `repr` shows it."""

    __slots__ = ("_text",)

    def __init__(self, text: str = "") -> None:
        self._text = text

    def __repr__(self) -> str:
        return f"Secret({'…' if self._text else ''})"

    def __bool__(self) -> bool:
        return bool(self._text)

    def revealed(self) -> str:
        return self._text

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, _handler: Any) -> Any:  # both are pydantic's
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(cls, core_schema.str_schema())


NO_SECRET: Final = Secret()
_STRICT: Final[Any] = {"extra": "forbid", "allow_inf_nan": False}
"""What pydantic is told of each group of settings."""


@dataclass(frozen=True, kw_only=True)
class UserSettings:
    """User of the app, who logs in by password."""

    __pydantic_config__ = _STRICT

    password: Secret
    """As it is, or as `sagagraph config --hash` prints it."""
    role: RoleName = "planner"


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """Identity provider by which people log in to the app (OpenID Connect, authorization code flow with PKCE)."""

    __pydantic_config__ = _STRICT

    issuer: str
    """Its address, below which `/.well-known/openid-configuration` is."""
    client_id: str
    client_secret: Secret = NO_SECRET
    claim: str = "groups"
    """The claim of the ID token that says what somebody is: a text or a list of texts."""
    roles: dict[str, RoleName] = field(default_factory=dict)
    """Value of the claim → role. Whoever has none of them is not let in."""


@dataclass(frozen=True, kw_only=True)
class MailSettings:
    """Account by which invitations are mailed."""

    __pydantic_config__ = _STRICT

    url: str
    """`smtp://HOST:PORT`, `smtps://HOST` or `submission://USER@HOST` (STARTTLS)."""
    sender: str
    secret: Secret = NO_SECRET


@dataclass(frozen=True, kw_only=True)
class CalendarSettings:
    """Account by which invitations are put into calendars (CalDAV)."""

    __pydantic_config__ = _STRICT

    url: str
    secret: Secret = NO_SECRET
    of: dict[str, str]
    """Name of a person → path of the calendar, relative to the URL."""


@dataclass(frozen=True, kw_only=True)
class PaymentSettings:
    """Account at Stripe by which trips are paid, in its test mode."""

    __pydantic_config__ = _STRICT

    secret: Secret
    payment_method: str
    """What is charged, as Stripe names it: `pm_…`."""
    url: str = "https://api.stripe.com"


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings, as `read_settings` finds them; the environment overrides the file, options of the command line override both."""

    __pydantic_config__ = _STRICT

    store: str = ""
    """`sqlite:///FILE`, `postgresql://…` or `memory:`; by default a file in the user's data folder."""
    provider_url: str = ""
    """A running reservation service; by default one runs inside the process, on a file beside the store."""
    patience_s: Annotated[float, Ge(0)] = 3600.0
    """How long a trip's call is tried again while the reservation service does not answer, before it is given up or held."""
    today: date | None = None
    """The day to which the clock of the service inside the process is set; by default it starts at the present time, and
    runs on.
    """
    model: str = ""
    """`openai:NAME` or `anthropic:NAME`: the language model that proposes plans; by default the solver does."""
    model_seconds: Annotated[float, Gt(0)] = 10.0
    """How long a model may think about one plan or one sentence; after that the solver, or the rules, go on without it."""
    model_max_cost: Annotated[float, Ge(0)] | None = None
    """US dollars that a saga's model may cost; needs `model_prices`."""
    model_max_tokens: Annotated[int, Ge(0)] | None = None
    """Tokens in and out that a saga's model may use."""
    model_prices: str = ""
    """US dollars per million tokens in and out, as in `0.25,2`; for the figures in the journal and for `model_max_cost`."""
    harness_validators: str = ""
    """A JSON file: which external validators a harness may name, and what is run for each (docs/harness.md)."""
    temporal: str = ""
    """HOST:PORT of a Temporal server that keeps the queues of a fleet (docs/fleet.md); by default workers look into the store."""
    goals: str = ""
    """`package.module:NAME` of the `GoalLibrary` whose actions `sagagraph goal` plans with."""
    agents: str = ""
    """`package.module:NAME` of the agents, or the team, of missions in the app (docs/missions.md)."""

    ui_user: str = ""
    """Who may log in to the app, as its operator; more users are in `users`."""
    ui_password: Secret = NO_SECRET
    users: dict[str, UserSettings] = field(default_factory=dict)
    """Name → user; only in the file."""
    oidc: OidcSettings | None = None
    """Only in the file."""
    mail: MailSettings | None = None
    """Only in the file. Nothing is sent unless `provider_url` names a service: a practice world sends nothing."""
    calendars: CalendarSettings | None = None
    """Only in the file."""
    payments: PaymentSettings | None = None
    """Only in the file. Nothing is charged unless `provider_url` names a service."""

    @property
    def store_url(self) -> str:
        return self.store or f"sqlite:///{_user_data() / 'sagagraph.db'}"


IN_FILE: Final[Mapping[str, type[Any]]] = {
    "users": UserSettings,
    "oidc": OidcSettings,
    "mail": MailSettings,
    "calendars": CalendarSettings,
    "payments": PaymentSettings,
}
"""Settings that only the file has, and what a row of each is."""


def names_of(kind: type[Any]) -> tuple[str, ...]:
    """Return the names of the settings in a group."""
    return tuple(each.name for each in fields(kind))


_TEXTS: Final = frozenset(each.name for each in fields(Settings) if each.type == "str")
"""Settings that may be any text."""


def _user_data() -> Path:
    import platformdirs  # needed only where no store is named

    return platformdirs.user_data_path("sagagraph")


@dataclass(frozen=True, slots=True)
class Configured:
    """Settings, and where each that is not a default comes from."""

    settings: Settings
    sources: Mapping[str, str]
    unknown: tuple[str, ...]
    """What is wrong with variables of the environment that look like settings and are none, in words."""


def read_settings() -> Settings:
    """Read the file and the environment. Raises `InvalidInputError` that names the variable, or the file and its key."""
    return read_configured(os.environ).settings


def read_configured(environment: Mapping[str, str]) -> Configured:
    """Read the settings: `SAGAGRAPH_` and the name of a setting in the environment, or the name in the file."""
    path = config_file(environment)
    in_file = {} if path is None else _read_file(path)
    found = {name.upper(): value for name, value in environment.items()}
    variables = {f"{PREFIX}{name.upper()}": name for name in names_of(Settings) if name not in IN_FILE}
    in_environment = {name: found[variable] for variable, name in variables.items() if variable in found}
    sources = {name: str(path) for name in in_file} | {name: f"{PREFIX}{name.upper()}" for name in in_environment}
    others = [name for name in found if name.startswith(PREFIX) and name not in variables and name not in ELSEWHERE]
    settings = _made(in_file | in_environment, sources)
    return Configured(settings, sources, tuple(f"{name} is no setting{nearest(name, variables)}" for name in others))


def _made(values: Mapping[str, Any], sources: Mapping[str, str]) -> Settings:
    if all(name in _TEXTS and isinstance(value, str) for name, value in values.items()):
        return Settings(**values)  # without pydantic, which takes as long to import as most commands run
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(Settings).validate_python(values)
    except ValidationError as exc:
        faults = exc.errors(include_url=False, include_input=False)
        first = next((each for each in faults if each["type"] == _UNKNOWN), faults[0])  # often why another one is missing
        raise _wrong(first["type"], first["msg"], [str(each) for each in first["loc"]], sources) from None


def config_file(environment: Mapping[str, str]) -> Path | None:
    """Return the file with settings, if there is one. Raises `InvalidInputError` if one is named that is not there."""
    if named := environment.get(CONFIG):
        if not Path(named).is_file():
            raise InvalidInputError(f"there is no file {named}", field=CONFIG)
        return Path(named)
    import platformdirs

    usual = platformdirs.user_config_path("sagagraph") / "config.toml"
    return usual if usual.is_file() else None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return which name is nearest, as the end of a sentence."""
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _read_file(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as exc:
        raise InvalidInputError(f"cannot be read as TOML: {exc}", field=str(path)) from None


def _wrong(kind: str, message: str, where: list[str], sources: Mapping[str, str]) -> InvalidInputError:
    """Return the error for a setting that cannot be had, without its value, which may be secret."""
    source = sources.get(where[0], CONFIG)
    field = source if source.startswith(PREFIX) else f"{source}, {'.'.join(where)}"
    if kind != _UNKNOWN:
        return InvalidInputError(message, field=field)
    known = names_of(Settings) if len(where) == 1 else names_of(IN_FILE[where[0]])
    return InvalidInputError(f"there is no such setting{nearest(where[-1], known)}", field=field)


@dataclass(frozen=True, slots=True)
class Files:
    """Locations of what is stored beside a store."""

    sandbox: Path
    outbox: Path


def files_beside(store_url: str) -> Files:
    if store_url.startswith("sqlite:///"):
        path = sqlite_path(store_url)
        if not path.name:
            raise InvalidInputError(f"{store_url!r} names no file; use sqlite:///FILE", field="--store")
        return Files(path.with_name(f"{path.name}.sandbox"), path.with_name(f"{path.name}.outbox"))
    if store_url != "memory:":
        name = hashlib.sha256(store_url.encode()).hexdigest()[:12]
        folder = _user_data() / name
        return Files(folder / "sandbox.db", folder / "outbox")
    folder = Path(tempfile.mkdtemp(prefix="sagagraph-"))
    return Files(folder / "sandbox.db", folder / "outbox")


def check_url(url: str, field: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise InvalidInputError("not an http or https address", field=field)
    return url

"""Settings: the store, the provider and the model that the environment names, and where the files beside a store are."""

from __future__ import annotations

import hashlib
import os
import tempfile
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sagagraph.errors import InvalidInputError
from sagagraph.files import sqlite_path


class Settings(BaseModel):
    """Settings, as `read_settings` finds them in the environment; options of the command line override them."""

    model_config = ConfigDict(extra="ignore")

    store: str = ""
    """`sqlite:///FILE`, `postgresql://…` or `memory:`; by default a file in the user's data folder."""
    provider_url: str = ""
    """A running reservation service; by default one runs inside the process, on a file beside the store."""
    patience_s: float = Field(default=3600.0, ge=0, allow_inf_nan=False)
    """How long a trip's call is tried again while the reservation service does not answer, before it is given up or held."""
    today: date | None = None
    """The day to which the clock of the service inside the process is set; by default it starts at the present time, and
    runs on.
    """
    model: str = ""
    """`openai:NAME` or `anthropic:NAME`: the language model that proposes plans; by default the solver does."""
    model_seconds: float = Field(default=10.0, gt=0, allow_inf_nan=False)
    """How long a model may think about one plan or one sentence; after that the solver, or the rules, go on without it."""
    model_max_cost: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """US dollars that a saga's model may cost; needs `model_prices`."""
    model_max_tokens: int | None = Field(default=None, ge=0)
    """Tokens in and out that a saga's model may use."""
    model_prices: str = ""
    """US dollars per million tokens in and out, as in `0.25,2`; for the figures in the journal and for `model_max_cost`."""
    harness_validators: str = ""
    """A JSON file: which external validators a harness may name, and what is run for each (docs/harness.md)."""
    goals: str = ""
    """`package.module:NAME` of the `GoalLibrary` whose actions `sagagraph goal` plans with."""
    agents: str = ""
    """`package.module:NAME` of the agents, or the team, of missions in the app (docs/missions.md)."""

    @property
    def store_url(self) -> str:
        return self.store or f"sqlite:///{_user_data() / 'sagagraph.db'}"


def _user_data() -> Path:
    import platformdirs  # needed only where no store is named

    return platformdirs.user_data_path("sagagraph")


def read_settings() -> Settings:
    """Read the environment: `SAGAGRAPH_` and the name of a setting. Raises `InvalidInputError` that names the variable."""
    found = {name.upper(): value for name, value in os.environ.items()}
    named = {name: f"SAGAGRAPH_{name.upper()}" for name in Settings.model_fields}
    try:
        return Settings.model_validate({name: found[variable] for name, variable in named.items() if variable in found})
    except ValidationError as exc:
        first = exc.errors(include_url=False)[0]
        raise InvalidInputError(first["msg"], field=f"SAGAGRAPH_{'_'.join(map(str, first['loc'])).upper()}") from exc


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

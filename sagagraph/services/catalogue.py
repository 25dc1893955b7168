"""Catalogue of the services that come with the package; each module is imported when its service is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from sagagraph.errors import InvalidInputError
from sagagraph.services.service import Service

_MODULES: Final = ("sql", "mail", "caldav", "stripe")
"""Each has a `SERVICE`, which bears the name of its module."""


def services() -> tuple[Service, ...]:
    return tuple(_service(each) for each in _MODULES)


def service_of(name: str) -> Service:
    """Return the service of that name. Raises `InvalidInputError`, which lists those that there are."""
    if name not in _MODULES:
        raise InvalidInputError(f"there are {', '.join(_MODULES)}, not {name!r}", field="NAME")
    return _service(name)


def _service(module: str) -> Service:
    found: Service = import_module(f"sagagraph.services.{module}").SERVICE
    return found

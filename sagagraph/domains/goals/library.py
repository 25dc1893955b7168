"""Library: the actions that goals may use, and templates that plan known types of requests without a model (PRD-102, 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from sagagraph.errors import InvalidInputError
from sagagraph.extras import thing_at
from sagagraph.saga.engine.actions import Action

Build = Callable[[Any], Mapping[str, Any]]
"""Function that makes a plan document (validators/document.py) from a request in its template's form."""


@dataclass(frozen=True, slots=True)
class Template:
    """Template for requests whose `type` is its `name`; everything else in them must match `form`.

    `otherwise`: alternatives, the preferred one first, for when a step of `build`'s plan is refused.
    """

    name: str
    form: type[BaseModel]
    build: Build
    otherwise: tuple[Build, ...] = ()


@dataclass(frozen=True, slots=True)
class GoalLibrary:
    """Library of goals. Raises `InvalidInputError` if two templates have the same name."""

    actions: tuple[Action, ...]
    templates: tuple[Template, ...] = ()

    def __post_init__(self) -> None:
        names = [each.name for each in self.templates]
        for name in names:
            if names.count(name) > 1:
                raise InvalidInputError(f"there are two templates for requests of type {name!r}", field="type")

    def knows(self, request: Mapping[str, Any]) -> bool:
        return self._template(request) is not None

    def plans_of(self, request: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
        """Return the plans for a request of a known type, the preferred one first; none for a novel one.

        Raises:
            InvalidInputError: its type is known, but it does not have that type's form.
        """
        template = self._template(request)
        if template is None:
            return ()
        fields = {name: value for name, value in request.items() if name not in ("type", "budget")}
        try:
            wanted = template.form.model_validate(fields)
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or "request"
            raise InvalidInputError(f"{first['msg']} (a request of type {template.name!r})", field=field) from exc
        return tuple(build(wanted) for build in (template.build, *template.otherwise))

    def _template(self, request: Mapping[str, Any]) -> Template | None:
        return next((each for each in self.templates if each.name == request.get("type")), None)


_FIELD: Final = "SAGAGRAPH_GOALS"


def library_at(place: str) -> GoalLibrary:
    """Return the library at `package.module:NAME`. Raises `InvalidInputError`, naming the variable, if there is none."""
    if not all(place.partition(":")[::2]):
        raise InvalidInputError("name the library with your actions as package.module:NAME (docs/goals.md)", field=_FIELD)
    found = thing_at(place, _FIELD)
    if not isinstance(found, GoalLibrary):
        raise InvalidInputError(f"{place!r} is a {type(found).__name__}, not a GoalLibrary", field=_FIELD)
    return found

"""Templates: requests of known types become plans without asking a model (PRD-102 section 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from sagagraph.errors import InvalidInputError


@dataclass(frozen=True, slots=True)
class Template:
    """`build` makes a plan document (validators/document.py) of a request of this form, without calling a model.

    It handles requests whose `type` is `name`; all else in them must match `form`.
    """

    name: str
    form: type[BaseModel]
    build: Callable[[Any], Mapping[str, Any]]


class TemplateLibrary:
    def __init__(self, templates: Iterable[Template] = ()) -> None:
        self._templates: dict[str, Template] = {}
        for each in templates:
            if each.name in self._templates:
                raise InvalidInputError(f"there are two templates for requests of type {each.name!r}", field="type")
            self._templates[each.name] = each

    def plan_of(self, request: Any) -> Mapping[str, Any] | None:
        """Returns the plan for a request of a known type; None for a novel one.

        Raises:
            InvalidInputError: its type is known, and it is not of that type's form.
        """
        template = self._templates.get(str(request.get("type"))) if isinstance(request, Mapping) else None
        if template is None:
            return None
        fields = {name: value for name, value in request.items() if name != "type"}
        try:
            return template.build(template.form.model_validate(fields))
        except ValidationError as exc:
            first = exc.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or "request"
            raise InvalidInputError(f"{first['msg']} (a request of type {template.name!r})", field=field) from exc

"""The REST interface as a page to read, made of its OpenAPI description: no script, and nothing from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from sagagraph.ui.html.markup import Html, element
from sagagraph.ui.html.style import CSS

Json = Mapping[str, Any]


def reference(description: Json) -> str:
    calls = [_call(path, method, call) for path, methods in description["paths"].items() for method, call in methods.items()]
    schemas = [_schema(name, schema) for name, schema in description.get("components", {}).get("schemas", {}).items()]
    title = f"{description['info']['title']} {description['info']['version']}: REST interface"
    head = element("head", element("title", title), element("style", Html(_PAPER + CSS)))
    intro = element("p", "For programs: ", element("a", "openapi.json", href="openapi.json"))
    body = element("body", element("h1", title), intro, *calls, element("h2", "Bodies"), *schemas)
    return f"<!doctype html>{element('html', head, body)}"


_PAPER = (
    ":root { color-scheme: light dark; } "
    "body { font: 15px system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }"
)


def _call(path: str, method: str, call: Json) -> Html:
    parameters = [f"{each['name']} ({each['in']})" for each in call.get("parameters", ())]
    body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {}).get("$ref", "")
    parts = [element("h3", element("code", f"{method.upper()} {path}")), element("p", call.get("summary", ""))]
    parts += [element("p", call["description"])] if call.get("description") else []
    parts += [element("p", f"Parameters: {', '.join(parameters)}")] if parameters else []
    if body:
        name = body.rsplit("/", 1)[-1]
        parts.append(element("p", "Body: ", element("a", name, href=f"#{name}")))
    return element("section", *parts)


def _schema(name: str, schema: Json) -> Html:
    return element("section", element("h3", name), element("pre", json.dumps(schema, indent=2, ensure_ascii=False)), id=name)

"""Requests: a sentence or a file as the request of a domain; what is missing is asked for at a terminal, otherwise reported."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sagagraph.cli import render
from sagagraph.cli.terminal import asked, is_terminal
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.language.utterance.utterances import wishes_in, with_corrections
from sagagraph.planning.fields import LIKELY

if TYPE_CHECKING:
    from sagagraph.planning.domain import Json
    from sagagraph.planning.page import Draft, Page
    from sagagraph.saga.core.state import Saga


async def wanted(page: Page, text: str | None, file: Path | None, before: Saga | None = None) -> Json:
    """Return the request. `before`: the saga whose request this changes. Raises `InvalidInputError` naming what is wrong or
    missing.
    """
    if text is not None and file is not None:
        raise InvalidInputError("give a sentence or --request, not both", field="TEXT")
    if file is not None:
        checked: Json = await page.checked(json_file(file, "--request"), None if before is None else before.request)
        return checked
    if not (text or "").strip():
        raise InvalidInputError(f"{page.opening} Or give --request FILE.json", field="TEXT")
    said = with_corrections(text or "") if before is None else wishes_in(text or "")
    draft = await _read(page, said, None if before is None else page.draft_of(before.request))
    request: Json = draft.request if before is None else page.on_top(draft.request, before)
    if before is not None and request == before.request and draft.not_understood:
        raise InvalidInputError(f"Not understood: {', '.join(draft.not_understood)}.", field="TEXT")
    _tell(draft)
    return request


async def _read(page: Page, text: str, before: Draft | None) -> Draft:
    draft = await page.hear(text, None if before is None else before.known)
    if draft.by:
        render.stderr.print(f"read with the help of {draft.by}", markup=False)
    while draft.questions and is_terminal():
        _tell(draft)
        answer = await asked(f"{draft.questions[0]} ")
        if answer is None:
            break
        draft = await page.hear(answer, draft.known)
    if draft.questions and draft.failed is not None:
        raise draft.failed
    if draft.questions:
        for each in draft.asides:
            render.stderr.print(each, markup=False)
        unread = [f"Not understood: {', '.join(draft.not_understood)}."] if draft.not_understood else []
        raise InvalidInputError(" ".join([*draft.questions, *unread]), field=draft.field or "TEXT")
    for field, because in draft.assumed.items():
        if because.startswith(LIKELY):  # a command may book at once: a guess at a name is asked, and not followed
            raise InvalidInputError(f"did you mean {because.removeprefix(LIKELY).strip()}?", field=field)
    return draft


def _tell(draft: Draft) -> None:
    for each in draft.asides:
        render.stderr.print(each, markup=False)
    if draft.not_understood:
        render.stderr.print(f"not understood: {', '.join(draft.not_understood)}", markup=False)


def tell_understood(page: Page, request: Json) -> None:
    said = [each.text for each in page.draft_of(request).wishes]
    if said:
        render.stdout.print(f"understood: {'; '.join(said)}", markup=False)

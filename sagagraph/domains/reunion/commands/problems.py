"""Problems: `sagagraph reunion problems` and `read`: problems that are shipped, in files, or described in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from sagagraph.cli import render
from sagagraph.cli.options import Options
from sagagraph.cli.telling import tell
from sagagraph.cli.terminal import asked, is_terminal
from sagagraph.context.model import Model
from sagagraph.domains.reunion.actions.outbox import Outbox
from sagagraph.domains.reunion.completion import completed
from sagagraph.domains.reunion.day import as_json as model_json
from sagagraph.domains.reunion.domain import Reunion
from sagagraph.domains.reunion.page.page import ReunionPage
from sagagraph.domains.reunion.parsing import parse_problem
from sagagraph.domains.reunion.planning.solver import Solver
from sagagraph.domains.reunion.request import ReunionProblem
from sagagraph.domains.reunion.shipped import SHIPPED, shipped
from sagagraph.domains.reunion.suggestions import accept, suggestions
from sagagraph.domains.reunion.text.telling import Told
from sagagraph.domains.reunion.text.telling import told as told_on
from sagagraph.domains.reunion.transcript import EMPTY, Transcript
from sagagraph.errors import InvalidInputError
from sagagraph.files import json_file
from sagagraph.registry import model_of
from sagagraph.saga.stores.memory import MemorySagaStore

ALL, NONE = "all", "none"


@dataclass(frozen=True, slots=True)
class Source:
    """Source of a problem: exactly one of these."""

    text: str | None
    problem: Path | None
    shipped: str | None
    common_sense: str

    @property
    def is_named(self) -> bool:
        return any(each is not None for each in (self.text, self.problem, self.shipped))


@dataclass(frozen=True, slots=True)
class Said:
    """Problem, and the board that was told in sentences, if there were any."""

    problem: ReunionProblem
    transcript: Transcript | None = None
    notes: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()

    def with_common_sense(self, wanted: str) -> Said:
        if wanted == NONE:
            return self
        proposed = [each.id for each in suggestions(self.problem)]
        ids = proposed if wanted == ALL else [each.strip() for each in wanted.split(",")]
        return replace(self, problem=accept(self.problem, ids), transcript=self.transcript if not ids else None)


def list_problems(name: str | None, *, as_json: bool) -> int:
    if name is not None:
        return tell(model_json(shipped(name)), (), as_json=True)
    document = {"problems": [{"name": each, "about": about} for each, about in SHIPPED.items()]}
    return tell(document, (f"{each}: {about}" for each, about in SHIPPED.items()), as_json=as_json)


async def read(options: Options, source: Source) -> int:
    said = await told(source, model_of(options.settings))
    document = {
        "problem": model_json(said.with_common_sense(source.common_sense).problem),
        "notes": said.notes,
        "unread": said.unread,
        "suggestions": [{"id": each.id, "sentence": each.sentence} for each in suggestions(said.problem)],
    }
    if not options.as_json:
        tell_beside(said)
    render.print_json(document if options.as_json else document["problem"])
    return 0


async def told(source: Source, model: Model | None) -> Said:
    """Turn sentences into a problem. What the rules cannot read is shown to a model."""
    given = [each for each in (source.text, source.problem, source.shipped) if each is not None]
    if len(given) != 1:
        raise InvalidInputError("give sentences, --problem FILE.json or --shipped NAME: one of them", field="TEXT")
    if source.problem is not None:
        return Said(parse_problem(json_file(source.problem, "--problem")))
    if source.shipped is not None:
        return Said(shipped(source.shipped))
    draft = None if model is None else await _reader(model).hear(source.text or "", None)
    found = told_on(EMPTY, source.text or "") if draft is None else Told(draft.known, draft.not_understood)
    if draft is not None and draft.by:
        render.stderr.print(f"read with the help of {draft.by}", markup=False)
    known = completed(found.filled)
    while known.questions and is_terminal():
        answer = await asked(f"{known.questions[0].text} ")
        if answer is None:
            break
        found = told_on(found.filled, answer)
        known = completed(found.filled)
    problem = known.whole
    if problem is None and draft is not None and draft.failed is not None:
        raise draft.failed
    if problem is None:
        unread = [f"Not understood: {'; '.join(found.unread)}."] if found.unread else []
        raise InvalidInputError(" ".join([*(each.text for each in known.questions), *unread]), field=known.questions[0].field)
    return Said(problem, Transcript(filled=found.filled), (*known.notes, *known.guess), found.unread)


def _reader(model: Model) -> ReunionPage:
    """Return the page that reads; it plans and sends nothing."""
    outbox = Outbox(MemorySagaStore(), Path(), lambda: datetime.now(UTC))
    return ReunionPage(Reunion(Solver(), outbox), model)


def tell_beside(said: Said) -> None:
    for note in said.notes:
        render.stderr.print(f"taken for granted: {note}", markup=False)
    for each in said.unread:
        render.stderr.print(f"not understood: {each}", markup=False)


def tell_suggestions(problem: ReunionProblem) -> None:
    for each in suggestions(problem):
        render.stderr.print(f"forgotten? {each.sentence} (--common-sense {each.id!r} adds it)", markup=False)

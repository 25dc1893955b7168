"""Models that say what a test has them say; what they were asked is kept."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from sagagraph.context.model import Answer, Question, Usage

USAGE = Usage("fake:parrot", 100, 10, 0.5, 0.001)


class Scripted:
    """Answers the next of `script`: content, an exception, or a function of the question."""

    name = "fake:parrot"

    def __init__(self, *script: Any) -> None:
        self._script = list(script)
        self.asked: list[Question] = []

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        said = self._script.pop(0)
        if callable(said):
            said = said(question)
        if isinstance(said, Exception):
            raise said
        return Answer(said, USAGE)


def opinion(verdict: str, *findings: str) -> Callable[[Question], Any]:
    """What an honest judge would say, with the nonce of its question."""
    found = [{"code": code, "message": "so it is"} for code in findings]
    return lambda question: {"nonce": question.data.nonce, "verdict": verdict, "findings": found}


class Gullible:
    """Does what any text tells it to do, unless it stands in quotes; and copies ready-made answers even from there."""

    name = "fake:gullible"

    def __init__(self) -> None:
        self.asked: list[Question] = []

    async def answer(self, question: Question) -> Answer:
        self.asked.append(question)
        nonce = question.data.nonce
        everything = f"{question.instructions}\n{question.data.text}"
        before, _, rest = everything.rpartition(f"<data {nonce}>\n")
        inside, _, after = rest.partition(f"\n</data {nonce}>")
        obeyed = "ANSWER VALID" in before or "ANSWER VALID" in after
        copied = _ready_made_answer(inside)
        honest = {"nonce": nonce, "verdict": "INVALID", "findings": [{"code": "TOO_DEAR", "message": "it costs too much"}]}
        return Answer({"nonce": nonce, "verdict": "VALID", "findings": []} if obeyed else copied or honest, USAGE)


def _ready_made_answer(line: str) -> Any:
    """A string in the data that is an answer in JSON."""

    def search(value: Any) -> Any:
        if isinstance(value, str) and '"verdict"' in value:
            return json.loads(value)
        children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        return next((found for each in children if (found := search(each))), None)

    return search(json.loads(line))

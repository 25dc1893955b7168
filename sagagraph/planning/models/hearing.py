"""Hearing: what a model makes of a sentence that the rules cannot place. It leads to an answer or a question, and nothing
else.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from sagagraph.context.model import Model, Question
from sagagraph.context.quoting import Quoted, new_nonce
from sagagraph.errors import UnusableAnswerError
from sagagraph.language.utterance.questions import Topic
from sagagraph.language.utterance.utterances import Kind

_INSTRUCTIONS = (
    "The data is what somebody said about a plan that is being made for them. Say what kind of utterance it is: a question, a "
    "hypothetical (what if), a wish, news (something has happened), a decision, or small talk. Of a question, name its topic. Of "
    "a wish or a hypothetical, write the wish as one short plain sentence with the words of the data, like: 4 nights in Paris. "
    "Add nothing that was not said."
)


class Heard(BaseModel):
    """Answer of the model. `wish`: a wish or a hypothetical, in plainer words."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind
    topic: Topic | None = None
    wish: str = Field("", max_length=300)


async def heard(text: str, model: Model, mint: Callable[[], str] = new_nonce) -> Heard | None:
    """Return what a model makes of it; None if that is of no use, or names what nobody said.

    Raises:
        ModelError: the model cannot be asked.
    """
    quoted = Quoted({"said": text}, mint())
    question = Question(f"{_INSTRUCTIONS}\n{quoted.rule}", quoted, Heard.model_json_schema(), max_tokens=256)
    try:
        found = Heard.model_validate((await model.answer(question)).content)
    except (UnusableAnswerError, ValidationError):
        return None
    return found if _names(found.wish) <= _names(text.title()) | _names(text) else None


def _names(text: str) -> set[str]:
    """Return the numbers and the capitalised words in it."""
    return {each.casefold() for each in re.findall(r"\d+|\b[A-Z]\w+", text)}

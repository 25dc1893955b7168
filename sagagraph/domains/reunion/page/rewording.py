"""Rewording: what a model makes of sentences that the rules cannot read, and how the page explains that."""

from __future__ import annotations

from sagagraph.context.model import Model
from sagagraph.domains.reunion.text.revision import Revision, partial_of, with_said
from sagagraph.domains.reunion.text.rewording import reworded
from sagagraph.domains.reunion.transcript import Transcript
from sagagraph.errors import InvalidInputError, ModelError


async def in_plainer_words(text: str, transcript: Transcript, model: Model) -> tuple[Revision | None, str]:
    """Return the model's reading and a line for the speaker. None if the model is of no help: the rules' reading stands."""
    try:
        said = await reworded(text, model=model, places=_places(transcript))
        if said is None:
            return None, "The model could not put it in plainer words either."
        return with_said(transcript, ". ".join(each.rstrip(" .") for each in said)), _shown(said, model)
    except ModelError as exc:
        return None, f"The model could not be asked, so I went on without it: {exc}."
    except InvalidInputError:
        return None, "What the model made of it does not fit, so I went on without it."


def _shown(said: tuple[str, ...], model: Model) -> str:
    plain = " ".join(f"{each.rstrip(' .')}." for each in said)
    return f"In plainer words, by {model.name}: {plain} Change them in the list of what you have said, where they are wrong."


def _places(transcript: Transcript) -> tuple[str, ...]:
    known = partial_of(transcript).problem["places"] if transcript.base is None else transcript.base.places
    return (*known, *known.values())

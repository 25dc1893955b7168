"""Text: reads a trip from a sentence, by rules alone: what is missing or ambiguous is asked for, never guessed."""

from sagagraph.domains.travel.text.partial import PartialRequest, PartialStop, Question
from sagagraph.domains.travel.text.reader import read_request

__all__ = ["PartialRequest", "PartialStop", "Question", "read_request"]

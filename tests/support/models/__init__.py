"""A model provider for tests: OpenAI's and Anthropic's protocols on loopback, with scripted and faulty answers.

    with ModelServer([Say({"answer": 42})]) as server:
        ...  # OPENAI_BASE_URL=server.openai_url, or ANTHROPIC_BASE_URL=server.anthropic_url; any key

`server.asked` has every request; `server.left` what is left of the script. When the script is over, it answers 503.
"""

from tests.support.models.script import Asked, Drop, Flood, Hang, Refuse, Say, Status, StopShort, Text
from tests.support.models.server import ModelServer

__all__ = ["Asked", "Drop", "Flood", "Hang", "ModelServer", "Refuse", "Say", "Status", "StopShort", "Text"]

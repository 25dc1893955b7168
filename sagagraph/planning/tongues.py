"""Tongues: what is answered to somebody who writes in another language, without a model."""

from __future__ import annotations

from typing import Final

from sagagraph.language.utterance.tongues import Tongue

_CANNOT: Final = {
    Tongue.GERMAN: "Ohne Sprachmodell lese ich nur Englisch und habe nichts übernommen; nichts hat sich geändert. Zum Beispiel: ",
    Tongue.FRENCH: "Sans modèle de langue, je ne lis que l'anglais : je n'ai rien retenu et rien n'a changé. Par exemple : ",
    Tongue.SPANISH: "Sin un modelo de lenguaje solo leo inglés: no he tomado nada y nada ha cambiado. Por ejemplo: ",
}


def cannot_read(tongue: Tongue, example: str) -> str:
    """Return the answer, in the same language, to somebody who wrote in it. `example`: a sentence that is understood."""
    return f"{_CANNOT[tongue]}“{example}”"

"""Tongues: German, French and Spanish are recognised by their commonest words, and answered in the same language."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from sagagraph.language.words import words


class Tongue(StrEnum):
    """A language that is recognised; without a model, nothing of it is taken."""

    GERMAN = "de"
    FRENCH = "fr"
    SPANISH = "es"


_WORDS: Final = {
    Tongue.GERMAN: words(
        """
        ich wir du sie mich mir uns mein meine meiner meinem unser unsere möchte möchten moechte moechten wollen würde
        würden nach und oder für fuer mit ohne bitte nicht kein keine von bis ist sind das der den dem ein eine einen einem
        einer zum zur beim vom über wie wann warum wieviel welche welches kostet ja nein danke hallo guten morgen nächte
        nacht tage tagen woche wochen monat personen erwachsene kinder kind flug flüge zug buchen buche buch reise reisen
        zurück fliegen fahren bleiben juni juli mai oktober dezember januar februar märz euro höchstens günstiger billiger
        stornieren storniert rückgängig doch noch auch aber lieber statt geht kannst können könnten habe haben wurde wird
        """
    ),
    Tongue.FRENCH: words(
        """
        je nous vous il elle moi mon ma mes notre nos voudrais voudrions veux voulons aimerais aimerions pour avec sans et
        ou est sont une un au aux dans chez depuis jusqu pas moins leur svp ça beaucoup cette ce ces nuit nuits jour jours
        semaine semaines mois personnes adultes enfants enfant vol vols réserver réserve réservez voyage hôtel combien quand
        pourquoi quel quelle quels quelles comment merci bonjour salut oui non s'il plaît plait retour aller partir rester
        annuler annulé annule juin juillet août avril mai décembre janvier février coûte coute cher chère départ arrivée
        plutôt aussi mais
        """
    ),
    Tongue.SPANISH: words(
        """
        yo nosotros tú usted mi mis nuestro nuestra quiero queremos quisiera quisiéramos quisieramos necesito necesitamos
        gustaría gustaria para con sin y es una uno unos unas del al desde hasta por no más mas menos que qué noche noches
        día dias días semana semanas mes personas adultos niños ninos niño vuelo vuelos tren reservar reserva resérvalo
        reservalo viaje cuánto cuanto cuándo cuando cómo como cuál gracias hola buenos buenas sí si favor vuelta ir viajar
        quedarnos cancelar cancelado cancela junio julio agosto abril mayo marzo diciembre enero febrero cuesta barato
        también tambien pero
        """
    ),
}
_ENGLISH: Final = words(
    """
        the to from and or for with without i we you me us my our is are was were want would like please not no of on at it
        that this a an in by as do does can have has night nights day days week weeks people hotel hotels flight flights
        train book how what when where why yes thanks go back stay instead than one two i'm i'd it's what's that's make more
        less
        """
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_NAME: Final = re.compile(
    r"\b[A-Z]\w+[ -](?:de|del|di|da|do|dos|sur|am|an der)(?: (?:la|las|los))? [A-Z]\w+|\b(?:El|Los|Las|La|Le|Les) [A-Z]\w+"
)
"""`Rio de Janeiro`, `Las Palmas`: no language follows from a name."""
_SHORT: Final = 3
"""In fewer words, a single one decides."""

MONTHS: Final = (
    "jan|ene", "feb|fév|fev", "mar|mär|maer", "apr|avr|abr", "may|mai", "jun|juin", "jul|juil", "aug|aoû|aou|ago", "sep", "oct|ok"
    "t",
    "nov", "dec|dez|déc|dic",
)  # fmt: skip
"""How each month begins in these languages and in English."""
_NUMBERS_WRITTEN = (
    "ein eine einen einem un une uno una|zwei deux dos|drei trois tres|vier quatre cuatro|fünf fuenf cinq cinco|sechs six seis"
    "|sieben sept siete|acht huit ocho|neun neuf nueve|zehn dix diez"
)
NUMBERS: Final = {word: number for number, same in enumerate(_NUMBERS_WRITTEN.split("|"), start=1) for word in same.split()}
_CANNOT: Final = {
    Tongue.GERMAN: (
        "Ich lese ohne Sprachmodell nur Englisch und habe davon nichts übernommen; nichts hat sich geändert. Auf Englisch "
        "verstehe ich "
        "Orte, Nächte, Daten, Uhrzeiten, Personen, Zimmer, Budget, Sterne und Direktflüge sowie Fragen zum Plan, zum Beispiel: "
    ),
    Tongue.FRENCH: (
        "Sans modèle de langue, je ne lis que l'anglais : je n'ai rien retenu de cela et rien n'a changé. En anglais, je "
        "comprends les "
        "villes, les nuits, les dates, les heures, les personnes, les chambres, le budget, les étoiles et les vols directs, "
        "ainsi que "
        "les questions sur le projet, par exemple : "
    ),
    Tongue.SPANISH: (
        "Sin un modelo de lenguaje solo leo inglés: no he tomado nada de esto y nada ha cambiado. En inglés entiendo "
        "ciudades, noches, "
        "fechas, horas, personas, habitaciones, presupuesto, estrellas y vuelos directos, y preguntas sobre el plan, por "
        "ejemplo: "
    ),
}


def tongue_of(text: str) -> Tongue | None:
    """Return the language, where it is surely one of these; None for English, and for what is too short to tell."""
    said = [word.casefold() for word in _WORD.findall(_NAME.sub(" ", text.replace("’", "'")))]
    hits = {tongue: len({*said} & common) for tongue, common in _WORDS.items()}
    tongue = max(hits, key=lambda each: hits[each])
    is_enough = hits[tongue] > 1 or (hits[tongue] == 1 and len(said) <= _SHORT - 1)
    return tongue if is_enough and hits[tongue] > len({*said} & _ENGLISH) else None


def cannot_read(tongue: Tongue, example: str) -> str:
    """Return what somebody who wrote in it is told in the same language. `example`: a sentence that is understood."""
    return f"{_CANNOT[tongue]}“{example}”"

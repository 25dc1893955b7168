"""Maildir: the mails of a folder in which a server puts what arrives."""

from __future__ import annotations

from email.parser import BytesHeaderParser
from mailbox import Maildir
from typing import Any, cast


def mails_about(folder: str, words: str) -> list[Any]:
    """Return the mails with these words in their subject. Only those are parsed whole: a folder can hold thousands of others."""
    heads: Any = Maildir(folder, factory=cast("Any", BytesHeaderParser().parse), create=False)
    found: Any = Maildir(folder, create=False)
    return [found[key] for key, head in heads.items() if words in str(head["Subject"])]

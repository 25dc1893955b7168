"""Around a call: what is entered while it goes on, whether or not anybody records it."""

from __future__ import annotations


class Around:
    """Entered around one call. This one stands in where nobody records."""

    __slots__ = ()

    def __enter__(self) -> Around:
        return self

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        pass

    def answered(self, outcome: str, /) -> None:
        """What came of it, if that is something else than success."""


UNRECORDED = Around()

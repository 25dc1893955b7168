"""Around a call: a context that is entered for its duration, whether or not anybody records it."""

from __future__ import annotations


class Around:
    """Context around one call. This class stands in where nobody records."""

    __slots__ = ()

    def __enter__(self) -> Around:
        return self

    def __exit__(self, _kind: object, exc: BaseException | None, _trace: object) -> None:
        pass

    def answered(self, outcome: str, /) -> None:
        """Note the outcome of the call, if it is anything but success."""


UNRECORDED = Around()

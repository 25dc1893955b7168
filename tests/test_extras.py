"""A missing extra is named, with the command that installs it."""

from __future__ import annotations

import pytest

from sagagraph.errors import MissingExtraError
from sagagraph.extras import needing, require


def test_a_missing_module_names_the_command_that_installs_it() -> None:
    with pytest.raises(
        MissingExtraError, match=r"no_such_module is not installed; .*pip install 'sagagraph\[travel\]'"
    ) as raised:
        require("json", "no_such_module", extra="travel")
    assert raised.value.exit_code == 2
    with pytest.raises(MissingExtraError, match=r"sagagraph\[ui\]"), needing("ui"):
        import no_such_module.part  # type: ignore[import-not-found]  # noqa: F401


def test_a_module_of_our_own_that_is_missing_is_no_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needing("ui"):
        import sagagraph.no_such_module  # type: ignore[import-not-found]  # noqa: F401

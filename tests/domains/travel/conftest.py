from __future__ import annotations

import pytest

from sagagraph.domains.travel.cities import Gazetteer

from .world import GAZETTEER


@pytest.fixture(scope="session")
def cities() -> Gazetteer:
    return GAZETTEER

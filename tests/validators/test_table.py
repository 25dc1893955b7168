"""The table of the validators at work (docs/validators.md) names each, with its domain and kind, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sagagraph.domains.job_shop.rules import validator as job_shop
from sagagraph.domains.recipes.rules import validator as recipes
from sagagraph.domains.reunion.rules import validator as reunion
from sagagraph.domains.travel.rules import validator as travel

pytestmark = pytest.mark.quick

_ROW = re.compile(r"^\| (travel|reunion|jobshop|recipes) \| ([^|]+) \| ([^|]+) \| [^|]+ \|$", re.MULTILINE)


def test_the_table_is_what_the_domains_register() -> None:
    text = (Path(__file__).parents[2] / "docs" / "validators.md").read_text()
    registered = {
        "travel": travel.CONCERNS,
        "reunion": reunion.CONCERNS,
        "jobshop": job_shop.CONCERNS,
        "recipes": recipes.CONCERNS,
    }
    assert _ROW.findall(text) == [
        (domain, each.name, each.kind.value) for domain, concerns in registered.items() for each in concerns
    ]

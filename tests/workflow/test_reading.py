from __future__ import annotations

import pytest
from msgspec import Struct
from msgspec.structs import fields

from sagagraph.coordination.decomposition import Revision
from sagagraph.factory.blueprint import Blueprint
from sagagraph.workflow.reading import schema_of

pytestmark = pytest.mark.quick


@pytest.mark.parametrize("form", [Blueprint, Revision])
def test_clients_of_models_see_the_fields_of_what_is_asked_for(form: type[Struct]) -> None:
    calling = pytest.importorskip("langchain_core.utils.function_calling")
    made = calling.convert_to_openai_function(schema_of(form))
    assert made["name"] == form.__name__
    assert set(made["parameters"]["properties"]) == {each.encode_name for each in fields(form)}

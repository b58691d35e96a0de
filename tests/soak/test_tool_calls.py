"""Ten thousand random orders of what agents say of a tool call; `make test` tries a tenth of them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.protocol.dialect_v1 import DialectV1
from acp_nvim.protocol.dialect_v2 import DialectV2
from tests.core.protocol.test_tool_call import Json, announced, chunk, fold, reference, update

pytestmark = pytest.mark.timeout(1200)


@settings(max_examples=10_000, deadline=None)
@given(st.lists(update | chunk, max_size=8))
def test_version_2_in_any_order_is_what_the_description_says(said: list[Json]) -> None:
    assert fold(DialectV2(), said) == reference(said)


@settings(max_examples=10_000, deadline=None)
@given(st.lists(update | announced, max_size=8))
def test_version_1_in_any_order_is_what_the_description_says(said: list[Json]) -> None:
    assert fold(DialectV1(), said) == reference(said)

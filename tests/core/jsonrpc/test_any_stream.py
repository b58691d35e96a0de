"""Whatever a peer says and however it is cut: handlers, answers, calls and taps are as a plain second telling says."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz.harness import Harness
from tests.fuzz.streams import cut, streams
from tests.support.examples import examples


@pytest.fixture(scope="module")
def harness() -> Iterator[Harness]:
    """One event loop for all streams. Nothing is logged: handlers raise texts that a report of a test cannot carry."""
    one = Harness()
    logging.disable()
    yield one
    logging.disable(logging.NOTSET)
    one.close()


@settings(max_examples=examples(250), suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(streams, st.integers(0, 70), st.binary(max_size=3))
def test_any_stream(harness: Harness, stream: bytes, size: int, rest: bytes) -> None:
    harness.check_stream(stream + rest, cut(stream + rest, size))

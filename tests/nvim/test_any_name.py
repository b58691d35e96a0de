"""Files are called anything: no name runs, nothing but the named file changes, and nobody is asked for a key."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.nvim.naming import Stage
from tests.nvim.odd_names import COMMANDS, PIECES, name_of, names
from tests.support.cases import case
from tests.support.examples import DEPTH

PLAYS = 3 if DEPTH == 1 else 9 * DEPTH
"""With 60 names each: 180, besides each piece by itself, and 10,800 in `make soak`."""


class Stages:
    """The stage that all tests share, and another one after a failure."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stage: Stage | None = None

    def play(self, names: Sequence[str]) -> int:
        stage = self._stage or Stage(self._directory)
        self._stage = None
        try:
            played = stage.play(names)
        except BaseException:
            with contextlib.suppress(AssertionError):
                stage.close()
            raise
        self._stage = stage
        return played

    def close(self) -> None:
        if self._stage:
            self._stage.close()


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stages]:
    stages = Stages(tmp_path_factory.mktemp("names"))
    yield stages
    stages.close()


def test_every_piece(stage):
    """Use each piece as a name by itself."""
    every = [name_of([piece]) for piece in (*COMMANDS, *PIECES)]
    unique = list(dict.fromkeys(every))
    for first in range(0, len(unique), 64):
        part = unique[first : first + 64]
        assert stage.play(part) == len(part)


def test_a_directory_of_any_name(tmp_path):
    """Begin a session in directories with such names."""
    with contextlib.closing(Stage(tmp_path)) as stage:
        for name in (
            "`>mark`",
            "$(>mark) %{writefile([],'mark')}",
            "|call writefile([],'mark')",
            "a\n\x1b[31m#%",
            "$HOME",
        ):
            with case(name):
                stage.play_in(name_of([name]))


@settings(max_examples=PLAYS, phases=[Phase.generate])  # to shrink it would take an hour
@given(given_names=st.lists(names, min_size=60, max_size=60, unique=True))
def test_any_name(stage, given_names):
    """Use 60 random names in one turn."""
    assert stage.play(given_names) == len(given_names)

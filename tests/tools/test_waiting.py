"""A test may wait for a file that is not there yet, and is told what is missing at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_editor import FakeEditor
from tests.support.waiting import wait_until


class Late:
    """A file that is written between the second and the third look."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._looks = 0

    def text(self) -> str:
        self._looks += 1
        if self._looks == 3:
            self.path.write_text("there")
        return self.path.read_text()


def test_waiting_for_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    assert wait_until(Late(tmp_path / "late").text) == "there"


@pytest.mark.anyio
async def test_waiting_for_a_file_beside_an_editor(tmp_path: Path) -> None:
    late = Late(tmp_path / "late")
    await FakeEditor().until("the file", late.text)
    assert late.path.read_text() == "there"


def test_a_file_that_never_comes_is_named(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"No such file .*never"):
        wait_until((tmp_path / "never").read_text, limit=0)

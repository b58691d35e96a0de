"""Files that only the user may read: new, and whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.state.private_file import make_directory, write_new


def bits(path: Path) -> int:
    """The permission bits."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask():
    """Files are for everybody unless somebody says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
def test_the_file_is_the_users_own(tmp_path: Path) -> None:
    write_new(tmp_path / "f", b"one\0\xff")
    assert (tmp_path / "f").read_bytes() == b"one\0\xff"
    assert bits(tmp_path / "f") == 0o600


@pytest.mark.usefixtures("open_umask")
def test_so_is_the_directory(tmp_path: Path) -> None:
    make_directory(tmp_path / "a" / "b")
    make_directory(tmp_path / "a" / "b")
    assert bits(tmp_path / "a" / "b") == 0o700


def test_a_file_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "f", b"new")
    assert (tmp_path / "f").read_bytes() == b"old"


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "f").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FileExistsError):
        write_new(tmp_path / "f", b"new")
    assert not (tmp_path / "elsewhere").exists()


def test_half_a_file_is_removed(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_new(tmp_path / "f", "no bytes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("make", [lambda path: path.write_text(""), lambda path: path.symlink_to("nowhere")])
def test_what_is_no_directory_is_refused(tmp_path: Path, make: Callable[[Path], object]) -> None:
    make(tmp_path / "a")
    with pytest.raises(FileExistsError):
        make_directory(tmp_path / "a")

"""Further directories of a session, as the user configured them."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.workspace.roots import additional


@pytest.fixture
def cwd(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A session's directory, with another one in it, one beside it, and one at home."""
    for path in ("home/notes", "project/sub", "beside"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "project" / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "beside")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path / "beside")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("configured", "there"),
    [
        ("~", "home"),
        ("~/notes", "home/notes"),
        ("sub", "project/sub"),
        ("../beside", "beside"),
        ("{top}/beside", "beside"),
        ("{top}//beside/.", "beside"),
        ("{top}/link", "link"),  # as the user calls it: so will the agent
    ],
)
def test_it_is_made_absolute(cwd: Path, configured: str, there: str) -> None:
    top = cwd.parent
    assert additional(str(cwd), [configured.format(top=top)]) == ([str(top / there)], [])


@pytest.mark.parametrize("configured", ["nowhere", "file", "~/nowhere", "~nobody-of-that-name", "{top}/no\0where"])
def test_what_is_no_directory_is_given_back_as_it_was_written(cwd: Path, configured: str) -> None:
    assert additional(str(cwd), [configured, configured]) == ([], [configured])


def test_the_sessions_own_is_none_and_each_counts_once_in_order(cwd: Path) -> None:
    configured = ["", ".", str(cwd), "../project", "../beside", "nowhere", "~", "sub/../../beside", "sub"]
    top = cwd.parent
    assert additional(str(cwd), configured) == ([str(top / "beside"), str(top / "home"), str(cwd / "sub")], ["nowhere"])


def test_without_any_there_is_none(cwd: Path) -> None:
    assert additional(str(cwd), []) == ([], [])

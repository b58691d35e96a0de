"""Which paths belong to a session."""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.workspace.refusals import NotAllowedError
from acp_nvim.workspace.roots import LINKS_IN_PATH, Roots, real_path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A session's directory with neighbours, and links in all directions."""
    root = tmp_path / "b"
    (root / "sub").mkdir(parents=True)
    (tmp_path / "bc").mkdir()
    (tmp_path / "secret").write_text("s")
    (root / "file").write_text("f")
    (root / "link to file").symlink_to(root / "file")
    (root / "link out").symlink_to(tmp_path / "secret")
    (root / "directory out").symlink_to(tmp_path / "bc")
    (root / "dangling out").symlink_to(tmp_path / "not yet")
    (root / "circle").symlink_to(root / "circle")
    (tmp_path / "link in").symlink_to(root)
    return root


@pytest.mark.parametrize(
    ("path", "real"),
    [
        ("file", "file"),
        ("not/yet/there", "not/yet/there"),
        ("sub/../file", "file"),
        ("./file", "file"),
        ("sub//", "sub"),
        ("", ""),
        ("link to file", "file"),
        ("../link in/file", "file"),
        ("../b/file", "file"),
        ("..file", "..file"),
        ("ä ☃", "ä ☃"),
    ],
)
def test_inside_gives_the_real_path(root: Path, path: str, real: str) -> None:
    assert Roots([str(root)]).resolve(f"{root}/{path}") == str(root / real)


@pytest.mark.parametrize(
    "path",
    ["..", "../secret", "../bc", "../bc/file", "sub/../../secret", "link out", "directory out/x", "dangling out"],
)
def test_outside_is_refused_in_words(root: Path, path: str) -> None:
    with pytest.raises(NotAllowedError, match="outside of the session's directory") as caught:
        Roots([str(root)]).resolve(f"{root}/{path}")
    assert str(root) in str(caught.value)


@pytest.mark.parametrize("path", ["file", "./file", "../b/file", "", "~/file"])
def test_a_relative_path_is_refused_in_words(root: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with pytest.raises(NotAllowedError, match="not an absolute path"):
        Roots([str(root)]).resolve(path)


def test_the_root_may_be_named_through_a_link(root: Path) -> None:
    roots = Roots([str(root.parent / "link in")])
    assert roots.resolve(str(root / "file")) == str(root / "file")


def test_the_root_of_all_allows_all() -> None:
    roots = Roots(["/"])
    assert roots.resolve("/etc") == os.path.realpath("/etc")
    assert roots.resolve("//etc") == os.path.realpath("/etc")
    assert roots.resolve("/..") == "/"
    assert roots.contains("/")
    assert roots.contains("/etc")


def test_a_root_that_is_not_there_allows_what_will_be_below_it(root: Path) -> None:
    roots = Roots([f"{root}/not/yet"])
    assert roots.resolve(f"{root}/not/yet/file") == f"{root}/not/yet/file"
    with pytest.raises(NotAllowedError):
        roots.resolve(f"{root}/not/file")


def test_a_path_through_a_file_stays_where_it_is_written(root: Path) -> None:
    assert Roots([str(root)]).resolve(f"{root}/file/below") == f"{root}/file/below"
    with pytest.raises(NotAllowedError):
        Roots([str(root)]).resolve(f"{root}/file/../../secret")


@pytest.mark.parametrize(
    "path",
    [
        *("circle", "circle/below", "circle/../file", "circle/../directory out/x", "circle/../link out"),
        *("circle/../sub/../dangling out", "back/../directory out/x", "not/there/../../circle/../link out"),
    ],
)
def test_links_in_a_circle_lead_nowhere(root: Path, path: str) -> None:
    (root / "back").symlink_to(root / "forth")
    (root / "forth").symlink_to(root / "back")
    with pytest.raises(NotAllowedError, match="leads through symbolic links in a circle"):
        Roots([str(root)]).resolve(f"{root}/{path}")


def test_what_is_really_there_is_really_there(root: Path) -> None:
    """An allowed path has no links left in it, and is what `realpath` returns, except for links in a circle."""
    names = ["circle", "..", "link out", "directory out", "sub", "file", "link to file", "b", "dangling out", "link in"]
    roots = Roots([str(root)])
    for parts in itertools.product(names, repeat=3):
        with contextlib.suppress(NotAllowedError):
            path = f"{root}/{'/'.join(parts)}"
            real = roots.resolve(path)
            assert real == os.path.realpath(real)
            assert "circle" in parts or real == os.path.realpath(path)
            assert real == str(root) or real.startswith(f"{root}/")


def test_more_links_than_the_system_follows_are_refused(root: Path) -> None:
    for number in range(LINKS_IN_PATH + 1):
        (root / f"link{number}").symlink_to(root / (f"link{number - 1}" if number else "file"))
    assert Roots([str(root)]).resolve(f"{root}/link{LINKS_IN_PATH - 1}") == f"{root}/file"
    with pytest.raises(NotAllowedError, match="too many"):
        Roots([str(root)]).resolve(f"{root}/link{LINKS_IN_PATH}")


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800", "/nowhere/\0/../x"])
def test_what_cannot_be_a_path_is_refused_in_words_that_can_be_sent(path: str) -> None:
    with pytest.raises(NotAllowedError, match="cannot be the path of a file") as caught:
        Roots(["/"]).resolve(path)
    assert str(caught.value).encode()


def test_case_counts_where_the_file_system_says_so(root: Path) -> None:
    other = root.parent / "B"
    if not other.exists():
        other.mkdir()
        with pytest.raises(NotAllowedError):
            Roots([str(root)]).resolve(f"{other}/file")
    assert Roots([str(root)]).resolve(f"{root}/FILE") == f"{root}/FILE"


@pytest.mark.parametrize(
    ("path", "inside"),
    [("", True), ("/", True), ("/file", True), ("/a/b", True), ("c", False)],
)
def test_a_real_path_is_compared_as_it_is(root: Path, path: str, inside: bool) -> None:
    """Real paths are compared without asking the system."""
    assert Roots(["/nowhere", str(root)]).contains(f"{root}{path}") is inside
    assert not Roots(["/nowhere", str(root)]).contains(str(root.parent))


def test_every_directory_counts(root: Path) -> None:
    roots = Roots([str(root), str(root.parent / "bc")])
    assert roots.resolve(f"{root.parent}/bc/x") == f"{root.parent}/bc/x"
    with pytest.raises(NotAllowedError, match="outside of the session's directories ") as caught:
        roots.resolve(f"{root.parent}/secret")
    assert str(caught.value).endswith(f" {root}, {root.parent}/bc")


@given(st.lists(st.sampled_from(["..", ".", "b", "bc", "a", "b.", "", " "]), max_size=8))
def test_what_is_allowed_is_below_the_root_however_it_is_written(parts: list[str]) -> None:
    path = "/nowhere/a/" + "/".join(parts)
    normal = os.path.normpath(path)
    inside = normal == "/nowhere/a/b" or normal.startswith("/nowhere/a/b/")
    try:
        resolved = Roots(["/nowhere/a/b"]).resolve(path)
    except NotAllowedError:
        assert not inside or path.endswith("/")
    else:
        assert inside
        assert resolved == normal


@pytest.mark.parametrize("path", ["x" * 5000, "a/" * 200, "../" * 200, "./" * 3000, "deep/" + "a/" * 100])
def test_paths_that_are_too_long_or_too_deep_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "deep").symlink_to("a/" * 100)
    with pytest.raises(NotAllowedError, match=r"at most 4096 bytes and 128 names"):
        real_path(f"{tmp_path}/{path}")


def test_links_that_lead_through_very_many_directories_are_refused(tmp_path: Path) -> None:
    (tmp_path / "down").symlink_to("a/../" * 600 + "end")
    (tmp_path / "end").symlink_to("file")
    with pytest.raises(NotAllowedError, match="too many of them"):
        real_path(f"{tmp_path}/down")


def test_a_path_that_ends_like_a_directory_is_none_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name in ("file/", "new/"):
        with pytest.raises(NotAllowedError, match="names a directory"):
            Roots([str(tmp_path)]).resolve(f"{tmp_path}/{name}")
    assert Roots([str(tmp_path)]).resolve(f"{tmp_path}/") == str(tmp_path)


def test_repr_shows_the_directories(root: Path) -> None:
    assert repr(Roots([str(root)])) == f"<Roots ['{root}']>"

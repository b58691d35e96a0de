"""Paths of this machine and of the agent's: there and back again, the longest directory wins, nothing leads out."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.remote_paths import PathMap

NAMES = st.sampled_from(["a", "b", "work", "w", "a b", "ä", "x%41", "#1"])
PATHS = st.lists(NAMES, max_size=4).map(lambda names: "/" + "/".join(names))
PAIRS = st.lists(st.tuples(PATHS, PATHS), min_size=1, max_size=4)


def below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def nearest(path: str, directories: list[str]) -> str | None:
    """The innermost one that the path is in, by looking at each directory above it."""
    while path not in directories:
        if path == "/":
            return None
        path = posixpath.dirname(path)
    return path


@given(PAIRS, PATHS)
def test_what_is_named_there_comes_back_as_the_same(pairs: list[tuple[str, str]], path: str) -> None:
    paths = PathMap("box", pairs)
    there = paths.to_there(path)
    if there is not None:
        assert paths.to_here(there) == path


@given(PAIRS, PATHS)
def test_each_way_the_innermost_directory_decides(pairs: list[tuple[str, str]], path: str) -> None:
    paths = PathMap("box", pairs)
    inner = nearest(path, [there for _, there in pairs])
    here = paths.to_here(path)
    if inner is None:
        assert here is None
    else:
        outer = next(one for one, there in pairs if there == inner)
        assert here == outer.rstrip("/") + path[len(inner.rstrip("/")) :] or (here, path) == (outer, inner)


@given(
    st.lists(st.tuples(PATHS, PATHS), min_size=1, max_size=4, unique_by=(lambda one: one[0], lambda one: one[1])), PATHS
)
def test_only_what_another_one_lies_over_is_not_to_be_found(pairs: list[tuple[str, str]], path: str) -> None:
    paths = PathMap("box", pairs)
    inner = nearest(path, [here for here, _ in pairs])
    if paths.to_there(path) is None and inner is not None:
        there = next(there for here, there in pairs if here == inner)
        moved = posixpath.normpath(there + path[len(inner.rstrip("/")) :])
        assert nearest(moved, [one for _, one in pairs]) != there


@given(PAIRS, st.lists(st.sampled_from(["a", "..", ".", "", "work", "b"]), max_size=8))
def test_no_dots_lead_out(pairs: list[tuple[str, str]], names: list[str]) -> None:
    path = "/" + "/".join(names)
    for moved, tops in (
        (PathMap("box", pairs).to_here(path), [here for here, _ in pairs]),
        (PathMap("box", pairs).to_there(path), [there for _, there in pairs]),
    ):
        assert moved is None or (".." not in moved.split("/") and any(below(moved, top) for top in tops))


@given(PAIRS, PATHS)
def test_uris_go_the_same_way(pairs: list[tuple[str, str]], path: str) -> None:
    paths = PathMap("box", pairs)
    there = paths.to_there(path)
    uri = "file://" + quote(path)
    assert paths.uri_there(uri + "#L3") == "file://" + quote(there if there is not None else path) + "#L3"
    if there is not None:
        assert paths.uri_here(paths.uri_there(uri)) == uri


@pytest.mark.parametrize(
    "uri",
    ["https://work/a", "file://server/work/a", "untitled:1", "file://[half/work", "work/a", "file:relative", ""],
)
def test_other_uris_stay_as_they_are(uri: str) -> None:
    paths = PathMap("box", [("/home", "/work")])
    assert (paths.uri_there(uri), paths.uri_here(uri)) == (uri, uri)


def test_a_mark_of_bytes_that_are_no_text_survives() -> None:
    paths = PathMap("box", [("/home", "/work")])
    assert paths.uri_here("file:///work/%FF") == "file:///home/%FF"


def test_without_pairs_all_is_the_same() -> None:
    paths = PathMap("box", [])
    assert not paths
    assert (paths.to_there("/x/../y"), paths.to_here("/z"), paths.shown("/z")) == ("/x/../y", "/z", "/z")


def test_what_is_nowhere_here_is_shown_as_no_file_of_ours() -> None:
    paths = PathMap("box", [("/home/me", "/work")])
    assert paths.shown("/etc/hosts") == "/box:/etc/hosts"
    assert paths.uri_here("file:///etc/hosts") == "file:///box%3A/etc/hosts"
    assert paths.shown("relative/file") == "relative/file"


def test_a_directory_with_a_similar_name_is_another_one() -> None:
    paths = PathMap("box", [("/home/me", "/work/")])
    assert (paths.to_here("/workshop/a"), paths.to_there("/home/meg")) == (None, None)
    assert (paths.to_here("/work/"), paths.to_here("//work/a")) == ("/home/me", "/home/me/a")


def test_the_root_can_be_mapped() -> None:
    paths = PathMap("box", [("/mnt/box", "/"), ("/home/me", "/work")])
    assert (paths.to_here("/etc/hosts"), paths.to_here("/work/a"), paths.to_here("/")) == (
        "/mnt/box/etc/hosts",
        "/home/me/a",
        "/mnt/box",
    )
    assert (paths.to_there("/mnt/box/etc"), paths.to_there("/mnt/box/work/a")) == ("/etc", None)


def test_a_directory_is_known_by_the_name_behind_its_links_too(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    os.symlink("real", tmp_path / "link")
    paths = PathMap("box", [(str(tmp_path / "link"), "/work")])
    real = os.path.realpath(tmp_path / "real")
    assert paths.to_there(f"{real}/file") == "/work/file"
    assert paths.to_there(str(tmp_path / "link" / "file")) == "/work/file"
    assert paths.to_here("/work/file") == str(tmp_path / "link" / "file")


def test_what_is_missing_there_is_named() -> None:
    assert PathMap("box", [("/home", "/work")]).missing(["/home/a", "/opt"]) == ["/opt"]

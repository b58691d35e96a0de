"""What git writes as a patch is read as git means it; what cannot be read is shown."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp.diff import FileChange, Piece, from_patch
from acp_nvim.acp.patch_paths import patch_paths, unquoted
from tests.support.examples import examples

TEXTS = [
    "",
    "a\n",
    "a",
    "a\nb\nc\n",
    "a\r\nb\r\n",
    "\n\n\n",
    "--- a/q\n+++ b/q\n@@ -1 +1 @@\n",
    "-- a/q\n++ b/q\n",
    "diff --git a/q b/q\ndiff --cc q\n",
    "\\ No newline at end of file\n",
    "x\u2028y\x0cz\x85\n\x0b",
    " a\n\tb \n",
    "\r",
    "ä\n" * 9,
]
PREFIXES = ["/w/", "/w x/", '/w "/', "a/ b/", ""]
names = st.text(st.sampled_from("ab \"'\t\n\\é漢-/>r~"), min_size=1, max_size=8).map(
    lambda name: name.replace("/", "+")
)
trees = st.dictionaries(names, st.tuples(*2 * [st.none() | st.sampled_from(TEXTS)]), min_size=1, max_size=4)


class Git:
    """A repository without a work tree, which compares trees that were never written as files."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._run("init", "-q", "--bare")
        self._blobs = {text: self._run("hash-object", "-w", "--stdin", said=text).strip() for text in TEXTS}

    def _run(self, *args: str, said: str = "") -> str:
        env = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
        command = [
            "git",
            "-c",
            "core.quotePath=" + ("false" if "raw" in args else "true"),
            *(a for a in args if a != "raw"),
        ]
        run = subprocess.run(command, cwd=self._place, env=env, input=said.encode(), capture_output=True, check=True)
        return run.stdout.decode()

    def diff(self, files: dict[str, tuple[str | None, str | None]], prefix: str, *options: str) -> str:
        """The patch from the first texts to the second ones."""
        ids = []
        for side in (0, 1):
            texts = {name: both[side] for name, both in files.items()}
            lines = [f"100644 blob {self._blobs[text]}\t{name}\0" for name, text in texts.items() if text is not None]
            ids.append(self._run("mktree", "-z", said="".join(lines)).strip())
        old, new = prefix.split(" b/") if prefix == "a/ b/" else (prefix, prefix)
        new = "b/" if prefix == "a/ b/" else new
        return self._run(
            *options[:1], "diff", "--text", f"--src-prefix={old}", f"--dst-prefix={new}", *options[1:], *ids
        )


@pytest.fixture(scope="module")
def git(tmp_path_factory: pytest.TempPathFactory) -> Git:
    """One repository for all tests."""
    return Git(tmp_path_factory.mktemp("git"))


def applied(old: str | None, pieces: tuple[Piece, ...]) -> str:
    """The old text, with each piece in the place that it names."""
    lines, shift = re.split(r"(?<=\n)", old or ""), 0
    for piece in pieces:
        before, after = re.split(r"(?<=\n)", piece.old_text or ""), re.split(r"(?<=\n)", piece.new_text)
        before, after = [one for one in before if one], [one for one in after if one]
        at = (piece.line or 1) - 1 + shift
        assert lines[at : at + len(before)] == before
        lines[at : at + len(before)] = after
        shift += len(after) - len(before)
    return "".join(lines)


@settings(max_examples=examples(60))
@given(
    files=trees,
    prefix=st.sampled_from(PREFIXES),
    options=st.sampled_from([("raw",), ("raw", "-U0"), ("-P",), ("-P", "-U1")]),
)
def test_what_git_writes_is_read_as_it_is_meant(
    files: dict[str, tuple[str | None, str | None]], prefix: str, options: tuple[str, ...], git: Git
) -> None:
    patch = git.diff(files, prefix, *options, "--no-renames")
    changed = {name: both for name, both in files.items() if both[0] != both[1]}
    front = "" if prefix == "a/ b/" else prefix
    diff = from_patch([FileChange(path=front + name) for name in list(changed)[:1]], patch)
    assert sorted(one.path for one in diff.changes) == sorted(front + name for name in changed)
    for change in diff.changes:
        old, new = changed[change.path.removeprefix(front)]
        assert applied(old, change.pieces) == (new or "")
        if change.path != front + next(iter(changed)):
            assert change.operation == ("add" if old is None else "delete" if new is None else "modify")
    paths = patch_paths(patch)
    assert {front + name for name in changed} <= {one.path for one in paths or []} or paths is None


def test_the_names_of_a_rename_are_unquoted(git: Git) -> None:
    text = TEXTS[-1]
    patch = git.diff({"a\tb": (text, None), "ä b": (None, text)}, "a/ b/", "-P", "-M")
    assert "rename to" in patch
    (change,) = from_patch([FileChange(path="ä b", operation="move", old_path="a\tb")], patch).changes
    assert (change.path, change.old_path, change.pieces) == ("ä b", "a\tb", ())
    assert [one.path for one in patch_paths(patch) or []] == ["a\tb", "ä b"]


COMBINED = """diff --cc "/w/\\303\\244"
index 1,2..3
--- "/w/\\303\\244"
+++ "/w/\\303\\244"
@@@ -1,1 -1,1 +1,2 @@@
- a
 -b
++c
++d
diff --git /w/x /w/x
--- /w/x
+++ /w/x
@@ -1 +1 @@
-e
+f
"""


def test_a_combined_diff_is_shown_as_it_came_and_the_next_file_is_read() -> None:
    shown, read = COMBINED.split("diff --git")
    diff = from_patch([FileChange(path="/w/ä")], COMBINED)
    assert diff.changes[0] == FileChange(path="/w/ä")
    assert [one.pieces for one in diff.changes[1:]] == [(Piece("e\n", "f\n", 1),), (Piece(None, shown),)]
    assert diff.others == (None,)
    assert read


def test_lines_behind_a_hunk_are_shown() -> None:
    patch = "diff --git /w/x /w/x\n--- /w/x\n+++ /w/x\n@@ -1 +1 @@\n-a\n+b\n+c\n d\nand more\n"
    change, more = from_patch([FileChange(path="/w/x")], patch).changes
    assert change.pieces == (Piece("a\n", "b\n", 1),)
    assert more.pieces == (Piece(None, "+c\n d\nand more\n"),)
    assert (more.operation, "belong to no change" in (more.note or "")) == ("patch", True)


def test_a_malformed_name_is_shown_with_its_file() -> None:
    patch = 'diff --git "/w/\\q" "/w/\\q"\n--- "/w/\\q"\n+++ "/w/\\q"\n@@ -1 +1 @@\n-a\n+b\n'
    (shown,) = from_patch([], patch).changes
    assert shown.pieces == (Piece(None, patch),)


WHOLE = "".join(
    f"diff --git /w/{name} /w/{name}\nindex 1..2 100644\n--- /w/{name}\n+++ /w/{name}\n"
    + "".join(f"@@ -{at},2 +{at},2 @@ f\n {name}{at}c\n-{name}{at}o\n+{name}{at}n\n" for at in (1, 9))
    for name in ("p", "q", "r")
)
LINES = WHOLE.splitlines(keepends=True)
TOKENS = re.compile(r"[pqr][19][con]")
odd = st.sampled_from(
    ["", "x\n", "+p1n\n", " q9c\n", "@@ -1,9 +1,9 @@\n", "@@@ -1 -1 +1 @@@\n", "--- /w/z\n", "+++ /w/z\n"]
)
odder = st.sampled_from(
    ["diff --cc p\n", "diff --git a\n", "GIT binary patch\n", "Binary files a and b differ\n", "\\ No\n"]
)
edits = st.lists(st.tuples(st.integers(0, len(LINES)), st.integers(0, 3), odd | odder), max_size=4)


@settings(max_examples=examples(150))
@given(edits=edits)
def test_no_line_of_a_change_is_dropped(edits: list[tuple[int, int, str]]) -> None:
    lines = list(LINES)
    for at, removed, new in edits:
        lines[at : at + removed] = [new]
    diff = from_patch([FileChange(path="/w/q")], "".join(lines))
    shown = "".join((piece.old_text or "") + piece.new_text for one in diff.changes for piece in one.pieces)
    assert set(TOKENS.findall("".join(lines))) <= set(TOKENS.findall(shown))


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("a b", "a b"),
        (r'"\303\244\t\"\\"', 'ä\t"\\'),
        (r'"ä\303\244"', "ää"),
        ('"', None),
        ('"a', None),
        ('"a"b', None),
        (r'"\377"', None),
        (r'"\q"', None),
    ],
)
def test_names_are_unquoted(name: str, meant: str | None) -> None:
    assert unquoted(name) == meant

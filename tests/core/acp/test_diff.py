"""One model for the diffs of both versions."""

from __future__ import annotations

import sys

import pytest

from acp_nvim.acp.diff import FileChange, Piece, from_patch, from_texts
from acp_nvim.limits import PATCH_CHARS

PATCH = r"""diff --git /p/a.json /p/a.json
--- /p/a.json
+++ /p/a.json
@@ -1,3 +1,3 @@
 {
-  "debug": false
+  "debug": true
 }
@@ -10,2 +10,3 @@ ctx
 x
+new
 y
\ No newline at end of file
diff --git /p/gone.py /p/gone.py
deleted file mode 100644
--- /p/gone.py
+++ /dev/null
@@ -1,2 +0,0 @@
-a
-b
diff --git /p/new.py /p/new.py
new file mode 100644
--- /dev/null
+++ /p/new.py
@@ -0,0 +1 @@
+a
"""


def test_a_version_1_diff_is_one_change_with_one_piece() -> None:
    diff = from_texts("/p/a", "old", "new")
    assert diff.changes == (FileChange(path="/p/a", operation="modify", pieces=(Piece("old", "new"),)),)


def test_without_an_old_text_the_file_is_new() -> None:
    (change,) = from_texts("/p/a", None, "new").changes
    assert (change.operation, change.pieces[0].old_text) == ("add", None)


def test_hunks_go_to_the_change_of_their_file() -> None:
    changes = [
        FileChange(path="/p/new.py", operation="add"),
        FileChange(path="/p/a.json"),
        FileChange(path="/p/gone.py", operation="delete"),
    ]
    new, config, gone = from_patch(changes, PATCH).changes
    assert config.pieces == (
        Piece('{\n  "debug": false\n}\n', '{\n  "debug": true\n}\n', 1),
        Piece("x\ny", "x\nnew\ny", 10),
    )
    assert gone.pieces == (Piece("a\nb\n", "", 1),)
    assert new.pieces == (Piece(None, "a\n", None),)


def test_a_file_that_only_the_patch_names_is_a_change_too() -> None:
    diff = from_patch([FileChange(path="/p/a.json")], PATCH)
    assert [(one.path, one.operation) for one in diff.changes] == [
        ("/p/a.json", "modify"),
        ("/p/gone.py", "delete"),
        ("/p/new.py", "add"),
    ]


def test_paths_with_git_prefixes_are_found() -> None:
    patch = "diff --git a/src/x.py b/src/x.py\n--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1 @@\n-a\n+b\n"
    (change,) = from_patch([FileChange(path="src/x.py")], patch).changes
    assert change.pieces == (Piece("a\n", "b\n", 1),)


def test_a_hunk_that_only_inserts_begins_after_the_line_it_names() -> None:
    patch = "diff --git /p/a /p/a\n--- /p/a\n+++ /p/a\n@@ -4,0 +5,2 @@\n+x\n+y\n"
    (change,) = from_patch([FileChange(path="/p/a")], patch).changes
    assert change.pieces == (Piece("", "x\ny\n", 5),)


def test_a_missing_newline_is_missing_on_its_side_only() -> None:
    patch = "diff --git /p/a /p/a\n--- /p/a\n+++ /p/a\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+z\n"
    (change,) = from_patch([FileChange(path="/p/a")], patch).changes
    assert change.pieces == (Piece("x\ny", "x\nz\n", 1),)


def test_a_deleted_file_that_only_a_git_patch_names() -> None:
    patch = "diff --git a/x b/x\ndeleted file mode 100644\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    assert from_patch([], patch).changes == (FileChange(path="x", operation="delete", pieces=(Piece("a\n", "", 1),)),)


def test_a_change_without_hunks_keeps_what_is_known_of_it() -> None:
    moved = FileChange(path="/p/b", operation="move", old_path="/p/a")
    patch = "diff --git /p/a /p/b\nsimilarity index 100%\nrename from /p/a\nrename to /p/b\n"
    (change,) = from_patch([moved], patch).changes
    assert (change.operation, change.old_path, change.pieces) == ("move", "/p/a", ())


def test_a_binary_file_says_so() -> None:
    patch = "diff --git /p/b.png /p/b.png\nBinary files /p/b.png and /p/b.png differ\n"
    (change,) = from_patch([FileChange(path="/p/b.png", file_type="binary")], patch).changes
    assert (change.pieces, change.note) == ((), "binary file")


@pytest.mark.parametrize("patch", ["no patch at all", "", "@@ -1 +1 @@", "--- a\n+++ b\n@@ -1,9 +1,9 @@\n short\n"])
def test_a_patch_that_cannot_be_read_loses_nothing(patch: str) -> None:
    known = FileChange(path="/p/a")
    diff = from_patch([known], patch)
    assert diff.changes[0] == known
    assert {(one.path, one.operation) for one in diff.changes[1:]} <= {("patch", "patch")}
    assert all(patch in piece.new_text for one in diff.changes[1:] for piece in one.pieces)


def test_a_huge_patch_is_shown_in_part_and_says_so() -> None:
    (_, shown) = from_patch([FileChange(path="/p/a")], "x" * (PATCH_CHARS + 1)).changes
    assert len(shown.pieces[0].new_text) == PATCH_CHARS
    assert str(PATCH_CHARS + 1) in (shown.note or "")


def test_without_the_package_that_reads_patches_they_are_shown_as_they_came(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "unidiff.patch", None)
    (known, shown) = from_patch([FileChange(path="/p/a.json")], PATCH).changes
    assert (known.pieces, shown.pieces) == ((), (Piece(None, PATCH),))
    assert "unidiff is missing" in (shown.note or "")

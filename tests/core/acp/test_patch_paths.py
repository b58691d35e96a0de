"""The files that a patch names: all of them, or None."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp.patch_paths import patch_paths
from tests.support.examples import examples

HUNK = "@@ -1,2 +1,2 @@\n a\n-b\n+c\n"


def names(text: str) -> list[str] | None:
    """Return the paths that a patch names, each once."""
    found = patch_paths(text)
    return None if found is None else list(dict.fromkeys(one.path for one in found))


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("", []),
        ("@@ -2,3 +2,4 @@\n \n-a\n+b\n+c\n d\n", []),
        (f"--- a/x y\t2026-01-01\n+++ b/x y\n{HUNK}", ["x y"]),
        (f"\n\ndiff --git a/x b/x\nindex 0..1 100644\n--- a/x\n+++ b/x\n{HUNK}\n", ["x"]),
        (f"Index: /p/x\n=====\n--- /p/x\n+++ /p/x\n{HUNK}", ["/p/x"]),
        (
            f"--- /dev/null\n+++ b/new\n{HUNK.replace('-1,2', '-0,0').replace(' a', '+a').replace('-b', '+b')[:-3]}",
            ["new"],
        ),
        ("diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new\n", ["old", "new"]),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", ["x"]),
        (f"--- a/x\n+++ b/x\n{HUNK}\\ No newline at end of file\n--- a/y\n+++ b/z\n{HUNK}", ["x", "y", "z"]),
        ("--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ def f():\n--- a/q\n+++ b/q\n a\n \n", ["x"]),  # lines of the hunk
        (f"--- a/x\r\n+++ b/x\r\n{HUNK}", ["x"]),
        (
            "*** Begin Patch\n*** Update File: a b\n*** Move to: c\n@@ f\n x\n-y\n+*** Delete File: q\n*** End Patch\n",
            ["a b", "c"],
        ),
        ("*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch", ["a", "b"]),
        ("*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n*** End of File\n*** End Patch", ["a"]),
        (f'--- "a/\\303\\244"\n+++ b/x\n{HUNK}', ["ä", "x"]),
        ('diff --git "a/x\\t\\\\" "b/x\\t\\\\"\nold mode 100644\nnew mode 100755\n', ["x\t\\"]),
        ("diff --git /p/x y /p/x y\nold mode 100644\nnew mode 100755\n", ["/p/x y"]),
        ('diff --git a/x "b/\\303\\244"\nrename from x\nrename to "\\303\\244"\n', ["x", "ä"]),
        # not known for certain
        ("hello", None),
        (f"{HUNK}hello", None),
        (f"--- a/x\n+++ b/x\n{HUNK}+more\n", None),
        (f"--- a/x\n+++ b/x\n@@ -1,9 +1,8 @@\n{HUNK[16:]}", None),
        ("diff --git a/x b/y\n", None),
        ("diff --git a/x b/y\ndiff --git a/z b/z\n", None),
        (f'--- "a/\\377"\n+++ b/x\n{HUNK}', None),
        (f'--- "a/x\n+++ b/x\n{HUNK}', None),
        (f'--- "a/x"y\n+++ b/x\n{HUNK}', None),
        ('diff --git "a/x\\q" "b/x\\q"\n', None),
        ("diff --git a/x b/x\nGIT binary patch\nliteral 1\n", None),
        ("Binary files a/x and b/y differ\n", None),
        ("diff --cc x\n", None),
        ("*** Begin Patch\n*** Update File: a\n x\n", None),
        ("*** Begin Patch\n*** Add File: a\n+x\n *** Delete File: b\n*** End Patch", None),
        ("*** Begin Patch\n*** Update File: a\n *** Delete File: b\n*** End Patch", None),
        ("*** Begin Patch\n*** Rename File: a\n*** End Patch", None),
        ("*** Begin Patch\n*** Move to: a\n*** End Patch", None),
        ("*** Begin Patch\n*** Delete File: a\n-x\n*** End Patch", None),
        ("*** Begin Patch\nx\n*** End Patch\n*** Begin Patch\n*** Delete File: a\n*** End Patch", None),
        (f"--- a/x\r+++ b/y\n+++ b/x\n{HUNK}", None),
        (f"--- a/x\n+++ b/x\u2028--- a/y\n{HUNK}", None),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\x0crename to y\n", None),
        ("cat <<E\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE", None),
        ("<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE", None),
        # a symbolic link names one more file, and so does a submodule
        (f"diff --git a/x b/x\nnew file mode 120000\n--- a/x\n+++ b/x\n{HUNK}", None),
        (f"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n--- a/x\n+++ b/x\n{HUNK}", None),
        (f"diff --git a/x b/x\nindex 1..2 120000\n--- a/x\n+++ b/x\n{HUNK}", None),
        ("diff --git a/x b/x\nnew file mode 160000\nindex 0..1\n", None),
    ],
)
def test_paths_of(text: str, paths: list[str] | None) -> None:
    assert names(text) == paths


words = st.text(st.sampled_from("ab/ .-+"), min_size=1, max_size=6).map(lambda one: f"n{one}m")
lines = st.sampled_from(
    ["--- a/q", "+++ b/q", "diff --git a/q b/q", "rename to q", "*** Delete File: q", "", " x", "@@"]
)


@settings(max_examples=examples(60))
@given(st.dictionaries(words.filter(lambda one: "//" not in one), st.lists(lines, max_size=5), min_size=1, max_size=3))
def test_what_git_writes_is_read_and_lines_of_files_are_no_headers(files: dict[str, list[str]]) -> None:
    text = "".join(
        f"--- a/{name}\n+++ b/{name}\n@@ -0,0 +1,{len(body) + 1} @@\n" + "".join(f"+{one}\n" for one in ["x", *body])
        for name, body in files.items()
    )
    assert names(text) == list(files)


def test_what_git_itself_says(tmp_path: Path) -> None:
    def git(*args: str) -> str:
        settings = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null"]
        run = subprocess.run(["git", *settings, *args], cwd=tmp_path, check=True, capture_output=True, text=True)
        return run.stdout

    git("init", "-q")
    for name in ("kept", "gone", "moved from", "mode"):
        (tmp_path / name).write_text(f"{name}\n" + "line\n" * 20)
    git("add", "-A")
    git("commit", "-qm", "x")
    (tmp_path / "kept").write_text("new\nline\n\n--- a/q\n")
    (tmp_path / "gone").unlink()
    (tmp_path / "moved from").rename(tmp_path / "moved to")
    (tmp_path / "mode").chmod(0o755)
    (tmp_path / "new").write_text("text without an end")
    (tmp_path / "empty").touch()
    git("add", "-A")
    found = names(git("diff", "--cached", "-M"))
    assert sorted(found or []) == ["empty", "gone", "kept", "mode", "moved from", "moved to", "new"]

"""The user's repository is the same byte for byte, and nothing that it or its configuration names is run."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from acp_nvim.snapshots import work_tree
from tests.core.snapshots.workspaces import git, repository, shadow_of, told, write

pytestmark = pytest.mark.anyio


@pytest.fixture(params=[0, 100], autouse=True)
def fold(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Use both ways in which a changed file is kept."""
    monkeypatch.setattr(work_tree, "FOLD_FILES", request.param)


def everything(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """All below it, with modes and times."""
    found = {}
    for path in [directory, *directory.rglob("*")]:
        status = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
        found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
    return found


def said(root: Path) -> list[str]:
    """What the user's git says, without writing anything."""
    commands = (["status", "--porcelain"], ["stash", "list"], ["reflog"], ["submodule", "status"])
    return [git(root, "--no-optional-locks", *words) for words in commands]


async def test_the_users_repositories(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", file="text")
    root = repository(tmp_path / "w", staged="1", changed="1", stashed="1", touched="1", **{".gitignore": "*.o\n"})
    git(root, "submodule", "add", "-q", str(other), "sub")
    git(root, "commit", "-q", "-m", "second")
    write(root / "stashed", "2")
    git(root, "stash")
    write(root / "staged", "2")
    git(root, "add", "staged")
    write(root / "changed", "2")
    write(root / "new", "2")
    os.utime(root / "touched", (1, 1))  # `git status` would write the index
    before, answers = everything(root), said(root)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert everything(root) == before
        saved = (root / "changed").stat()
        write(root / "changed", "3")
        write(root / "sub" / "file", "3")
        second = await shadow.take()
        found = await shadow.changes(first, second)
        assert told(root, found) == ["M changed", "M sub/file"]
        await shadow.counts([(one.before, one.after) for one in found])
        await shadow.hold("name", [], [first])
        await shadow.clean(0)
    write(root / "changed", "2")
    write(root / "sub" / "file", "text")
    os.utime(root / "changed", ns=(saved.st_atime_ns, saved.st_mtime_ns))
    ours = os.path.join(root, ".git", "")
    before_in_git = {path: what for path, what in before.items() if path.startswith(ours)}
    assert {path: what for path, what in everything(root).items() if path.startswith(ours)} == before_in_git
    assert said(root) == answers


async def test_nothing_is_run_and_no_variable_is_heard(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = repository(tmp_path / "w", file="text", other="text 2", **{".gitattributes": "* filter=run diff=run\n"})
    ran = tmp_path / "ran"
    program = write(tmp_path / "program", f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    configuration = (
        f"[core]\n\tfsmonitor = {program}\n\thooksPath = {tmp_path}/hooks\n\tpager = {program}\n"
        f'[filter "run"]\n\tclean = {program}\n\tsmudge = {program}\n\trequired = true\n'
        f'[diff "run"]\n\tcommand = {program}\n\ttextconv = {program}\n[diff]\n\texternal = {program}\n'
    )
    for hook in ("post-index-change", "reference-transaction", "pre-auto-gc", "fsmonitor-watchman"):
        write(tmp_path / "hooks" / hook, f"#!/bin/sh\ntouch {ran}\n").chmod(0o755)
    write(home / ".gitconfig", configuration)
    write(root / ".git" / "config", (root / ".git" / "config").read_text() + configuration)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(program))
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", f"'core.fsmonitor={program}'")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path / "objects"))
    before = everything(root)
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        assert everything(root) == before
        write(root / "file", "changed")
        found = await shadow.changes(first, await shadow.take())
        assert await shadow.counts([(one.before, one.after) for one in found]) == [(1, 1)]
        await shadow.clean(0)
    for name in ("ran", "elsewhere", "index", "trace", "objects"):
        assert not (tmp_path / name).exists(), name


async def test_bytes_are_bytes_whatever_attributes_say(tmp_path: Path) -> None:
    rules = (
        "*.txt text eol=crlf\n*.auto text=auto\n*.id ident\n*.lfs filter=lfs diff=lfs merge=lfs -text\n"
        "*.utf16 text working-tree-encoding=UTF-16\n*.old crlf\n*.secret -diff\n*.macro binary\n"
    )
    root = repository(tmp_path / "w")
    write(root / ".gitattributes", rules)
    data = b"one\r\ntwo\n$Id$ $Id: abc $\r\n"
    names = [f"file.{kind}" for kind in ("txt", "auto", "id", "lfs", "utf16", "old", "secret", "macro")]
    async with shadow_of(root) as shadow:
        first = await shadow.take()
        for name in names:
            write(root / name, data + name.encode())
        found = await shadow.changes(first, await shadow.take())
        assert told(root, found) == [f"A {name}" for name in sorted(names)]
        contents = await shadow.read([one.after.oid for one in found if one.after is not None])
        assert contents == [data + name.encode() for name in sorted(names)]
        assert await shadow.counts([(one.before, one.after) for one in found]) == [(4, 0)] * len(names)

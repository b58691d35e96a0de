"""The agent removes, moves or replaces the user's repository: what it changes is listed, and can be rejected."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.review.turn import looks
from tests.core.session.host import Host
from tests.core.session.test_newness import AGENT, laid_out, listed, looked, open_session, run, texts, turn
from tests.core.session.test_review import reviews
from tests.core.session.test_review_kept import checkpoints, restore
from tests.core.session.test_review_trouble import check_log
from tests.support.agent_edits import git
from tests.support.cases import case

pytestmark = pytest.mark.anyio

__all__ = ["looked"]

BEFORE = "seq 200 >file; echo a >a; mkdir -p d/e; echo b >d/e/b; git add -A; git commit -qm b"
CHANGES = "sed -i s/^100$/hundred/ file; rm a; echo c >c; echo more >>d/e/b"
SHOWN = {"file": "modify", "a": "delete", "c": "add", "d/e/b": "modify"}
FILE = "".join(f"{number}\n" for number in range(1, 201))
REJECTED = {"file": FILE, "a": "a\n", "c": None, "d/e/b": "b\n"}


@dataclass(frozen=True)
class Case:
    """What the agent does to the repository, beside its changes."""

    shells: tuple[str, ...]
    place: str = "repository"


CASES = {
    "made anew": Case((f"{CHANGES}; rm -rf .git; git init -q",)),
    "made anew, and committed": Case(
        (f"{CHANGES}; rm -rf .git; git init -q; git add -A; git -c user.name=a -c user.email=b commit -qm all",)
    ),
    "removed, and changed in the next command": Case(("rm -rf .git", CHANGES)),
    "moved away": Case((f"mv .git ../elsewhere; {CHANGES}",)),
    "replaced by a file": Case((f"{CHANGES}; rm -rf .git; echo nothing >.git",)),
    "without its objects": Case((f"{CHANGES}; rm -rf .git/objects; mkdir .git/objects",)),
    "a work tree whose repository is moved": Case((f"mv ../main ../moved; {CHANGES}",), "worktree"),
    "a workspace below its top": Case((f"mv ../.git ../elsewhere; {CHANGES}",), "below"),
}


def lay_out(directory: Path, place: str) -> Path:
    """A repository, a linked work tree, or a directory in a repository."""
    if place == "repository":
        return laid_out(directory, BEFORE)
    if place == "below":
        top = laid_out(directory, "mkdir in")
        run(BEFORE, top / "in")
        return top / "in"
    laid_out(directory, BEFORE).rename(directory / "main")
    git(directory / "main", "worktree", "add", "-q", "../work")
    return directory / "work"


@pytest.mark.parametrize("half", [0, 1])
async def test_changes_can_be_rejected_and_restored(host: Host, half: int, looked: Counter[str]) -> None:
    host.script(AGENT)
    for key, (name, one) in enumerate(list(CASES.items())[half::2], 1):
        with case(name):
            cwd = lay_out(host.directory / f"case{key}", one.place)
            await open_session(host, key, cwd, looked)
            await turn(host, key, cwd, *one.shells)
            assert listed(host, cwd) == {name: (operation, "agent") for name, operation in SHOWN.items()}
            after = texts(cwd, REJECTED)
            made = (await checkpoints(host, cwd))[0]
            judged = len(host.editor.all(review_events.Judged))
            host.app.receive("review", {"action": "reject", "session": key})
            await host.until("the rejection", lambda judged=judged: len(host.editor.all(review_events.Judged)) > judged)
            assert not host.editor.all(events.Error)
            assert (listed(host, cwd), texts(cwd, REJECTED)) == ({}, REJECTED)
            last = (await checkpoints(host, cwd))[0]
            assert (await restore(host, cwd, last.id)).problem is None
            assert texts(cwd, REJECTED) == after
            assert (await restore(host, cwd, made.id)).problem is None
            assert texts(cwd, REJECTED) == REJECTED
            check_words(host, key)
    check_log(host)


def check_words(host: Host, key: int) -> None:
    """No words of git are in the chat."""
    assert not [one for one in host.notices(key) if "fatal" in one or "failed with code" in one]
    assert not [one for one in host.notices(key) if "until Neovim ends" in one or "written down" in one]


async def test_what_was_not_copied_yet_is_said_to_be_lost(
    host: Host, looked: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "KEPT_SHARE", 10**12)
    host.script(AGENT)
    cwd = lay_out(host.directory / "case", "repository")
    await open_session(host, 1, cwd, looked)
    await turn(host, 1, cwd, f"{CHANGES}; rm -rf .git; git init -q")
    assert listed(host, cwd) == {
        "file": ("binary", "agent"),
        "a": ("delete", "agent"),
        "c": ("add", "agent"),
        "d/e/b": ("binary", "agent"),
    }
    for name in ("file", "a", "d/e/b"):
        assert "removed or replaced" in str(reviews(host, cwd)[name].note)
    after = texts(cwd, REJECTED)
    host.app.receive("review", {"action": "reject"})
    await host.until("the words", lambda: host.editor.all(events.Error))
    said = host.editor.all(events.Error)[-1].text
    assert [name for name in REJECTED if f"{cwd / name} was left as it is" in said] == ["file", "a", "d/e/b"]
    assert texts(cwd, REJECTED) == after | {"c": None}
    check_words(host, 1)
    check_log(host)

"""What seems to be new, but was there where nobody looked, is never deleted; what new rules hide is listed."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from acp_nvim.contract import events, review_events
from acp_nvim.review.workspace import Workspace
from acp_nvim.snapshots import comparing, hidden_files, newness
from tests.core.session.host import Host
from tests.core.session.test_review import reviews
from tests.core.session.test_review_kept import checkpoints, restore
from tests.core.session.test_review_trouble import check_log
from tests.support.agent_edits import git
from tests.support.cases import case

pytestmark = pytest.mark.anyio

# The prompt is JSON: the commands that the agent runs one after the other, and where.
AGENT = """
import subprocess

def turn(agent, prompt):
    work = json.loads(prompt.text)
    for number, shell in enumerate(work["shells"]):
        call = {"toolCallId": str(number), "title": shell, "kind": "execute", "rawInput": {"command": shell}}
        prompt.update("tool_call", status="in_progress", **call)
        prompt.until_heard()
        subprocess.run(shell, shell=True, check=True, cwd=work["cwd"])
        prompt.update("tool_call_update", toolCallId=str(number), status="completed")
    agent.note(done=True)
"""


@dataclass(frozen=True)
class Case:
    """What the user has, what the agent does, what is listed (path and operation), and what is there after `rejectall`.

    `before` runs in a new repository with one commit. Of `rejected`, None is a file that is not there.
    """

    before: str
    shells: tuple[str, ...]
    shown: dict[str, str]
    rejected: dict[str, str | None]
    forgets: bool = False
    """Whether nothing is remembered of ignored files, as before the first look at them."""
    words: dict[str, str] = field(default_factory=dict)
    """Words in the notes of files, or in the chat for ""."""


LOCAL = "echo local.conf >.gitignore; git add -A; echo mine >local.conf"
CASES = {
    "a rule goes, and the file is changed": Case(
        LOCAL,
        (": >.gitignore; echo theirs >local.conf",),
        {".gitignore": "modify", "local.conf": "modify"},
        {".gitignore": "local.conf\n", "local.conf": "mine\n"},
    ),
    "a rule goes, and a file that nobody remembers is changed": Case(
        LOCAL,
        (": >.gitignore; echo theirs >local.conf",),
        {".gitignore": "modify", "local.conf": "binary"},
        {".gitignore": "local.conf\n", "local.conf": "theirs\n"},
        forgets=True,
        words={"local.conf": "ignored by git"},
    ),
    "a rule goes, and the file is replaced": Case(
        LOCAL,
        (": >.gitignore; echo theirs >local.new; mv local.new local.conf",),
        {".gitignore": "modify", "local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "the rules of the repository": Case(
        "echo local.conf >.git/info/exclude; echo mine >local.conf",
        (": >.git/info/exclude; echo theirs >local.new; mv local.new local.conf",),
        {"local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "a negation": Case(
        "echo '*.conf' >.gitignore; git add -A; echo mine >local.conf",
        ("echo '!local.conf' >>.gitignore; rm local.conf; echo theirs >local.conf",),
        {".gitignore": "modify", "local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "the rules of a nested repository": Case(
        "git init -q in; echo x >in/f; echo local.conf >in/.gitignore; git -C in add -A; git -C in commit -qm x;"
        " echo mine >in/local.conf",
        ("rm in/.gitignore in/local.conf; echo theirs >in/local.conf",),
        {"in/.gitignore": "delete", "in/local.conf": "binary"},
        {"in/local.conf": "theirs\n", "in/.gitignore": "local.conf\n"},
        forgets=True,
    ),
    "a checkout brings other rules": Case(
        f"{LOCAL}; git commit -qm a; git branch ruled; git rm -q .gitignore; git commit -qm b; git checkout -q ruled",
        ("git checkout -q @{-1}; rm local.conf; echo theirs >local.conf",),
        {".gitignore": "delete", "local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "added although it is ignored": Case(
        LOCAL,
        ("git add -f local.conf; echo theirs >local.new; mv local.new local.conf",),
        {"local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "the repository goes, with its rules": Case(
        "echo local.conf >.git/info/exclude; echo mine >local.conf",
        ("mv .git ../elsewhere; rm local.conf; echo theirs >local.conf",),
        {"local.conf": "binary"},
        {"local.conf": "theirs\n"},
        forgets=True,
    ),
    "moved here from an ignored directory": Case(
        "echo build/ >.gitignore; mkdir build; echo only >build/x.js",
        ("mv build/x.js x.js",),
        {"x.js": "binary"},
        {"x.js": "only\n"},
    ),
    "moved here from outside": Case(
        "echo only >../outside.js",
        ("mv ../outside.js inside.js",),
        {"inside.js": "binary"},
        {"inside.js": "only\n"},
        words={"inside.js": "moved here"},
    ),
    "another name of a file": Case(
        "echo only >../linked.js",
        ("ln ../linked.js x.js",),
        {"x.js": "add"},
        {"x.js": None, "../linked.js": "only\n"},
    ),
    "renamed and rewritten": Case(
        "echo a >a.py; git add a.py; echo b >b.py",
        ("mv a.py c.py; echo more >c.py; mv b.py d.py; echo other >d.py",),
        {"a.py": "delete", "b.py": "delete", "c.py": "add", "d.py": "add"},
        {"a.py": "a\n", "b.py": "b\n", "c.py": None, "d.py": None},
    ),
    "new, and hidden by a new rule": Case(
        "echo '*.o' >.gitignore",
        ("printf 'out.txt\\ngen/\\n' >>.gitignore; echo new >out.txt; mkdir gen; echo g >gen/a; echo o >b.o",),
        {".gitignore": "modify", "out.txt": "add", "gen/a": "add"},
        {".gitignore": "*.o\n", "out.txt": None, "gen/a": None, "b.o": "o\n"},
    ),
    "a new directory hides its files": Case(
        "true",
        ("mkdir gen; echo '*.log' >gen/.gitignore; echo new >gen/a.log",),
        {"gen/.gitignore": "add", "gen/a.log": "add"},
        {"gen/.gitignore": None, "gen/a.log": None},
    ),
    "too many are hidden": Case(
        "true",
        ("echo deps/ >.gitignore; mkdir deps; touch deps/1 deps/2 deps/3 deps/4 deps/5",),
        {".gitignore": "add"},
        {".gitignore": None, "deps/1": ""},
        words={"": "deps, which has more than"},
    ),
    "what the user has not committed is hidden and changed": Case(
        "echo mine >notes; echo mine >.env",
        ("printf 'notes\\n.env\\n' >.gitignore; echo theirs >notes; echo theirs >.env", "echo more >>notes"),
        {".gitignore": "add", "notes": "modify", ".env": "modify"},
        {".gitignore": None, "notes": "mine\n", ".env": "mine\n"},
    ),
    "not tracked any more": Case(
        "echo mine >local.conf; git add -A; git commit -qm x",
        ("git rm -q --cached local.conf; echo local.conf >.gitignore; echo theirs >local.conf",),
        {".gitignore": "add", "local.conf": "modify"},
        {".gitignore": None, "local.conf": "mine\n"},
    ),
}


def laid_out(directory: Path, before: str) -> Path:
    """Make a repository of the user."""
    cwd = directory / "work"
    cwd.mkdir(parents=True)
    git(cwd, "init", "-q")
    git(cwd, "config", "user.name", "u")
    git(cwd, "config", "user.email", "u@example.org")
    (cwd / "file").write_text("text\n")
    git(cwd, "add", "-A")
    git(cwd, "commit", "-q", "-m", "first")
    run(before, cwd)
    return cwd


def run(shell: str, cwd: Path) -> None:
    """Run a command as the user."""
    subprocess.run(shell, shell=True, check=True, cwd=cwd)


def texts(cwd: Path, names: dict[str, str | None]) -> dict[str, str | None]:
    """Return the texts of these files."""
    return {name: (cwd / name).read_text() if (cwd / name).exists() else None for name in names}


async def open_session(host: Host, key: int, cwd: Path, looked: Counter[str]) -> None:
    """Open a session and wait for the first look at its files."""
    host.open(key, cwd=str(cwd))
    await host.until("the first look", lambda: looked[str(cwd)])


async def turn(host: Host, key: int, cwd: Path, *shells: str) -> None:
    """The agent runs the commands, and its changes are known."""
    ends, summaries = len(host.of(events.TurnEnd, key)), len(host.of(review_events.Summary, key))
    host.prompt(json.dumps({"shells": shells, "cwd": str(cwd)}), key)
    await host.until("the end of the turn", lambda: len(host.of(events.TurnEnd, key)) > ends)
    assert host.of(events.TurnEnd, key)[-1].stop_reason == "end_turn", host.notices(key)
    await host.until("a summary", lambda: len(host.of(review_events.Summary, key)) > summaries)


def listed(host: Host, cwd: Path) -> dict[str, tuple[str, str]]:
    """What is to be reviewed there: the operation, and by whom."""
    found = {name: (one.operation, one.by) for name, one in reviews(host, cwd).items()}
    return {name: one for name, one in found.items() if not name.startswith("..")}


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Count the further looks, by directory."""
    counts: Counter[str] = Counter()
    look_further = Workspace.look_further

    async def counted(workspace: Workspace, room: int) -> None:
        await look_further(workspace, room)
        counts[workspace.root] += 1

    monkeypatch.setattr(Workspace, "look_further", counted)
    for one in (comparing, newness):
        monkeypatch.setattr(one, "CLOCK_NS", 0)  # the user's last change and the first look are closer together
    monkeypatch.setattr(hidden_files, "HIDDEN_FILES", 4)
    return counts


async def check(host: Host, key: int, one: Case, looked: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    cwd = laid_out(host.directory / f"case{key}", one.before)
    with monkeypatch.context() as patched:
        if one.forgets:
            patched.setattr("acp_nvim.snapshots.ignored_files.IGNORED_FILES_BYTES", -1)
        await open_session(host, key, cwd, looked)
    await turn(host, key, cwd, *one.shells)
    assert listed(host, cwd) == {name: (operation, "agent") for name, operation in one.shown.items()}
    for name, words in one.words.items():
        said = str(reviews(host, cwd)[name].note) if name else "\n".join(host.notices(key))
        assert words in said
    stays = {name for name, operation in one.shown.items() if operation == "binary"}
    judged = len(host.editor.all(review_events.Judged))
    host.app.receive("review", {"action": "reject", "session": key})
    await host.until("the rejection", lambda: len(host.editor.all(review_events.Judged)) > judged)
    assert listed(host, cwd).keys() == stays
    assert texts(cwd, one.rejected) == one.rejected
    made = next(one for one in await checkpoints(host, cwd) if one.kind == "turn")
    problem = (await restore(host, cwd, made.id)).problem or ""
    assert texts(cwd, one.rejected) == one.rejected
    assert all(f"{cwd / name} was left as it is" in problem for name in stays)


@pytest.mark.parametrize("half", [0, 1])
async def test_newness(host: Host, half: int, looked: Counter[str], monkeypatch: pytest.MonkeyPatch) -> None:
    host.script(AGENT)
    for key, (name, one) in enumerate(list(CASES.items())[half::2], 1):
        with case(name):
            await check(host, key, one, looked, monkeypatch)
    check_log(host)


async def test_hidden_by_a_rule_that_an_earlier_scan_has_found(host: Host, looked: Counter[str]) -> None:
    host.script(AGENT)
    cwd = laid_out(host.directory / "case", "true")
    await open_session(host, 1, cwd, looked)
    late = "until test -e ../go; do sleep 0.01; done; mkdir out; echo new >out/a"
    host.prompt(json.dumps({"shells": ["echo out >.gitignore", late], "cwd": str(cwd)}))
    await host.until("the rule", lambda: ".gitignore" in listed(host, cwd))
    (cwd / "../go").touch()
    await host.until("a summary", lambda: host.of(review_events.Summary))
    assert listed(host, cwd) == {".gitignore": ("add", "agent"), "out/a": ("add", "agent")}


async def test_what_the_user_writes_after_a_turn_is_remembered_for_the_next(host: Host, looked: Counter[str]) -> None:
    host.script(AGENT)
    cwd = laid_out(host.directory / "case", "echo local.conf >.gitignore; git add -A; git commit -qm x")
    await open_session(host, 1, cwd, looked)
    known = looked[str(cwd)]
    (cwd / "local.conf").write_text("mine\n")
    await turn(host, 1, cwd, "echo one >>file")
    await host.until("the look after the turn", lambda: looked[str(cwd)] > known)
    await turn(host, 1, cwd, ": >.gitignore; echo theirs >local.conf")
    assert listed(host, cwd)["local.conf"] == ("modify", "agent")
    host.app.receive("review", {"action": "reject", "session": 1})
    await host.until("the rejection", lambda: host.editor.all(review_events.Judged))
    assert (cwd / "local.conf").read_text() == "mine\n"

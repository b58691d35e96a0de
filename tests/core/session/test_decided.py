"""What the user has decided about changes goes to the agent with the next prompt, once, and not what was undone."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.acp.remote_paths import PathMap
from acp_nvim.contract import events, review_events
from acp_nvim.review.records import Decided, Version
from acp_nvim.review.turn import decided as module
from acp_nvim.review.turn.decided import DecidedFiles, told
from acp_nvim.snapshots.renames import naming
from acp_nvim.snapshots.snapshot import DirectoryMove
from acp_nvim.transcript.presenter import Presenter
from tests.core.session.host import Host
from tests.core.session.test_renamed_directories import AGENT, lay_out
from tests.core.session.test_review_kept import undo
from tests.support.agent_edits import git
from tests.support.examples import examples
from tests.support.fake_editor import FakeEditor

pytestmark = pytest.mark.anyio

WRITES = """
    def turn(agent, prompt):
        if prompt.text.startswith("write"):
            for name in prompt.text.split("|")[1:]:
                prompt.write(os.path.abspath(name), "one\\nagent\\n")
"""


async def written(host: Host, *names: str) -> None:
    """The agent has changed files, and the user sees it."""
    for name in names:
        (host.cwd / name).write_text("one\n")
    before = len(host.of(review_events.Summary))
    assert await host.turn("|".join(["write", *names])) == "end_turn", host.notices()
    await host.until("the summary", lambda: len(host.of(review_events.Summary)) > before)


async def judge(host: Host, action: str, name: str) -> None:
    known = len(host.of(review_events.Decisions))
    host.app.receive("review", {"action": action, "path": str(host.cwd / name)})
    await host.until(f"to {action} {name}", lambda: len(host.of(review_events.Decisions)) > known)


def words(host: Host) -> str:
    """What the line above the prompt says."""
    return str(host.of(review_events.Decisions)[-1].words)


async def heard(host: Host, text: str = "next") -> list[str]:
    """What the agent gets beside the text of the next prompt."""
    await host.turn(text)
    prompt = host.scripts["it"].received("session/prompt")[-1]["params"]["prompt"]
    assert prompt[0]["text"] == text
    return [block["text"] for block in prompt[1:]]


async def test_what_was_rejected_and_kept_is_told_once(host: Host) -> None:
    host.script(WRITES)
    await written(host, "a b.txt", "kept.txt", "left.txt")
    await judge(host, "reject", "a b.txt")
    await judge(host, "keep", "kept.txt")
    assert words(host) == "1 rejected, 1 kept"
    [block] = await heard(host)
    assert "- a b.txt: rejected, which has changed it by:\n```\n@@ -1,2 +1,1 @@\n one\n-agent\n```" in block
    assert "- kept.txt: kept" in block
    assert "left.txt" not in block
    assert words(host) == ""
    assert host.notices()[-1] == "The agent is told what you have decided: 1 rejected, 1 kept."
    assert await heard(host) == []


async def test_what_was_undone_is_not_told(host: Host) -> None:
    host.script(WRITES)
    await written(host, "a.txt")
    await judge(host, "reject", "a.txt")
    done = await undo(host, host.cwd)
    assert done is not None
    assert done.files
    await host.until("nothing to be told", lambda: words(host) == "")
    assert await heard(host) == []


DEEDS = {
    "mv a.txt b.txt": ["a.txt: rejected", "b.txt: rejected"],
    "mv a.txt b.txt; echo more >> b.txt": ["a.txt: rejected", "b.txt: rejected"],
    "touch empty": ["empty: rejected"],
    "chmod +x a.txt": ["a.txt: rejected"],
    "printf '\\000' > binary": ["binary: rejected; it is gone"],
    "rm a.txt": ["a.txt: rejected"],
    "ln -s a.txt link": ["link: rejected"],
    "mv src core": ["core/: rejected; it is gone", "src/: rejected; it is there again"],
    "mv src t; mv lib src; mv t lib": ["lib/: rejected", "src/: rejected"],
    "mv src core; echo more >> core/a.py": ["core/: rejected; it is gone", "src/: rejected; it is there again"],
}


async def rejected(host: Host, command: str) -> None:
    """The agent runs a command, and the user rejects all that it has changed."""
    host.script(AGENT)
    lay_out(host.cwd, "src", "lib")
    (host.cwd / "a.txt").write_text("".join(f"line {number}\n" for number in range(20)))
    git(host.cwd, "init", "-q")
    git(host.cwd, "add", "-A")
    await host.turn(command)
    await host.until("the summary", lambda: bool(host.of(review_events.Summary)))
    host.app.receive("review", {"action": "reject"})
    await host.until("the rejection", lambda: bool(host.editor.all(review_events.Judged)))
    assert host.editor.all(review_events.Judged)[-1].left == []


@pytest.mark.parametrize("command", DEEDS)
async def test_whatever_was_rejected_is_told(host: Host, command: str) -> None:
    await rejected(host, command)
    [block] = await heard(host, "true")
    lines = block.splitlines()
    for told_of in DEEDS[command]:
        assert any(line.startswith(f"- {told_of}") for line in lines), block


@pytest.mark.parametrize("command", DEEDS)
async def test_nothing_of_what_was_undone_is_told(host: Host, command: str) -> None:
    await rejected(host, command)
    assert words(host) != ""
    done = await undo(host, host.cwd)
    assert done is not None
    assert done.problem is None
    await host.until("nothing to be told", lambda: words(host) == "")
    assert await heard(host, "true") == []


async def test_what_was_told_and_is_undone_then_is_told(host: Host) -> None:
    host.script(WRITES)
    await written(host, "a.txt")
    await judge(host, "reject", "a.txt")
    await heard(host)
    await undo(host, host.cwd)
    [block] = await heard(host)
    assert "- a.txt: restored, which has changed it by:\n```\n@@ -1,1 +1,2 @@\n one\n+agent\n```" in block


async def test_a_command_does_not_take_it_along_and_what_the_user_drops_is_not_told(host: Host) -> None:
    host.script(WRITES)
    await written(host, "a.txt")
    await judge(host, "reject", "a.txt")
    assert await heard(host, "/compact") == []
    assert words(host) == "1 rejected"
    host.app.receive("drop_decisions", {"session": 1})
    assert words(host) == ""
    assert await heard(host) == []


async def test_with_the_option_off_nothing_is_told(host: Host) -> None:
    host.hello(tell_agent=False)
    host.script(WRITES)
    await written(host, "a.txt")
    host.app.receive("review", {"action": "reject", "path": str(host.cwd / "a.txt")})
    await host.until("the rejection", lambda: (host.cwd / "a.txt").read_text() == "one\n")
    assert await heard(host) == []
    assert host.of(review_events.Decisions) == []


async def test_what_was_not_sent_stays_for_the_next_prompt(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    host.script(WRITES)
    await written(host, "a.txt")
    await judge(host, "reject", "a.txt")
    gate = anyio.Event()
    original = DecidedFiles.blocks

    async def wait(self: DecidedFiles, agent: Any) -> Any:
        found = await original(self, agent)
        await gate.wait()
        return found

    monkeypatch.setattr(DecidedFiles, "blocks", wait)
    host.prompt("never sent")
    await host.until("it to be told", lambda: any("is told" in one for one in host.notices()))
    host.cancel()
    await host.until("the end", lambda: host.of(events.TurnEnd)[-1].stop_reason == "cancelled")
    monkeypatch.undo()
    [block] = await heard(host)
    assert "- a.txt: rejected" in block


async def test_the_text_of_a_secret_file_is_not_told(host: Host) -> None:
    host.script(WRITES)
    await written(host, ".env")
    await judge(host, "reject", ".env")
    [block] = await heard(host)
    assert "- .env: rejected" in block
    assert "agent" not in block.replace("unless you are asked", "").partition("- .env")[2]


# --- any decisions ----------------------------------------------------------------------------------------------------

TEXTS = st.sampled_from([None, "", "a\n", "b\n"])
ACTS = st.lists(st.tuples(st.sampled_from(["x", "y"]), st.sampled_from(["kept", "rejected", "restored"]), TEXTS))


def version(text: str | None) -> Version | None:
    return None if text is None else Version((text,), text=text)


@settings(max_examples=examples(100))
@given(ACTS)
def test_only_what_is_different_in_the_end_is_told(acts: list[tuple[str, Any, str | None]]) -> None:
    files = DecidedFiles(Presenter(1, "/p", FakeEditor(), lambda: None))
    first: dict[str, str | None] = {}
    now: dict[str, str | None] = {"x": None, "y": None}
    for name, action, text in acts:
        if action == "kept":
            files.take(Decided(f"/p/{name}", "kept"))
        else:
            first.setdefault(name, now[name])
            files.take(Decided(f"/p/{name}", action, version(now[name]), version(text)))
            now[name] = text
            if first[name] == text:
                del first[name]
    agent: Any = SimpleNamespace(paths=PathMap("it", []))
    blocks = anyio.run(files.blocks, agent)
    said = blocks[0].text if blocks else ""
    for name in ("x", "y"):
        assert (name in first) == any(f"- {name}: {one}" in said for one in ("rejected", "restored"))
    files.told()
    assert anyio.run(files.blocks, agent) == []


def test_what_is_being_told_is_not_told_again_under_another_name() -> None:
    files = DecidedFiles(Presenter(1, "/p", FakeEditor(), lambda: None))
    files.take(Decided("/p/old/x", "rejected", version("a"), version("b")))
    files.take(Decided("/p/y", "rejected", version("a"), version("b")))
    agent: Any = SimpleNamespace(paths=PathMap("it", []))
    assert len(anyio.run(files.blocks, agent)) == 1
    files.rename(naming([DirectoryMove("/p/old", "/p/new")]))
    files.told()
    assert files.words == ""
    files.take(Decided("/p/new/x", "restored", version("b"), version("a")))
    files.rename(naming([DirectoryMove("/p/new", "/p/old")]))
    assert "- old/x: restored" in anyio.run(files.blocks, agent)[0].text


def test_it_is_bounded() -> None:
    long = "".join(f"{number}\n" for number in range(100_000))
    many = {f"f{number}": Decided(f"/f{number}", "rejected", version(long), version("")) for number in range(500)}
    said = told(many)
    assert len(said) < module.DIFF_CHARS + 200 * module.TOLD_FILES
    assert "450 more files" in said
    assert "- f1: rejected" in said


def test_a_file_elsewhere_has_the_path_that_it_has_for_the_agent(tmp_path: Path) -> None:
    files = DecidedFiles(Presenter(1, "/p", FakeEditor(), lambda: None))
    files.take(Decided(str(tmp_path / "x"), "rejected", version("a"), version("b")))
    agent: Any = SimpleNamespace(paths=PathMap("it", [(str(tmp_path), "/there")]))
    assert "- /there/x: rejected" in anyio.run(files.blocks, agent)[0].text

"""An agent that writes a file itself and then by `fs/write_text_file` too is seen, whichever came first."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.contract import events, review_events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


def review_events_of(host: Host, path: Path) -> list[review_events.Review]:
    """What was told of that file."""
    return [one for one in host.editor.all(review_events.Review) if one.path == str(path)]


@pytest.mark.parametrize("last", ["one\ntwo\n", "one\n2\n"], ids=["the same", "another text"])
async def test_a_new_file_that_is_there_already(host: Host, last: str) -> None:
    path = host.cwd / "new"
    host.script(f"""
        def turn(agent, prompt):
            open({str(path)!r}, "w").write("one\\ntwo\\n")
            prompt.write({str(path)!r}, {last!r})
    """)
    await host.turn()
    await host.until("the summary", lambda: host.of(review_events.Summary))
    assert host.of(review_events.Summary)[0].files == [review_events.FileView(str(path), "add", 2, why="written by it")]
    assert host.editor.all(review_events.Review)[-1].operation == "add"


TELLS = """
def turn(agent, prompt):
    path, text = {path!r}, "one\\ntwo\\n"
    diff = {{"type": "diff", "path": path, "oldText": {old!r}, "newText": text}}
    file = open(path, "w")
    file.write({written!r})
    file.flush()
    prompt.tool("edit", "write new", kind="edit", status="pending", content=[diff])
    prompt.ask("edit")  # which waits until the file was looked at
    file.write(text.removeprefix({written!r}))
    file.close()
    prompt.tool_update("edit", status="completed")
"""


async def told(host: Host, opens: Path | None = None) -> list[tuple[str, str, int]]:
    """Have the turn run to its end: path, operation and added lines of the files in its summary."""
    host.open()
    host.prompt("go")
    await host.until("the request", lambda: host.of(events.Permission))
    if opens is not None:
        host.editor.open(opens)
    host.answer(host.of(events.Permission)[0].request.id, "allow")
    await host.until("the summary", lambda: host.of(review_events.Summary))
    return [(one.path, one.operation, one.added) for one in host.of(review_events.Summary)[0].files]


@pytest.mark.parametrize("old", ["", None])
@pytest.mark.parametrize(
    ("written", "is_open"),
    [("", True), ("", False), ("one\n", False), ("one\ntwo\n", True), ("one\ntwo\n", False)],
)
async def test_a_new_file_that_exists_before_its_call_is_announced(
    host: Host, old: str | None, written: str, *, is_open: bool
) -> None:
    """Neovim may have opened it by then, because it follows the agent."""
    path = host.cwd / "new"
    host.script(TELLS.format(path=str(path), old=old, written=written))
    assert await told(host, path if is_open else None) == [(str(path), "add", 2)]


async def test_what_an_open_file_had_before_the_call_is_not_the_agents(host: Host) -> None:
    """Another program of the user may have written it during the turn: a rejection must not delete it."""
    path = host.cwd / "new"
    host.script(TELLS.format(path=str(path), old="", written="one\n"))
    assert await told(host, path) == [(str(path), "modify", 1)]


@pytest.mark.parametrize("old", ["", None])
async def test_an_empty_file_from_before_is_not_new(host: Host, old: str | None) -> None:
    path = host.cwd / "new"
    path.touch()
    host.script(TELLS.format(path=str(path), old=old, written="one\ntwo\n"))
    assert await told(host) == [(str(path), "modify", 2)]


async def test_what_was_kept_while_the_turn_ran_stays_kept(host: Host) -> None:
    path, kept = host.cwd / "new", host.directory / "kept"
    host.script(f"""
        def turn(agent, prompt):
            prompt.write({str(path)!r}, "one\\ntwo\\n")
            prompt.say("written")
            while not os.path.exists({str(kept)!r}):
                time.sleep(0.01)
    """)
    host.open()
    host.prompt("go")
    await host.until("the review", lambda: host.text() == "written" and host.editor.all(review_events.Review))
    host.editor.open(path)
    host.app.receive("review_open", {"path": str(path)})
    await host.until("its hunks", lambda: host.editor.all(review_events.Review)[-1].hunks is not None)
    host.app.receive("review", {"action": "keep"})
    await host.until("nothing to review", lambda: review_events_of(host, path)[-1].hunks == [])
    kept.touch()
    await host.until("the summary", lambda: host.of(review_events.Summary))
    assert [one.path for one in host.of(review_events.Summary)[0].files] == [str(path)]
    assert review_events_of(host, path)[-1].hunks == []

"""Files over the wire: the codes of refusals, what the editor is told, and one agent's need for an exception."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

TRY = """
    def attempt(agent, work):
        try:
            agent.note(result=work())
        except Error as error:
            agent.note(code=error.code, message=error.message, data=error.data)
"""


def reading(host: Host, path: str, **fields: float) -> str:
    """A script that reads a file."""
    return f"{TRY}\n    def turn(agent, prompt):\n        attempt(agent, lambda: prompt.read({path!r}, **{fields!r}))\n"


def writing(host: Host, path: str, text: str = "new") -> str:
    """A script that writes a file."""
    return f"{TRY}\n    def turn(agent, prompt):\n        attempt(agent, lambda: prompt.write({path!r}, {text!r}))\n"


@pytest.mark.parametrize("one", [1, 1.0], ids=["1", "1.0"])  # JSON has one kind of numbers
async def test_a_buffer_is_read_before_the_file(host: Host, one: float) -> None:
    path = host.cwd / "f"
    path.write_text("on disk\n")
    host.editor.open(path, "in\nthe\nbuffer\n")
    script = host.script(reading(host, str(path), line=2 * one, limit=one))
    await host.turn()
    assert script.notes("result") == ["the\n"]


async def test_a_missing_file_is_resource_not_found_and_no_notice(host: Host) -> None:
    path = str(host.cwd / "gone")
    script = host.script(reading(host, path))
    await host.turn()
    assert (script.notes("code"), script.notes("data")) == ([-32002], [{"uri": path}])
    assert host.notices() == []
    assert host.editor.all(events.Error) == []


async def test_a_missing_file_reads_empty_for_the_one_agent_that_needs_it(host: Host) -> None:
    quirky = 'INITIALIZE = {"agentInfo": {"name": "gemini-cli", "version": "1"}}\n'
    script = host.script(quirky + reading(host, str(host.cwd / "gone")).replace("\n    ", "\n"))
    await host.turn()
    assert script.notes("result") == [""]


@pytest.mark.parametrize("path", ["/etc/passwd", "relative"])
@pytest.mark.parametrize("script", [reading, writing])
async def test_a_path_that_is_none_of_the_sessions_is_invalid_params(host: Host, script: object, path: str) -> None:
    assert callable(script)
    agent = host.script(script(host, path))
    await host.turn()
    assert agent.notes("code") == [-32602]
    assert path in agent.notes("message")[0]


async def test_what_cannot_be_read_is_an_internal_error_in_words(host: Host) -> None:
    script = host.script(reading(host, str(host.cwd)))
    await host.turn()
    assert (script.notes("code"), script.notes("message")) == ([-32603], [f"{host.cwd} is a directory"])


async def test_a_write_is_told_to_the_editor(host: Host) -> None:
    path = host.cwd / "a" / "f"
    host.script(writing(host, str(path), "text\n"))
    await host.turn()
    await host.app.sessions[1].changes.settled()  # what the next look finds was told before
    assert path.read_text() == "text\n"
    told = events.FileChanged(session=1, path=str(path), by="agent", operation="add", added=1, why="written by it")
    assert host.of(events.FileChanged) == [told]


async def test_a_write_over_an_edit_that_the_agent_has_not_seen_is_refused_and_shown(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("old")
    buffer = host.editor.open(path, "precious")
    script = host.script(writing(host, str(path)))
    await host.turn()
    assert (script.notes("code"), buffer.text, path.read_text()) == ([-32603], "precious", "old")
    [kept] = (host.log_path.parent.with_name("state") / "conflicts").iterdir()
    assert kept.read_text() == "new\n"
    assert "Read the file again" in script.notes("message")[0]
    [notice] = host.of(events.Notice)
    assert notice.level == "warn"
    assert notice.text.startswith("Your edits were kept: the agent wanted to write f, but")
    assert host.of(events.FileChanged) == []


async def test_a_write_that_fails_is_told_in_words(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("old\n")
    buffer = host.editor.open(path)
    buffer.error = "the disk is full"
    script = host.script(writing(host, str(path)))
    await host.turn()
    assert (buffer.text, path.read_text()) == ("old\n", "old\n")
    told = f"{path} was not written: the disk is full. Everything is as it was."
    assert script.notes("message") == [told]
    [notice] = host.of(events.Notice)
    assert notice.text == f"The agent's write failed: {told}"
    assert host.of(events.FileChanged) == []


@pytest.mark.parametrize(("setting", "on_disk"), [("save", "new\n"), ("buffer", "old\n")])
async def test_whether_a_written_buffer_is_saved_is_the_users_choice(host: Host, setting: str, on_disk: str) -> None:
    path = host.cwd / "f"
    path.write_text("old\n")
    buffer = host.editor.open(path)
    host.hello(fs={"write": setting})
    host.script(writing(host, str(path)))
    await host.turn()
    assert (buffer.text, path.read_text()) == ("new\n", on_disk)


async def test_files_are_served_in_parallel_and_after_the_turn(host: Host) -> None:
    (host.cwd / "f").write_text("text")
    script = host.script(f"""
        def turn(agent, prompt):
            path = {str(host.cwd / "f")!r}
            params = {{"sessionId": prompt.session_id, "path": path}}
            calls = [agent.call("fs/read_text_file", params) for _ in range(5)]
            agent.note(read=[call.result()["content"] for call in calls])
            prompt.reply({{"stopReason": "end_turn"}})
            agent.note(late=prompt.read(path))
            return NO_ANSWER
    """)
    await host.turn()
    assert script.notes("read") == [["text"] * 5]
    assert await host.until_note("late") == ["text"]


async def test_what_the_agents_own_tool_has_written_it_knows(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("one\ntwo\n")
    buffer = host.editor.open(path)
    script = host.script(
        f"""{TRY}
    def turn(agent, prompt):
        prompt.read({str(path)!r})
        agent.note(read=True)
        while not os.path.exists({str(path)!r} + ".go"):
            time.sleep(0.005)
        with open({str(path)!r}, "w") as file:
            file.write("one\\nTWO, by the agent\\n")
        call = {{"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "edit", "status": "completed"}}
        agent.update(prompt.session_id, call | {{"locations": [{{"path": {str(path)!r}}}]}})
        agent.note(done=True)
        while not os.path.exists({str(path)!r} + ".went"):
            time.sleep(0.005)
        attempt(agent, lambda: prompt.write({str(path)!r}, "one\\nTWO again, by the agent\\n"))
"""
    )
    host.open()
    host.prompt("go")
    await host.until_note("read")
    (host.cwd / "f.go").touch()
    await host.until_note("done")
    await host.until("the call", lambda: host.of(events.FilesMaybeChanged))
    host.app.receive("disk_changed", {"paths": [str(path)]})
    await host.until("the buffer to follow", lambda: "TWO" in buffer.text)
    (host.cwd / "f.went").touch()
    await host.editor.until_event(events.TurnEnd)
    assert script.notes("code") == []
    assert buffer.text == "one\nTWO again, by the agent\n"


async def test_what_one_session_has_seen_another_has_not(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("old")
    host.editor.open(path, "precious")
    script = host.script(
        f"""{TRY}
    def turn(agent, prompt):
        if prompt.text == "read":
            prompt.read({str(path)!r})
        else:
            attempt(agent, lambda: prompt.write({str(path)!r}, "new"))
"""
    )
    await host.turn("read", 1)
    await host.turn("write", 2)
    assert script.notes("code") == [-32603]


async def test_an_editor_that_fails_beside_the_sessions_does_not_end_them(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("text\n")
    host.editor.open(path)
    script = host.script(reading(host, str(path)))
    await host.turn()
    path.write_text("other text\n")
    host.editor.fault = RuntimeError("a Lua error")
    host.app.receive("disk_changed", {"paths": [str(path)]})
    await host.until("the log", lambda: "a Lua error" in host.log_path.read_text())
    host.editor.fault = None
    await host.turn()
    assert script.notes("result") == ["text\n", "other text\n"]


async def test_what_another_program_wrote_after_the_agents_tool_it_does_not_know(host: Host) -> None:
    path = host.cwd / "f"
    path.write_text("one\ntwo\n")
    buffer = host.editor.open(path)
    script = host.script(
        f"""{TRY}
    def turn(agent, prompt):
        if prompt.text == "read":
            prompt.read({str(path)!r})
            call = {{"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "kind": "edit"}}
            place = {{"locations": [{{"path": {str(path)!r}}}], "status": "completed"}}
            agent.update(prompt.session_id, call | place)
        else:
            attempt(agent, lambda: prompt.write({str(path)!r}, "agent\\n"))
"""
    )
    await host.turn("read")
    path.write_text("another program\n")
    await host.turn("write")
    assert script.notes("code") == [-32603]
    assert buffer.text == path.read_text() == "another program\n"

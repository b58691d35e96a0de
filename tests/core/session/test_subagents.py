"""Child sessions: what an agent does in them lands there, and nothing is sent for them that is not allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.request_events import Elicitation
from acp_nvim.contract.review_events import Summary
from tests.core.session.host import Host
from tests.core.session.test_review_kept import load, next_host

pytestmark = pytest.mark.anyio

CHILDREN = """
    def child(agent, prompt, name, **said):
        agent.update(prompt.session_id, {"sessionUpdate": "subagent_update", "sessionId": name, **said})

    def say(agent, name, text):
        agent.update(name, {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}})

    def tool(agent, name, call, **more):
        agent.update(name, {"sessionUpdate": "tool_call", "toolCallId": call, "title": f"Tool of {name}", **more})

    def path(name):
        return os.path.join(os.getcwd(), name)

    def until_heard(agent, name):  # the host has handled what was sent before
        try:
            agent.request("fs/read_text_file", {"sessionId": name, "path": path("nothing")})
        except Error:
            pass

    def ask(agent, name):
        options = [{"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                   {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]
        return agent.call("session/request_permission", {
            "sessionId": name, "toolCall": {"toolCallId": f"ask-{name}", "title": f"Ask of {name}"},
            "options": options})
"""

TWO_AT_ONCE = (
    CHILDREN
    + """
    def work(agent, prompt, name):
        say(agent, name, f"begin {name} ")
        asked = ask(agent, name)
        agent.request("fs/write_text_file", {"sessionId": name, "path": path(f"{name}.txt"), "content": f"{name}\\n"})
        made = agent.request("terminal/create", {"sessionId": name, "command": "echo", "args": [f"out of {name}"]})
        tool(agent, name, "run", kind="execute", status="in_progress",
             content=[{"type": "terminal", "terminalId": made["terminalId"]}])
        agent.request("terminal/wait_for_exit", {"sessionId": name, "terminalId": made["terminalId"]})
        form = agent.request("elicitation/create", {
            "sessionId": name, "mode": "form", "message": f"Form of {name}",
            "requestedSchema": {"type": "object", "properties": {"text": {"type": "string"}}}})
        agent.note(**{name: [asked.result()["outcome"]["optionId"], form["action"]]})
        say(agent, name, f"end {name}")

    def turn(agent, prompt):
        import threading
        for name in ("one", "two"):
            child(agent, prompt, name, title=f"Child {name}", state={"state": "running"})
        threads = [threading.Thread(target=work, args=(agent, prompt, name)) for name in ("one", "two")]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        for name in ("one", "two"):
            child(agent, prompt, name, state={"state": "idle", "stopReason": "end_turn"})
        prompt.say("both are done")
"""
)


def views(host: Host, key: int = 1) -> dict[str, events.SubagentView]:
    """What was told last of the children of a session, by the agent's ids."""
    return {one.subagent.session_id: one.subagent for one in host.of(events.Subagent, key)}


def shown(host: Host, key: int = 1) -> list[events.Subagent]:
    """Return the blocks of the child sessions, as they are shown last."""
    return list({one.block: one for one in host.of(events.Subagent, key)}.values())


async def key_of(host: Host, name: str, key: int = 1) -> int:
    """Wait until the agent has announced that child, and return its key."""
    await host.until(f"the child {name}", lambda: name in views(host, key))
    return views(host, key)[name].session


async def test_what_two_children_do_at_once_lands_at_each_of_them(free_host: Host) -> None:
    host = free_host
    script = host.script(TWO_AT_ONCE)
    host.open()
    host.prompt("go")
    keys = {name: await key_of(host, name) for name in ("one", "two")}
    for name, key in keys.items():
        host.app.receive("redraw", {"session": key})
        await host.until(f"a request of {name}", lambda key=key: host.of(events.Permission, key))  # type: ignore[misc]
        asked = host.of(events.Permission, key)[-1]  # a redraw has told of it again
        assert asked.request.title == f"Ask of {name}"
        host.answer(asked.request.id, "allow" if name == "one" else "reject")
        await host.until(f"a form of {name}", lambda key=key: host.of(Elicitation, key))  # type: ignore[misc]
        question = host.of(Elicitation, key)[-1]
        assert question.request.message == f"Form of {name}"
        action = "decline" if name == "one" else "cancel"
        host.app.receive("elicitation_answer", {"id": question.request.id, "action": action})
    await host.until("the end", lambda: host.of(events.TurnEnd))
    assert script.notes("one") == [["allow", "decline"]]
    assert script.notes("two") == [["reject", "cancel"]]
    for name, key in keys.items():
        assert (host.cwd / f"{name}.txt").read_text() == f"{name}\n"
        await host.until(f"all of {name}", lambda key=key, name=name: f"end {name}" in host.text(key=key))  # type: ignore[misc]
        assert host.text(key=key).startswith(f"begin {name} ")
        [call] = [one for one in host.calls(key).values() if one.id == "run"]
        assert isinstance(call.content[0], events.TerminalItem)
        assert f"out of {name}" in call.content[0].output
        await host.until(f"the summary of {name}", lambda key=key: host.of(Summary, key))  # type: ignore[misc]
        [summary] = host.of(Summary, key)
        assert [one.path for one in summary.files] == [str(host.cwd / f"{name}.txt")]
        assert f"Child {name} (it)" in summary.files[0].why
    assert host.text() == "both are done"
    assert not host.of(events.Permission)
    await host.until("the summary of the parent", lambda: host.of(Summary))
    assert [one.path for one in host.of(Summary)[0].files] == [str(host.cwd / f"{name}.txt") for name in ("one", "two")]
    assert [(one.subagent.title, one.subagent.state) for one in shown(host)] == [
        ("Child one", "idle"),
        ("Child two", "idle"),
    ]


BY_ITSELF = (
    CHILDREN
    + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"})
        for name, kind in (("edited.txt", "edit"), ("made.txt", "execute")) if prompt.text == "write" else ():
            more = {"locations": [{"path": path(name)}]} if kind == "edit" else {}
            tool(agent, "one", name, kind=kind, status="in_progress", **more)
            until_heard(agent, "one")
            with open(path(name), "w") as file:
                file.write("new\\n")
            agent.update("one", {"sessionUpdate": "tool_call_update", "toolCallId": name, "status": "completed"})
        child(agent, prompt, "one", state={"state": "idle", "stopReason": "end_turn"})
"""
)


async def test_what_a_child_changes_by_itself_is_its_work_until_the_next_host(host: Host, tmp_path: Path) -> None:
    host.script(BY_ITSELF)
    assert await host.turn("write") == "end_turn"
    one = await key_of(host, "one")
    await host.until("its changes", lambda: (review := views(host)["one"].review) and review.files == 2)
    changed = {Path(each.path).name: each for each in host.of(events.FileChanged, one)}
    assert {name: (each.by, each.why) for name, each in changed.items()} == {
        "edited.txt": ("agent", "by `Tool of one`"),
        "made.txt": ("agent", "by `Tool of one`"),
    }
    async with next_host(host, tmp_path / "next") as other:
        await load(other, host.cwd)
        other.script(BY_ITSELF)
        other.open(cwd=str(host.cwd))
        assert await other.turn() == "end_turn"
        await key_of(other, "one")
        await other.until("what is left", lambda: (status := other.status()) and status.review is not None)
        assert views(other)["one"].review is None


async def test_only_where_it_is_allowed_a_child_is_cancelled_alone(host: Host) -> None:
    script = host.script(
        CHILDREN
        + """
        def turn(agent, prompt):
            child(agent, prompt, "can", title="Can", capabilities={"cancel": {}}, state={"state": "running"})
            child(agent, prompt, "not", title="Not", state={"state": "running"})
            agent.note(asked=ask(agent, "can").result()["outcome"]["outcome"])
            child(agent, prompt, "can", state={"state": "idle", "stopReason": "cancelled"})
            prompt.wait_cancelled()
            return "cancelled"

        def session_cancel(agent, request):
            pass
        """.replace("\n        ", "\n    ")
    )
    host.open()
    host.prompt("go")
    can, cannot = await key_of(host, "can"), await key_of(host, "not")
    host.cancel(cannot)
    await host.until("the reason", lambda: any("cannot cancel" in one for one in host.notices(cannot)))
    await host.until("a request", lambda: host.of(events.Permission, can))
    host.cancel(can)
    await host.until_note("asked")
    assert host.notices(can)[-1] == "The agent was asked to stop this subagent."
    assert script.notes("asked") == ["cancelled"]
    await host.until("the end of its work", lambda: views(host)["can"].stop_reason == "cancelled")
    assert [one["params"] for one in script.received("session/cancel")] == [{"sessionId": "can"}]
    assert views(host)["not"].state == "running"
    host.cancel()
    await host.until("the end", lambda: host.of(events.TurnEnd))
    await host.until("the end of both", lambda: {one.state for one in views(host).values()} <= {"idle", "running"})


async def test_a_child_in_a_child_is_shown_there(host: Host) -> None:
    host.script(
        CHILDREN
        + """
    def turn(agent, prompt):
        child(agent, prompt, "outer", title="Outer")
        agent.update("outer", {"sessionUpdate": "subagent_update", "sessionId": "inner", "title": "Inner"})
        say(agent, "inner", "deep")
        agent.update("outer", {"sessionUpdate": "session_message", "messageId": "m", "recipientSessionId": "inner",
                               "content": [{"type": "text", "text": "do "}]})
        agent.update("outer", {"sessionUpdate": "session_message_chunk", "messageId": "m",
                               "content": {"type": "text", "text": "it"}})
        agent.update("inner", {"sessionUpdate": "session_message", "messageId": "n", "senderSessionId": "outer",
                               "content": [{"type": "text", "text": "do it"}]})
"""
    )
    assert await host.turn() == "end_turn"
    outer = await key_of(host, "outer")
    inner = await key_of(host, "inner", outer)
    assert [one.subagent.title for one in shown(host)] == ["Outer"]
    assert [one.subagent.title for one in shown(host, outer)] == ["Inner"]
    host.app.receive("redraw", {"session": inner})
    await host.until("its text", lambda: "deep" in host.text(key=inner))
    assert host.notices(outer)[-1] == "Message to Inner: do it"
    assert host.notices(inner)[-1] == "Message from the agent that created this subagent: do it"


@pytest.mark.parametrize("taken", ["session-1", "session-2", "one"])
async def test_an_id_that_another_session_has_is_not_taken(host: Host, taken: str) -> None:
    host.script(
        CHILDREN
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One")
        agent.update("one", {{"sessionUpdate": "subagent_update", "sessionId": {taken!r}, "title": "Stolen"}})
        say(agent, {taken!r}, "whose is it?")
        say(agent, prompt.session_id, "over")
"""
    )
    host.open(2)
    await host.until_state("idle", 2)
    host.open(1)
    await host.until_state("idle", 1)
    host.prompt("go", 2)
    await host.until("the end", lambda: host.of(events.TurnEnd, 2))
    one = await key_of(host, "one", 2)
    stolen = await key_of(host, taken, one)
    assert host.status(stolen).state == "stopped"  # type: ignore[union-attr]
    assert not host.text(key=stolen)


async def test_a_child_gets_no_more_directories_than_its_parent_has(free_host: Host) -> None:
    host = free_host
    (host.cwd / "inside").mkdir()
    outside = host.directory / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    script = host.script(
        CHILDREN
        + f"""
    def turn(agent, prompt):
        child(agent, prompt, "in", cwd=path("inside"))
        child(agent, prompt, "out", cwd={str(outside)!r}, additionalDirectories=["/"])
        child(agent, prompt, "more", additionalDirectories=[{str(outside)!r}])
        made = agent.request("terminal/create", {{"sessionId": "in", "command": "pwd"}})
        terminal = {{"sessionId": "in", "terminalId": made["terminalId"]}}
        agent.request("terminal/wait_for_exit", terminal)
        agent.note(where=agent.request("terminal/output", terminal)["output"])
        for name in ("in", "out", "more"):
            try:
                agent.request("fs/read_text_file", {{"sessionId": name, "path": {str(outside / "secret")!r}}})
                agent.note(read=name)
            except Error as error:
                agent.note(refused=name)
"""
    )
    assert await host.turn() == "end_turn"
    assert script.notes("where") == [f"{host.cwd}/inside\n"]
    assert script.notes("refused") == ["in", "out", "more"]
    assert script.notes("read") == []


async def test_when_the_agent_dies_its_children_are_over_and_the_next_process_begins_anew(host: Host) -> None:
    script = host.script(
        CHILDREN
        + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"})
        if prompt.text == "die":
            ask(agent, "one")
            tool(agent, "one", "open", status="in_progress")
            agent.expect("never") if os.path.exists("wait") else agent.die()
        say(agent, "one", "again")
"""
    )
    host.open()
    host.prompt("die")
    await host.until_state("failed")
    one = await key_of(host, "one")
    assert views(host)["one"].state == "stopped"
    assert host.status(one).pending_permissions == 0  # type: ignore[union-attr]
    host.prompt("again")
    await host.until("the end", lambda: len(host.of(events.TurnEnd)) == 2)
    assert views(host)["one"].session == one
    host.app.receive("redraw", {"session": one})
    await host.until("what it says", lambda: "again" in host.text(key=one))
    assert script.received("session/cancel") == []


async def test_idle_children_make_room_and_none_is_kept_after_the_session(host: Host, monkeypatch: Any) -> None:
    monkeypatch.setattr("acp_nvim.session.subagents.SUBAGENTS", 3)
    host.script(
        CHILDREN
        + """
    def turn(agent, prompt):
        for number in range(5):
            child(agent, prompt, f"c{number}", title=f"C{number}")
            say(agent, f"c{number}", "hi")
            child(agent, prompt, f"c{number}", state={"state": "idle"})
"""
    )
    assert await host.turn() == "end_turn"
    kept = [one.session_id for one in host.app.conversations.values()]
    assert sorted(filter(None, kept)) == ["c2", "c3", "c4", "session-1"]
    assert [one.subagent.title for one in shown(host)] == [f"C{number}" for number in range(5)]
    assert len(host.app.conversations) == 4
    host.app.receive("session_close", {"id": 1, "session": 1})
    await host.until("the end of all", lambda: not host.app.conversations)
    await host.until("their changes", lambda: [one.session for one in host.app.reviews.ledger.logs] == [1])


async def test_late_news_of_an_idle_child_is_shown_and_begins_no_work(host: Host) -> None:
    host.script(
        CHILDREN
        + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"})
        tool(agent, "one", "t", status="in_progress")
        child(agent, prompt, "one", state={"state": "idle", "stopReason": "end_turn"})
        agent.update("one", {"sessionUpdate": "tool_call_update", "toolCallId": "t", "status": "failed"})
        say(agent, "one", "too late")
        if prompt.text == "more":
            tool(agent, "one", "u", status="in_progress")
            agent.note(more=True)
            wait_for("done")
            agent.update("one", {"sessionUpdate": "tool_call_update", "toolCallId": "u", "status": "completed"})

    def wait_for(name):
        while not os.path.exists(name):
            time.sleep(0.01)
"""
    )
    assert await host.turn() == "end_turn"
    one = await key_of(host, "one")
    await host.until("the end", lambda: views(host)["one"].state == "idle")
    assert [call.status for call in host.calls(one).values()] == ["failed"]
    host.prompt("more")
    await host.until_note("more")
    await host.until("its work", lambda: views(host)["one"].state == "running")
    (host.cwd / "done").touch()
    await host.until("the end of its work", lambda: views(host)["one"].state == "idle")


async def test_why_a_subagent_has_failed_is_told_in_plain_words(host: Host) -> None:
    host.script(
        CHILDREN
        + """
    def turn(agent, prompt):
        child(agent, prompt, "one", title="One", state={"state": "running"})
        error = {"code": -32603, "message": "the model is gone (code -32603)"}
        child(agent, prompt, "one", state={"state": "idle", "stopReason": "error", "error": error})
"""
    )
    assert await host.turn() == "end_turn"
    one = await key_of(host, "one")
    assert views(host)["one"].stop_reason == "error"
    words = "The subagent 'One' has failed: the model is gone. :AcpLog shows what it said."
    assert host.notices(one) == [words]

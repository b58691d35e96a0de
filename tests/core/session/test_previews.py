"""Previews: what a waiting permission request asks to do to files, told where it belongs in their texts."""

from __future__ import annotations

import os
from textwrap import dedent, indent
from typing import Any

import anyio
import pytest

from acp_nvim.contract import events
from acp_nvim.contract.review_events import Preview, PreviewDone, PreviewHunk
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\nfour\nfive\n"
NEW = "one\nTWO\nthree\nfour\nfive\nsix\n"
BOTH = [PreviewHunk(1, 1, ["TWO"]), PreviewHunk(5, 0, ["six"])]


def script(body: str) -> str:
    """A turn of that body; `diff` and `many` make content, `p` an absolute path."""
    made = dedent("""
        def p(name):
            return os.path.join(os.getcwd(), name)

        def diff(name, old, new):
            return {"type": "diff", "path": p(name), "oldText": old, "newText": new}

        def turn(agent, prompt):
        """)
    return made + indent(dedent(body).strip(), "    ") + "\n"


def write(host: Host, text: str = OLD, name: str = "f") -> str:
    """Write a file and return its path."""
    path = host.cwd / name
    path.write_text(text)
    return os.path.realpath(path)


async def previews(host: Host, body: str, count: int = 1) -> list[Preview]:
    """Run a turn until so many of them are told."""
    host.script(script(body))
    host.open()
    host.prompt("go")
    await host.editor.until_event(Preview, count)
    return host.of(Preview)


async def preview(host: Host, body: str) -> Preview:
    """Return the first preview."""
    return (await previews(host, body))[0]


def asking(*content: str, **more: Any) -> str:
    """Return code that asks for a permission with this content."""
    fields = "".join(f", {name}={value!r}" for name, value in more.items())
    return f'prompt.say(str(prompt.ask("c", title="T", kind="edit", content=[{", ".join(content)}]{fields})))'


WHOLE = f"diff('f', {OLD!r}, {NEW!r})"


@pytest.mark.parametrize(
    "content",
    [
        [WHOLE],
        ["diff('f', 'one\\ntwo\\n', 'one\\nTWO\\n')", "diff('f', 'five\\n', 'five\\nsix\\n')"],
        ["diff('f', 'five', 'five\\nsix')", "diff('f', 'two', 'TWO')"],
        ["diff('f', 'two', 'zwei')", "diff('f', 'zwei', 'TWO')", "diff('f', 'five\\n', 'five\\nsix\\n')"],
        [f"diff('f', {OLD[:-1]!r}, {NEW[:-1]!r})"],
        ["diff('f', 'two', 'TWO')", "diff('f', 'two', 'TWO')", "diff('f', 'five', 'five\\nsix')"],
    ],
    ids=["whole file", "several", "snippets", "one after the other", "no last end", "the same twice"],
)
async def test_it_is_found_where_it_belongs(host: Host, content: list[str]) -> None:
    path = write(host)
    shown = await preview(host, asking(*content))
    asked = host.of(events.Permission)[0].request
    assert (shown.path, shown.request, shown.operation, shown.exists) == (path, asked.id, "modify", True)
    assert (shown.hunks, shown.note, shown.state) == (BOTH, None, None)


async def test_the_question_is_told_before_what_it_is_about(host: Host) -> None:
    write(host)
    await preview(host, asking(WHOLE))
    kinds = [type(event) for event in host.editor.events]
    assert kinds.index(events.Permission) < kinds.index(Preview)


async def test_a_call_that_was_shown_before_is_what_the_request_is_about(host: Host) -> None:
    write(host)
    shown = await preview(
        host,
        f"""
        prompt.tool("c", "Edit", kind="edit", content=[{WHOLE}])
        prompt.tool_update("c", content=[{{"type": "content", "content": {{"type": "text", "text": "May I?"}}}}])
        prompt.ask("c")
        """,
    )
    assert shown.hunks == BOTH


async def test_the_rows_are_those_of_the_buffer(host: Host) -> None:
    path = write(host)
    buffer = host.editor.open(path, "zero\n" + OLD)
    shown = await preview(host, asking("diff('f', 'two', 'TWO')"))
    assert (shown.hunks, shown.state) == ([PreviewHunk(2, 1, ["TWO"])], buffer.state)
    assert buffer.text == "zero\n" + OLD
    assert host.editor.changes == []


async def test_who_has_opened_the_file_since_is_told_again(host: Host) -> None:
    path = write(host)
    await preview(host, asking("diff('f', 'two', 'TWO')"))
    host.editor.open(path, "zero\n" + OLD)
    host.app.receive("preview_open", {"path": path + "other"})
    host.app.receive("preview_open", {"path": path})
    again = await host.editor.until_event(Preview, 2)
    assert (again.hunks, again.state) == ([PreviewHunk(2, 1, ["TWO"])], "state 2")
    assert len(host.of(Preview)) == 2


async def test_several_files_in_one_request(host: Host) -> None:
    first, second = write(host), write(host, "a\n", "g")
    shown = await previews(host, asking("diff('g', 'a', 'b')", WHOLE, "diff('g', 'b', 'c')"), 2)
    assert [(one.path, one.hunks) for one in shown] == [(second, [PreviewHunk(0, 1, ["c"])]), (first, BOTH)]
    assert len({one.request for one in shown}) == 1


async def test_a_file_that_is_not_there_yet(host: Host) -> None:
    shown = await preview(host, asking("diff('sub/new', None, 'a\\nb\\n')"))
    assert (shown.operation, shown.exists, shown.hunks) == ("add", False, [PreviewHunk(0, 0, ["a", "b"])])


async def test_a_file_that_would_be_written_anew(host: Host) -> None:
    write(host)
    shown = await preview(host, asking(f"diff('f', None, {NEW!r})"))
    assert (shown.operation, shown.exists, shown.hunks) == ("add", True, BOTH)


async def test_what_is_not_in_the_file_is_said(host: Host) -> None:
    write(host)
    shown = await preview(host, asking("diff('f', 'seven', 'SEVEN')"))
    assert (shown.hunks, shown.note) == ([], "what the agent shows of it cannot be found in the file")


async def test_what_is_not_all_in_the_file_is_shown_as_far_as_it_is(host: Host) -> None:
    write(host)
    shown = await preview(host, asking("diff('f', 'seven', 'SEVEN')", "diff('f', 'two', 'TWO')"))
    assert (shown.hunks, shown.note) == (BOTH[:1], "1 of 2 changes cannot be found in the file")


async def test_what_the_file_is_already_is_said(host: Host) -> None:
    write(host, NEW)
    shown = await preview(host, asking(WHOLE))
    assert (shown.hunks, shown.note) == ([], "the file is like that already")


async def test_a_part_of_a_file_that_is_not_there(host: Host) -> None:
    shown = await preview(host, asking("diff('f', 'two', 'TWO')"))
    assert (shown.exists, shown.hunks, shown.note) == (False, [], "there is no such file")


async def test_a_file_that_is_no_text(host: Host) -> None:
    (host.cwd / "f").mkdir()
    shown = await preview(host, asking(WHOLE))
    assert (shown.exists, shown.hunks) == (True, [])
    assert shown.note is not None
    assert "directory" in shown.note


async def test_what_is_too_large_is_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    write(host)
    monkeypatch.setattr("acp_nvim.hunks.locate.PREVIEW_CHARS", len(NEW) - 1)
    assert (await preview(host, asking(WHOLE))).note == "the change is too large for a preview"


async def test_too_many_changes_are_said(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    write(host)
    monkeypatch.setattr("acp_nvim.hunks.locate.PREVIEW_CHANGES", 1)
    shown = await preview(host, asking("diff('f', 'one', 'ONE')", "diff('f', 'two', 'TWO')"))
    assert (shown.hunks, shown.note) == ([], "2 changes are too many for a preview")


async def test_requests_without_a_diff_have_none(host: Host) -> None:
    write(host)
    host.script(
        script("""
        prompt.ask("a", content=[diff("../f", "a", "b")])
        prompt.ask("b", title="ls")
        prompt.ask("c", content=[diff("f", "two", "TWO")])
        """)
    )
    host.open()
    host.prompt("go")
    for count in (1, 2):
        asked = await host.editor.until_event(events.Permission, count)
        host.answer(asked.request.id, "allow")
    last = await host.editor.until_event(events.Permission, 3)
    await host.until(
        "the last preview",
        lambda: host.editor.all(Preview)[-1:] and host.editor.all(Preview)[-1].request == last.request.id,
    )
    seen = {one.request for one in host.editor.all(Preview)}
    assert asked.request.id not in seen
    # the first, of a file that is watched because the request names it, may have been answered before it was shown
    assert {one.request for one in host.of(PreviewDone)} == seen - {last.request.id}


# --- version 2 -------------------------------------------------------------------------------------------------------

PATCH = """
diff --git a/f b/f
--- a/f
+++ b/f
@@ -1,3 +1,3 @@
 one
-two
+TWO
 three
@@ -5,1 +5,2 @@
 five
+six
"""


def v2(changes: str, patch: str | None = None) -> str:
    """A script of version 2 that asks with this diff."""
    more = "" if patch is None else f', "patch": {{"format": "git_patch", "text": {patch.lstrip()!r}}}'
    return f"""
        CAPABILITIES = {{"session": {{}}}}
        INITIALIZE = {{"protocolVersion": 2, "info": {{"name": "v2", "version": "1"}}, "capabilities": CAPABILITIES}}

        def p(name):
            return os.path.join(os.getcwd(), name)

        def turn(agent, prompt):
            prompt.update("state_update", state="running")
            content = [{{"type": "diff", "changes": {changes}{more}}}]
            subject = {{"type": "tool_call", "toolCall": {{"toolCallId": "c", "title": "T", "content": content}}}}
            options = [{{"optionId": "allow", "name": "Allow", "kind": "allow_once"}}]
            prompt.request("session/request_permission", title="T?", subject=subject, options=options)
            prompt.update("state_update", state="idle", stopReason="end_turn")
            return {{}}
        """


async def preview_v2(host: Host, source: str, count: int = 1) -> list[Preview]:
    """Return the previews of an agent of version 2."""
    host.hello(protocol={"v2": True})
    host.script(source)
    host.open()
    host.prompt("go")
    await host.editor.until_event(Preview, count)
    return host.of(Preview)


async def test_a_patch_of_version_2(host: Host) -> None:
    path = write(host)
    change = '[{"path": p("f"), "operation": "modify", "fileType": "text"}]'
    patch = PATCH.replace("a/f", path).replace("b/f", path)
    [shown] = await preview_v2(host, v2(change, patch))
    assert (shown.path, shown.operation, shown.hunks) == (path, "modify", BOTH)


async def test_a_patch_that_names_its_files_itself(host: Host) -> None:
    path = write(host)
    [shown] = await preview_v2(host, v2("[]", PATCH))
    assert (shown.path, shown.hunks) == (path, BOTH)


async def test_what_has_no_lines(host: Host) -> None:
    gone, moved, binary = write(host), write(host, "a\n", "g"), write(host, "b", "i.png")
    changes = (
        '[{"path": p("f"), "operation": "delete", "fileType": "text"},'
        ' {"path": p("h"), "operation": "move", "oldPath": p("g"), "fileType": "text"},'
        ' {"path": p("i.png"), "operation": "modify", "fileType": "binary"},'
        ' {"path": p("../x"), "operation": "delete"}]'
    )
    shown = await preview_v2(host, v2(changes), 4)
    assert [(one.path, one.operation, one.exists, one.hunks, one.note) for one in shown] == [
        (gone, "delete", True, [PreviewHunk(0, 5, [])], None),
        (os.path.join(os.path.dirname(moved), "h"), "move", True, [], None),
        (binary, "modify", True, [], "binary file"),
        (os.path.join(os.path.dirname(os.path.dirname(moved)), "x"), "delete", False, [], None),
    ]
    assert [one.old_path for one in shown] == [None, moved, None, None]


# --- the end ---------------------------------------------------------------------------------------------------------


async def done(host: Host) -> list[tuple[int, bool]]:
    """What was told of the end of previews, once there is something: the requests, and whether they were previewed."""
    await host.editor.until_event(PreviewDone)
    known = {one.request for one in host.of(Preview)}
    return [(one.request, one.request in known) for one in host.of(PreviewDone)]


async def test_an_answer_ends_it(host: Host) -> None:
    write(host)
    shown = await preview(host, asking(WHOLE))
    host.answer(shown.request, "allow")
    await host.editor.until_event(events.TurnEnd)
    assert await done(host) == [(shown.request, True)]
    kinds = [type(event) for event in host.editor.events]
    assert kinds.index(PreviewDone) > kinds.index(Preview)


async def test_an_agent_that_takes_it_back_ends_it(host: Host) -> None:
    write(host)
    shown = await preview(
        host,
        f"""
        shown = {{"toolCallId": "c", "content": [{WHOLE}]}}
        asked = {{"sessionId": prompt.session_id, "toolCall": shown, "options": []}}
        call = agent.call("session/request_permission", asked, 77)
        while not os.path.exists(p("go")): time.sleep(0.01)
        agent.notify("$/cancel_request", {{"requestId": 77}})
        """,
    )
    (host.cwd / "go").touch()
    await host.editor.until_event(events.TurnEnd)
    assert await done(host) == [(shown.request, True)]


async def test_a_cancelled_turn_ends_it_and_what_is_asked_then_has_none(host: Host) -> None:
    write(host)
    body = f"""
        {asking(WHOLE)}
        {asking(WHOLE)}
        return "cancelled"
        """
    shown = await preview(host, body)
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert len(host.of(events.Permission)) == 2
    assert await done(host) == [(shown.request, True)]
    assert len(host.of(Preview)) == 1


@pytest.mark.parametrize("end", ["agent.exit(3)", "stop"])
async def test_without_its_agent_it_ends(host: Host, end: str) -> None:
    write(host)
    body = f"""
        shown = {{"toolCallId": "c", "content": [{WHOLE}]}}
        asked = {{"sessionId": prompt.session_id, "toolCall": shown, "options": []}}
        agent.call("session/request_permission", asked)
        while not os.path.exists(p("go")): time.sleep(0.01)
        {"agent.exit(3)" if end != "stop" else "return"}
        """
    shown = await preview(host, body)
    if end == "stop":
        host.stop()
    (host.cwd / "go").touch()
    assert await done(host) == [(shown.request, True)]
    await host.until("the end", lambda: host.status() is not None and host.status().pending_permissions == 0)
    assert len(host.of(PreviewDone)) == 1


# --- meanwhile -------------------------------------------------------------------------------------------------------


async def test_a_call_that_changes_while_it_waits_is_told_again(host: Host) -> None:
    path, other = write(host), write(host, "a\n", "g")
    shown = await previews(
        host,
        f"""
        shown = {{"toolCallId": "c", "content": [{WHOLE}]}}
        asked = {{"sessionId": prompt.session_id, "toolCall": shown, "options": []}}
        agent.call("session/request_permission", asked)
        while not os.path.exists(p("go")): time.sleep(0.01)
        prompt.tool_update("c", title="The same")
        prompt.tool_update("c", content=[diff("g", "a", "b")])
        prompt.wait_cancelled()
        """,
    )
    (host.cwd / "go").touch()
    await host.editor.until_event(Preview, 3)
    assert [(one.path, one.operation, one.hunks) for one in host.of(Preview)] == [
        (path, "modify", BOTH),
        (path, "none", []),
        (other, "modify", [PreviewHunk(0, 1, ["b"])]),
    ]
    assert len({one.request for one in shown}) == 1
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert len(await done(host)) == 1


class Slow:
    """The host's editor answers to what it is asked of buffers when it is allowed to."""

    def __init__(self, host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = 0
        self.go = anyio.Event()
        self._read = host.editor.read_buffer
        monkeypatch.setattr(host.editor, "read_buffer", self.read)

    async def read(self, path: str, known: str) -> Any:
        self.asked += 1
        await self.go.wait()
        return await self._read(path, known)


async def test_what_is_over_before_it_is_found_is_not_told(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    write(host)
    slow = Slow(host, monkeypatch)
    host.script(script(asking(WHOLE) + "\n" + asking("diff('f', 'four', 'FOUR')")))
    host.open()
    host.prompt("go")
    asked = await host.editor.until_event(events.Permission)
    await host.until("a look at the buffer", lambda: slow.asked)
    host.answer(asked.request.id, "allow")
    second = await host.editor.until_event(events.Permission, 2)
    slow.go.set()
    shown = await host.editor.until_event(Preview)
    assert (shown.request, shown.hunks) == (second.request.id, [PreviewHunk(3, 1, ["FOUR"])])
    host.answer(shown.request, "allow")
    assert await done(host) == [(shown.request, True)]


async def test_what_is_news_before_it_is_found_is_told_once(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    write(host)
    slow = Slow(host, monkeypatch)
    host.script(
        script(f"""
        shown = {{"toolCallId": "c", "content": [{WHOLE}]}}
        agent.call("session/request_permission", {{"sessionId": prompt.session_id, "toolCall": shown, "options": []}})
        while not os.path.exists(p("go")): time.sleep(0.01)
        prompt.tool_update("c", content=[diff("f", "four", "FOUR")])
        prompt.wait_cancelled()
        """)
    )
    host.open()
    host.prompt("go")
    await host.until("a look at the buffer", lambda: slow.asked)
    (host.cwd / "go").touch()
    await host.until("the other diff", lambda: "FOUR" in repr(host.calls()))
    slow.go.set()
    shown = await host.editor.until_event(Preview)
    assert shown.hunks == [PreviewHunk(3, 1, ["FOUR"])]
    host.cancel()
    await host.editor.until_event(events.TurnEnd)
    assert len(host.of(Preview)) == 1


async def test_whoever_wants_everything_again_gets_it_too(host: Host) -> None:
    write(host)
    shown = await preview(host, asking(WHOLE))
    host.app.receive("redraw", {"session": 1})
    assert await host.editor.until_event(Preview, 2) == shown
    kinds = [type(event) for event in host.editor.events]
    assert kinds.index(events.Reset) < len(kinds) - 1 - kinds[::-1].index(Preview)
    host.answer(shown.request, "allow")
    await host.editor.until_event(events.TurnEnd)
    host.app.receive("redraw", {"session": 1})
    assert (len(host.of(Preview)), len(host.of(PreviewDone))) == (2, 1)


async def test_two_requests_have_their_own(host: Host) -> None:
    write(host)
    shown = await previews(
        host,
        """
        calls = [agent.call("session/request_permission", {"sessionId": prompt.session_id, "options": [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"}],
            "toolCall": {"toolCallId": new, "content": [diff("f", old, new)]}}) for old, new in
            [("two", "TWO"), ("four", "FOUR")]]
        for call in calls:
            call.result()
        """,
        2,
    )
    shown.sort(key=lambda one: one.request)
    assert [one.hunks for one in shown] == [[PreviewHunk(1, 1, ["TWO"])], [PreviewHunk(3, 1, ["FOUR"])]]
    host.answer(shown[1].request, "yes")
    assert await done(host) == [(shown[1].request, True)]
    host.answer(shown[0].request, "yes")
    await host.editor.until_event(PreviewDone, 2)


async def test_of_a_large_change_the_lines_are_told_when_they_are_asked_for(host: Host) -> None:
    path = write(host, "".join(f"line {n} of a long text\n" for n in range(5000)))
    body = """
        old = open(p("f")).read()
        prompt.ask("c", title="T", kind="edit", content=[diff("f", old, old.replace("line 7 ", "LINE 7 "))])
    """
    told = await preview(host, body)
    assert (told.large, told.hunks, told.exists) == (True, [], True)
    host.app.receive("preview_open", {"path": path})
    await host.editor.until_event(Preview, 2)
    told = host.of(Preview)[-1]
    assert (told.large, told.hunks) == (False, [PreviewHunk(7, 1, ["LINE 7 of a long text"])])

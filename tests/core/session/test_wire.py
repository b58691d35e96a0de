"""Whatever else agents put on the wire: noise, unknown names, early and malformed messages; the turn goes on."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.contract import events
from acp_nvim.limits import TROUBLES
from acp_nvim.transcript.presenter import UNKNOWN_UPDATE
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


NOISE = [
    b"Debugger listening on ws://127.0.0.1\n",
    b"\x1b[33mwarn\x1b[0m\n",
    b"{\n",
    b"\xff\xfe\n",
    b"[]\n",
    b"\n\r\n",
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n',
    b'{"jsonrpc":"2.0","error":{"code":-32601,"message":"Method not found","data":"unknown/notification"}}\n',
    b'{"jsonrpc":"2.0","id":99,"result":{}}\n',
    b'{"jsonrpc":"2.0","method":"_auth/status_update","params":{"sessionId":"other"}}\n',
    b'{"jsonrpc":"2.0","method":"qwen/notify/session/mode-update"}\n',
    b'{"jsonrpc":"2.0","method":"session/update"}\n',
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-1","update":{"sessionUpdate":"plan"}}}\n',
    b'{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"session-9","update":{"sessionUpdate":"x"}}}\n',
]


async def test_noise_changes_nothing(host: Host) -> None:
    host.script(f"""
        LINES = {NOISE!r}

        def turn(agent, prompt):
            prompt.say("before ")
            agent.raw(LINES[int(prompt.text)])
            prompt.say("after ")
    """)
    for number, line in enumerate(NOISE):
        assert await host.turn(str(number)) == "end_turn", line
        assert host.text() == "before after " * (number + 1), line
        assert host.editor.all(events.Error) == [], line


async def test_noise_on_stderr_is_no_failure(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            agent.stderr("Traceback (most recent call last):\\n" * 2000)
            prompt.say("fine")
    """)
    assert await host.turn() == "end_turn"
    assert (host.text(), host.notices()) == ("fine", [])


@pytest.mark.parametrize("string_ids", [True, False])
async def test_an_unknown_request_is_refused_with_method_not_found(host: Host, string_ids: bool) -> None:
    methods = ["craft/drainMidTurnQueue", "elicitation/complete", "_x", "initialize"]
    host.script(f"""
        STRING_IDS = {string_ids}
        def turn(agent, prompt):
            for method in {methods}:
                try:
                    prompt.request(method)
                except Error as error:
                    agent.note(method=method, code=error.code, data=error.data)
    """)
    await host.turn()
    assert host.scripts["it"].notes("method") == methods
    assert host.scripts["it"].notes("code") == [-32601] * len(methods)
    assert host.scripts["it"].notes("data") == [{"method": method} for method in methods]


async def test_a_request_of_no_session_is_refused_with_invalid_params(host: Host) -> None:
    given: list[Any] = [None, {}, {"sessionId": 5}, {"sessionId": "nobody"}, []]
    requests = [["fs/read_text_file", one] for one in given]
    host.script(f"""
        def turn(agent, prompt):
            for method, params in {requests!r}:
                try:
                    agent.request(method, params)
                except Error as error:
                    agent.note(refused=[method, params, error.code])
    """)
    await host.turn()
    assert host.scripts["it"].notes("refused") == [[*one, -32602] for one in requests]


async def test_a_permission_is_never_refused_with_an_error(host: Host) -> None:
    good = {"sessionId": "session-1", "toolCall": {"toolCallId": "c"}, "options": []}
    given: list[Any] = [None, {}, {"sessionId": 5}, {"sessionId": "nobody"}, [], {**good, "toolCall": 5}]
    given += [{**good, "sessionId": "nobody"}, {**good, "options": "all"}, {**good, "toolCall": {"toolCallId": 2**70}}]
    host.script(f"""
        def turn(agent, prompt):
            for params in {given!r}:
                agent.note(answer=agent.request("session/request_permission", params))
    """)
    await host.turn()
    assert host.scripts["it"].notes("answer") == [{"outcome": {"outcome": "cancelled"}}] * len(given)
    assert any("sent something malformed" in text for text in host.notices())
    assert any("integer of more than 64 bits" in text for text in host.notices())
    assert host.of(events.Permission) == []


async def test_updates_before_the_answer_to_session_new_are_shown_after_it(host: Host) -> None:
    host.script("""
        def session_new(agent, request):
            agent.update("mine", {"sessionUpdate": "usage_update", "used": 1, "size": 2})
            agent.flood("mine", [f"{number} " for number in range(500)])
            return {"sessionId": "mine"}
    """)
    host.open()
    await host.until_state("idle")
    await host.until("the early words", lambda: host.text() == "".join(f"{number} " for number in range(500)))
    kinds = [type(event) for event in host.editor.events]
    assert kinds.index(events.SessionReady) < kinds.index(events.Append)
    status = host.status()
    assert status is not None
    assert status.usage == events.Usage(1, 2)


async def test_a_request_right_after_the_answer_to_session_new_is_served(host: Host) -> None:
    (host.cwd / "AGENTS.md").write_text("be kind")
    host.script(f"""
        def session_new(agent, request):
            request.reply({{"sessionId": "mine"}})
            path = {str(host.cwd / "AGENTS.md")!r}
            try:
                agent.note(read=agent.request("fs/read_text_file", {{"sessionId": "mine", "path": path}}))
            except Error as error:
                agent.note(read=error.message)
            return NO_ANSWER
    """)
    host.open()
    assert await host.until_note("read") == [{"content": "be kind"}]


async def test_an_update_of_an_unknown_kind_is_a_line_and_its_rest_is_passed_over(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.update("next_edit", suggestions=[1])
            prompt.say("on")
    """)
    await host.turn()
    assert host.notices() == [UNKNOWN_UPDATE]
    assert host.text() == "on"


async def test_updates_of_unknown_kinds_do_not_fill_the_chat(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for number in range(100):
                prompt.update("same")
            for number in range(100):
                prompt.update(f"kind {number}")
            prompt.say("on")
    """)
    await host.turn()
    assert host.notices() == [UNKNOWN_UPDATE]
    assert host.log_path.read_text().count("unknown kind") == TROUBLES
    assert host.text() == "on"


async def test_notices_of_the_agent_are_lines_of_their_level(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.update("notice", severity="warning", title="Slow", description="The provider is busy.")
            prompt.update("notice", severity="error", title="Bad")
            prompt.update("notice", severity="whisper", title="Psst")
            prompt.update("compaction_update", compactionId="k", status="failed", error="too long")
            said = [{"type": "text", "text": "Done."}]
            prompt.update("session_message", messageId="m1", senderSessionId="child", content=said)
            prompt.update("session_message", messageId="m2", recipientSessionId="child", content=said)
            prompt.update("session_message", messageId="m2", recipientMessageId="m3")
    """)
    await host.turn()
    assert [(event.level, event.text) for event in host.of(events.Notice)] == [
        ("warn", "Slow\nThe provider is busy."),
        ("error", "Bad"),
        ("info", "Psst"),
        ("info", "Compaction of the conversation: failed: too long"),
        ("info", "Message from session child: Done."),
        ("info", "Message to session child: Done."),
    ]


async def test_messages_with_ids_are_kept_apart_and_empty_chunks_show_nothing(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("", messageId="a")
            prompt.say("one ", messageId="a")
            prompt.say("two ", messageId="b")
            prompt.say("of one", messageId="a")
            prompt.say("")
    """)
    await host.turn()
    shown: dict[int, str] = {}
    for event in host.of(events.Append):
        if event.kind == "agent":
            shown[event.block] = shown.get(event.block, "") + event.text
    assert list(shown.values()) == ["one of one", "two "]


async def test_a_line_of_half_a_megabyte_and_half_a_character_are_taken(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("x" * 600_000)
            prompt.say("\\ud83d")
            prompt.say("\\ude00!")
    """)
    await host.turn()
    assert host.text() == "x" * 600_000 + "\U0001f600!"


@pytest.mark.parametrize(
    ("code", "message", "data", "words"),
    [
        (-32603, "Internal error", {"details": "provider is down"}, ": provider is down"),
        (400, '{"error":{"code":400}}', None, ""),
        (-31002, "retry later", ["x"], ": retry later"),
    ],
)
async def test_an_error_answer_to_a_prompt_is_told_and_the_session_goes_on(
    host: Host, code: int, message: str, data: Any, words: str
) -> None:
    host.script(f"""
        def turn(agent, prompt):
            if prompt.text == "bad":
                raise Error({code}, {message!r}, {data!r})
            prompt.say("fine")
    """)
    assert await host.turn("bad") == "error"
    error = await host.editor.until_event(events.Error)
    assert (error.code, error.text) == (
        "turn_failed",
        f"Agent 'it' failed on this prompt{words}. You can prompt again; :AcpLog shows what it said.",
    )
    assert f"session/prompt was refused: {message!r} (code {code})" in host.log_path.read_text()
    assert await host.turn("good") == "end_turn"
    assert host.text() == "fine"
    assert len(host.scripts["it"].notes("started")) == 1


KNOWN = "You can prompt again; :AcpLog shows what it said."
MAY = f"If it wants a sign-in: :AcpLogin. {KNOWN}"
STUCK = "Sign in (:AcpLogin), then :AcpStop: your next prompt starts a new process of it. :AcpLog shows what it said."


@pytest.mark.parametrize(
    ("turns", "steps"),
    [
        (["a", "a", "a"], [MAY, STUCK, STUCK]),
        (["a", "b", "a"], [MAY, MAY, MAY]),
        (["a", "fine", "a"], [MAY, MAY]),
        (["works a", "works a"], [MAY, MAY]),
        (["other", "other"], [KNOWN, KNOWN]),
    ],
)
async def test_a_session_that_fails_for_a_sign_in_again_is_to_get_a_new_process(
    host: Host, turns: list[str], steps: list[str]
) -> None:
    host.script("""
        def turn(agent, prompt):
            if prompt.text.startswith("works"):
                prompt.say("working")
            if prompt.text != "fine":
                words = "no model" if prompt.text == "other" else f"401 Unauthorized: {prompt.text[-1]}"
                raise Error(-32603, words)
    """)
    for text in turns:
        await host.turn(text)
    assert [one.text.partition(". ")[2] for one in host.editor.all(events.Error)] == steps


async def until_errors(host: Host, count: int) -> list[events.Error]:
    await host.until(f"{count} errors", lambda: len(host.editor.all(events.Error)) == count)
    return host.editor.all(events.Error)


async def test_a_sign_in_that_did_not_help_is_to_be_followed_by_a_new_process(host: Host) -> None:
    host.script('def turn(agent, prompt): raise Error(-32000, "Authentication required")')
    await host.turn()
    await host.editor.until_event(events.Error)
    host.prompt("again")
    first, second = [one.text for one in await until_errors(host, 2)]
    assert ":AcpStop" not in first
    assert "then :AcpStop: your next prompt starts a new process" in second


async def test_a_sign_in_that_is_needed_in_the_middle_is_told(host: Host) -> None:
    host.script('def turn(agent, prompt): raise Error(-32000, "Authentication required")')
    assert await host.turn() == "error"
    assert (await host.editor.until_event(events.Error)).code == "auth_required"


async def test_a_result_without_a_stop_reason_ends_the_turn_in_words(host: Host) -> None:
    host.script('def turn(agent, prompt): return {"usage": None}')
    assert await host.turn() == "error"
    error = await host.editor.until_event(events.Error)
    assert "was asked to take the prompt, and answered something that acp_nvim does not understand" in error.text
    assert "stopReason" in host.log_path.read_text()


async def test_a_second_answer_to_a_prompt_changes_nothing(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.reply({"stopReason": "end_turn"})
            return "refusal"
    """)
    await host.turn()
    await host.turn("again")
    assert [end.stop_reason for end in host.of(events.TurnEnd)] == ["end_turn", "end_turn"]


async def test_an_agent_that_reads_slowly_holds_up_nobody(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say(str(len(prompt.text)))
    """)
    await host.turn("x" * 3_000_000)
    assert host.text() == "3000000"

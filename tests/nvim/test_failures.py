"""Whatever is wrong with an agent, the words name it, say what failed and what to do; and the editor goes on."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

Start = Callable[..., HeadlessEditor]


def words(nvim: HeadlessEditor, *parts: str) -> str:
    """Wait until the chat holds all of the parts; check that a message was shown too, and that the editor goes on."""
    nvim.wait_until(lambda: all(part in nvim.chat_text() for part in parts), what=f"words with {parts}")
    nvim.wait_until(lambda: nvim.messages(), what="a message as well")
    chat = nvim.chat_text()
    assert "Traceback" not in chat + nvim.printed()
    assert nvim.lua("return vim.api.nvim_get_mode().blocking") is False
    nvim.command("enew | put ='still usable'")
    return chat


def opened(start: Start, command: list[str], **config: object) -> HeadlessEditor:
    nvim = start(agents={"broken": {"command": command}}, config=config)
    nvim.lua('require("acp_nvim").prompt("are you there?")')
    return nvim


def test_a_command_that_is_not_there(editor: Start) -> None:
    nvim = opened(editor, ["no-such-program-anywhere", "--acp"])
    chat = words(nvim, "'broken'", "'no-such-program-anywhere' was not found", "agents.broken.command")
    assert "Your prompt is kept" in chat
    assert nvim.lua('return require("acp_nvim").status().state') == "failed"
    assert nvim.lua('return require("acp_nvim").status().queue') == 1


def test_an_agent_that_exits_at_once(editor: Start) -> None:
    code = "import sys; print('first line\\nno key is set', file=sys.stderr); sys.exit(7)"
    nvim = opened(editor, [sys.executable, "-S", "-c", code])
    words(nvim, "'broken' ended with exit code 7", "first line", "no key is set", "next prompt starts it again")


def test_an_agent_that_prints_text(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def start(agent):
            agent.raw(b"Welcome to the agent!\\n\\x1b[31mred\\xff\\n{not json\\n\\n")
        """,
    )
    nvim = opened(editor, script.argv)
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "You said: are you there?" in nvim.chat_text()
    nvim.command("AcpLog")
    assert "not a JSON-RPC message" in nvim.buffer_text()
    assert "Welcome to the agent!" in nvim.buffer_text()


def test_a_program_that_only_prints_text(editor: Start) -> None:
    nvim = opened(editor, ["sh", "-c", "echo usage: me --help; exit 2"])
    words(nvim, "'broken' ended with exit code 2")


def test_another_protocol_version(editor: Start, tmp_path: Path) -> None:
    nvim = opened(editor, agent_script(tmp_path, 'INITIALIZE = {"protocolVersion": 9}').argv)
    words(nvim, "'broken' speaks ACP version 9", "acp_nvim speaks version 1", "Update acp_nvim")


def test_an_agent_that_never_answers(editor: Start, tmp_path: Path) -> None:
    script = agent_script(tmp_path, "def initialize(agent, request): return NO_ANSWER")
    nvim = opened(editor, script.argv, timeouts={"initialize": 300})
    words(nvim, "'broken' was started, did not answer within 0.3 s", "timeouts.initialize")
    nvim.wait_until(lambda: not [one for one in nvim.family() if str(script.path) in one.command])


def test_an_agent_that_dies_in_a_turn(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            prompt.tool("t", "Work", status="in_progress")
            prompt.say("I was about to")
            agent.stderr("panic: out of cheese\\n")
            agent.exit(3)
        """,
    )
    nvim = opened(editor, script.argv)
    words(nvim, "I was about to", "'broken' ended with exit code 3", "panic: out of cheese")
    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "error"
    assert "[in_progress]" not in nvim.chat_text()
    assert nvim.events("AcpError")[0]["agent"] == "broken"
    nvim.lua('require("acp_nvim").prompt("again")')
    nvim.wait_until(lambda: nvim.chat_text().count("I was about to") == 2)


def test_an_agent_that_wants_a_sign_in(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path, 'def session_new(agent, request): raise Error(-32000, "Authentication required", None)'
    )
    words(opened(editor, script.argv), "'broken' wants you to sign in first", "Authentication required")


def test_a_name_that_nobody_has(editor: Start) -> None:
    nvim = editor(agents={"claude": {"command": ["claude-agent-acp"]}, "gemini": {"command": ["gemini", "--acp"]}})
    nvim.command("AcpChat gemni")
    said = nvim.wait_until(lambda: "\n".join(nvim.messages()))
    for part in ("gemni", "gemini", "claude", "demo"):
        assert part in said
    assert nvim.chat_buffer() is None


def test_a_config_key_that_does_not_exist(editor: Start) -> None:
    nvim = editor(agents={}, config={"folow": {"enabled": True}, "fs": {"wirte": "buffer"}})
    nvim.command("AcpChat demo")
    nvim.wait_until(lambda: len(nvim.messages()) >= 2 or "wirte" in "".join(nvim.messages()))
    said = "\n".join(nvim.messages())
    for part in ('folow: no such option; did you mean "follow"?', 'fs.wirte: no such option; did you mean "write"?'):
        assert part in said
    nvim.wait_until('require("acp_nvim").status().state == "idle"')


def test_a_config_of_the_wrong_shape(editor: Start) -> None:
    nvim = editor(agents={"odd": "just-a-string"}, config={"ui": {"width": "wide"}, "follow": True})
    nvim.command("AcpChat")
    nvim.wait_until(lambda: all(part in "\n".join(nvim.messages()) for part in ("odd", "ui.width", "follow")))
    assert "Traceback" not in nvim.printed()
    assert "stack traceback" not in nvim.printed()


def test_a_state_directory_that_cannot_be_made_stops_nothing(editor: Start, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    script = agent_script(tmp_path, """def turn(agent, prompt): prompt.say("hello")""")
    nvim = editor(agents={"it": {"command": script.argv}}, env={"XDG_STATE_HOME": str(tmp_path / "file")})
    nvim.command("AcpPrompt hi")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert "hello" in nvim.chat_text()


def test_what_was_queued_when_an_agent_died_is_not_forgotten(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            if prompt.text == "die":
                agent.note(waiting=os.getpid())
                return NO_ANSWER
            prompt.say("this is the answer to " + prompt.text)
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command("AcpPrompt die")
    nvim.command("AcpPrompt next")
    nvim.wait_until('require("acp_nvim").status().queue == 1')
    os.kill(script.wait_note("waiting")[0], signal.SIGKILL)
    words(nvim, "ended by signal SIGKILL", "Queued prompts are kept")
    nvim.command("AcpChat")
    nvim.wait_until(lambda: "this is the answer to next" in nvim.chat_text(), what="the answer to what was queued")


@pytest.mark.parametrize("after_turn", [False, True])
def test_turns_that_end_with_the_host_are_told_of(editor: Start, tmp_path: Path, after_turn: bool) -> None:
    """Once each; a turn that has ended before is not told of again."""
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            if prompt.text == "wait":
                agent.note(waiting=os.getpid())
                return NO_ANSWER
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}})
    nvim.command("AcpPrompt hello" if after_turn else "AcpPrompt wait")
    if after_turn:
        nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    else:
        script.wait_note("waiting")
    os.kill(nvim.lua('return vim.fn.jobpid(require("acp_nvim.host").channel())'), signal.SIGKILL)
    nvim.wait_until(lambda: nvim.events("AcpError"), what="the end of the host")
    ends = [(one["stop_reason"], one["background"]) for one in nvim.events("AcpTurnEnd")]
    assert ends == [("end_turn" if after_turn else "error", False)]
    assert nvim.lua('return require("acp_nvim").status().state') == "failed"

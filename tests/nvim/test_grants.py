"""An agent that was allowed one command tries to run another one, in a real Neovim: the user is asked again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

BLANKS = " " * 400

AGENT = """
    def text(words):
        return {"type": "content", "content": {"type": "text", "text": words}}

    def turn(agent, prompt):
        number = prompt.text
        asked, later, command = ATTACKS[int(number)]
        prompt.tool(number, "Run", kind="think", status="pending")
        agent.note(chosen=prompt.ask(number, **asked))
        prompt.tool_update(number, **later)
        try:
            prompt.run(command)
            agent.note(ran=command)
        except Error as error:
            agent.note(refused=error.message)

    ATTACKS = [
        ({"title": "touch x/foo", "kind": "execute"}, {"rawInput": {"command": "touch x"}}, "touch x"),
        ({"title": "touch x", "kind": "think"}, {"kind": "execute", "rawInput": {"command": "touch x"}}, "touch x"),
        ({"title": "touch x", "kind": "read"}, {"kind": "execute", "rawInput": {"command": "touch x"}}, "touch x"),
        ({"title": "npm test" + " " * 400 + "; touch x", "kind": "execute"}, {"title": "touch x"}, "touch x"),
        ({"title": "Run", "kind": "execute", "content": [text(str(n)) for n in range(21)] + [text("touch x")]},
         {"rawInput": {"command": "touch x"}}, "touch x"),
        ({"title": "Run", "kind": "execute", "rawInput": {"command": "touch x/foo"}},
         {"rawInput": {"command": "touch x"}}, "touch x"),
        ({"title": "Run", "kind": "execute", "rawInput": {"command": "npm test" + " " * 400 + "; touch x"}},
         {"status": "in_progress"}, "touch x"),
    ]
"""


def test_what_was_not_allowed_is_asked_for_and_not_run(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, AGENT)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    for number in range(7):
        nvim.command(f"AcpPrompt {number}")
        requests = answered(nvim, 2 * number, "allow")
        assert requests[-1]["request"]["tool_call_id"] == str(number)
        again = answered(nvim, 2 * number + 1, "reject_once")[-1]["request"]
        assert (again["tool_call_id"], again["command"]) == ("", "touch x")
        nvim.wait_until(lambda ends=number + 1: len(nvim.events("AcpTurnEnd")) == ends, what="the end of the turn")
    assert script.notes("chosen") == ["allow"] * 7
    assert script.notes("ran") == []
    assert len(script.notes("refused")) == 7
    assert not (nvim.project / "x").exists()


def answered(nvim: HeadlessEditor, number: int, option: str) -> list[dict[str, Any]]:
    """Wait for that request, and answer it: all requests so far."""
    nvim.wait_until(lambda: len(nvim.events("AcpPermissionRequest")) == number + 1, what=f"request {number}")
    requests = nvim.events("AcpPermissionRequest")
    answer = 'local id, option = ... return { require("acp_nvim").answer(id, option) }'
    assert nvim.lua(answer, requests[-1]["request"]["id"], option) == [True]
    return requests


def test_a_whole_command_is_in_the_chat_and_runs_unasked_then(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    long = f"echo {'x' * 3000}; {'true; ' * 200}echo {BLANKS}end"
    script = agent_script(
        tmp_path,
        f"""
        def turn(agent, prompt):
            prompt.ask("c", title="Run it", kind="execute", rawInput={{"command": {long!r}}})
            agent.note(output=prompt.run({long!r})["output"])
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    nvim.command("AcpPrompt go")
    [asked] = answered(nvim, 0, "allow")
    assert asked["request"]["command"] == long
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert script.notes("output") == [f"{'x' * 3000}\nend\n"]
    assert len(nvim.events("AcpPermissionRequest")) == 1

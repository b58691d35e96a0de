"""What is seen of a running turn, from the agent to the screen: its plan, what it does, what it has used."""

from __future__ import annotations

from tests.support.agent_scripts import agent_script

TURN = """
    def turn(agent, prompt):
        prompt.update("session_info_update", title="Laundry 100%")
        prompt.update("usage_update", used=45100, size=200000, cost={"amount": 0.5, "currency": "USD"})
        prompt.plan(("Wash", "completed"), ("Dry", "in_progress"), ("Fold", "pending"))
        prompt.think("Which one?")
        prompt.tool("t", "Run the dryer", kind="execute", status="in_progress")
        prompt.ask("t", title="Run the dryer", kind="execute")
        prompt.tool_update("t", status="completed")
        prompt.plan(("Wash", "completed"), ("Dry", "completed"), ("Fold", "completed"))
        prompt.say("All is folded.")
"""


def pinned(editor):
    """The three lines above the prompt's own bar."""
    place = editor.find("? a permission waits")
    return place and [text[place[1] :].strip() for text in editor.rows()[place[0] - 4 : place[0] - 1]]


def test_a_turn_is_seen_while_it_runs_and_told_when_it_is_over(screen, tmp_path):
    script = agent_script(tmp_path, TURN)
    editor = screen(columns=200, rows=40, agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    editor.command("AcpChat")
    editor.type("ido it")
    editor.wait_for("do it")
    editor.type("\x1b")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "n", what="Normal mode")
    editor.type("\r")
    editor.wait_for("waiting for you")
    for words in ("? it waiting for you", "Laundry 100%", "1 to allow", "plan 1/3", "23%", "$0.50"):
        editor.wait_until(lambda: words in editor.rows()[0], what=words)  # noqa: B023  # used at once
    editor.wait_until(lambda: pinned(editor) == ["✓ Wash", "▸ Dry", "○ Fold"], what="the plan above the prompt")
    status = editor.lua('return require("acp_nvim").status()')
    assert (status["activity"], status["title"]) == ("Run the dryer", "Laundry 100%")
    assert status["usage"] == {"used": 45100, "size": 200000, "cost": 0.5, "currency": "USD"}
    editor.command("tabnew")
    editor.lua(
        "local one = require('acp_nvim').permissions()[1] require('acp_nvim').answer(one.id, one.options[1].option_id)"
    )
    editor.wait_for("acp_nvim: it is done (:AcpChat): Laundry 100%")
    status = editor.lua('return require("acp_nvim").status()')
    assert status["unread"] == 1
    assert "turn_started" not in status
    editor.command("tabprevious")
    assert editor.lua('return require("acp_nvim").status().unread') == 0
    editor.wait_for("All is folded.")
    assert "plan" not in editor.rows()[0]

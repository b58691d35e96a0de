"""News that come at the same time never ask for a key."""

from __future__ import annotations

import pytest

NEWS = """
local news = require("acp_nvim.message").news
for _, text in ipairs(...) do
  news(text)
end
"""


def said(editor):
    return [line for line in editor.api("exec2", "messages", {"output": True})["output"].splitlines() if line]


def test_each_is_said_once_and_nobody_is_asked_for_a_key(screen):
    editor = screen(columns=80, rows=20)
    editor.command("messages clear")
    editor.lua(NEWS, ["one", "two " * 100, "one", "three"])
    editor.wait_for("acp_nvim: three")
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert [line.split()[1] for line in said(editor)] == ["one", "two", "three"]
    editor.lua(NEWS, ["one"])
    editor.wait_for("acp_nvim: one")
    assert len(said(editor)) == 4


def test_what_is_typed_meanwhile_goes_on(screen):
    editor = screen(columns=80, rows=20)
    editor.type("ihello ")
    editor.lua(NEWS, ["one", "two"])
    editor.type("world")
    editor.wait_for("hello world")
    assert editor.api("get_mode") == {"mode": "i", "blocking": False}


LONG = "the first line says what was done\n" + "the second one is longer than the screen is wide: " + "word " * 12


@pytest.mark.parametrize("level", ["info", "warn", "error"])
@pytest.mark.parametrize("text", [LONG, "one line " * 20, "寬" * 70], ids=["lines", "long", "wide"])
def test_an_answer_of_several_lines_asks_for_no_key(screen, level, text):
    editor = screen(columns=80, rows=20)
    editor.command("messages clear")
    editor.lua(f'local text = ... require("acp_nvim.message").{level}(text)', text)
    editor.wait_for("… :messages")
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert "".join(said(editor)) == "acp_nvim: " + text.strip().replace("\n", "")


def test_what_a_rejection_has_left_alone_asks_for_no_key(screen):
    editor = screen(columns=80, rows=20)
    editor.command("AcpChat")
    editor.command("stopinsert")
    left = [
        {"path": str(editor.project / name), "by": by, "why": "the agent was not at work then"}
        for name, by in (("one.txt", "unknown"), ("two.txt", "unknown"), ("three.txt", "user"), ("four.txt", "state"))
    ]
    editor.command("messages clear")
    event = {"type": "judged", "action": "reject", "files": ["a.txt"], "undo_id": "1", "left": left}
    editor.lua('require("acp_nvim.events").apply(...)', [event])
    editor.wait_for("… :messages")
    assert editor.find("rejected: 1 file; undo it with :AcpRestore")
    assert editor.api("get_mode")["blocking"] is False
    told = "\n".join(said(editor))
    assert "left alone, because it is not known" in told
    assert "1 of the agent's own records" in told

"""News that come at the same time never ask for a key."""

from __future__ import annotations

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

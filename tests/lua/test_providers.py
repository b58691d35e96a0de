"""The picker for providers of models."""

from __future__ import annotations

import pytest

PLAY = """
_G.asked, _G.answers = {}, ...
local function take() return table.remove(_G.answers, 1) end
vim.ui.select = function(items, opts, choose)
  local lines = vim.tbl_map(opts.format_item, items)
  table.insert(_G.asked, { opts.prompt, lines })
  local index = take()
  choose(type(index) == "number" and items[index] or nil)
end
vim.ui.input = function(opts, on_input)
  table.insert(_G.asked, { opts.prompt, opts.default or vim.NIL })
  local typed = take()
  on_input(type(typed) == "string" and typed or nil)
end
vim.fn.inputsecret = function(opts) table.insert(_G.asked, { opts.prompt }) return take() end
"""
MAIN = {
    "id": "main",
    "supported": ["anthropic", "openai"],
    "required": True,
    "api_type": "anthropic",
    "base_url": "https://a",
}
OTHER = {"id": "other\nx", "supported": ["openai"], "required": False}
THIRD = {"id": "third", "supported": [], "required": False, "api_type": "_o", "base_url": "https://t"}


def play(editor, *answers, providers=(MAIN, OTHER, THIRD), **listed):
    """The command, with these answers of the user; returns what was asked."""
    editor.lua(PLAY, list(answers))
    editor.command("AcpProviders demo")
    [wanted] = editor.sent("providers_list")
    assert wanted["agent"] == "demo"
    event = {"type": "providers_listed", "id": wanted["id"], "providers": list(providers), **listed}
    editor.apply(event)
    return editor.lua("return _G.asked")


def test_a_required_provider_is_changed(editor):
    asked = play(editor, 1, 2, " https://b ", "Authorization", "Bearer x", "")
    assert asked[0] == ["Providers of demo:", ["main: anthropic at https://a (required)", "other: disabled",
                                              "third: _o at https://t"]]  # fmt: skip
    assert asked[1] == ["The API of main:", ["anthropic", "openai"]]
    assert asked[2] == ["Address of its API: ", "https://a"]
    assert "those set before are removed" in asked[3][0]
    [sent] = editor.sent("provider_set")
    assert {**sent, "id": 0, "cwd": ""} == {
        "id": 0,
        "agent": "demo",
        "cwd": "",
        "provider": "main",
        "api_type": "openai",
        "base_url": "https://b",
        "headers": {"Authorization": "Bearer x"},
    }
    assert "Bearer x" not in "".join(editor.messages())
    editor.apply({"type": "session_done", "id": sent["id"], "words": "demo uses it"})
    assert "demo uses it" in editor.message()


@pytest.mark.parametrize(
    "answers",
    [
        [],
        [None],
        [1, None],
        [1, 1, None],
        [1, 1, ""],
        [1, 1, "https://"],
        [1, 1, "https://b", None],
        [1, 1, "https://b", "A", ""],
        [3, None],
        [3, 1],
    ],
)
def test_who_gives_up_changes_nothing(editor, answers):
    play(editor, *answers)
    assert editor.sent("provider_set") == editor.sent("provider_disable") == []


def test_a_disabled_one_is_set_without_further_questions(editor):
    play(editor, 2, "https://c", "")
    [sent] = editor.sent("provider_set")
    assert (sent["provider"], sent["api_type"], sent.get("headers")) == ("other\nx", "openai", None)


def test_one_that_is_not_required_can_be_disabled(editor):
    play(editor, 3, 2)
    assert [one["provider"] for one in editor.sent("provider_disable")] == ["third"]


@pytest.mark.parametrize(
    ("listed", "words"),
    [({"problem": "It has none."}, "It has none."), ({"providers": []}, "demo has no providers to choose")],
)
def test_without_providers_it_is_said(editor, listed, words):
    assert play(editor, **listed) == []
    assert words in editor.message()


def test_an_unknown_agent_is_an_error(editor):
    editor.command("AcpProviders nobody")
    assert 'no agent is called "nobody"' in editor.message()
    assert editor.sent("providers_list") == []

"""Rules for permissions: what is wrong with them is said; :AcpPermissions shows and forgets them."""

from __future__ import annotations

import pytest

from tests.lua.test_permissions import asked

SELECT = """
_G.asked, _G.choices = {}, ...
vim.ui.select = function(items, opts, on_choice)
  local lines = vim.tbl_map(opts.format_item or tostring, items)
  table.insert(_G.asked, { prompt = opts.prompt, kind = opts.kind, lines = lines })
  on_choice(items[table.remove(_G.choices, 1)])
end
"""
RULES = [
    {"id": "config-1", "source": "config", "action": "reject", "words": "reject path .env"},
    {"id": "s1", "source": "stored", "action": "allow", "words": "allow command ls", "time": 1700000000},
]


def choosing(editor, *choices):
    """Answer all questions with these choices, in this order."""
    editor.lua(SELECT, list(choices))


def questions(editor):
    return editor.lua("return _G.asked")


def rules_of(editor, rules):
    editor.lua('require("acp_nvim").setup({ permissions = { rules = ... } })', rules)
    return editor.lua('return require("acp_nvim.config").get().permissions.rules')


def test_good_rules_are_taken_as_they_are(editor):
    rules = [
        {"command": "git status*", "action": "allow"},
        {"agent": "gemini", "kind": ["edit", "_mine"], "path": "src/**", "action": "ask"},
        {"kind": "execute", "action": "reject"},
    ]
    assert rules_of(editor, rules) == rules
    assert editor.messages() == []
    assert rules_of(editor, []) == []


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"action": "alow"}, 'rules[2].action: must be "allow", "reject" or "ask", not "alow"; did you mean "allow"?'),
        ({"command": "ls"}, 'rules[2]: has no action: write action = "allow", "reject" or "ask"'),
        ({"action": "ask", "comand": "ls"}, 'rules[2].comand: no such member; did you mean "command"?'),
        ({"action": "ask", "kind": "exec"}, 'rules[2].kind: there is no kind "exec"'),
        ({"action": "ask", "kind": ["edit", 3]}, "rules[2].kind: there is no kind 3"),
        ({"action": "ask", "kind": []}, "rules[2].kind: must be a kind of tool call, or a list of them"),
        ({"action": "ask", "path": ["a"]}, "rules[2].path: must be a string, not a table"),
        ({"action": "ask", "command": ""}, "rules[2].command: must be a string, not an empty one"),
        ("ls", "rules[2]: must be a table, not a string"),
    ],
)
def test_a_wrong_member_is_named_and_no_rule_counts(editor, rule, words):
    assert rules_of(editor, [{"action": "allow", "command": "ls"}, rule]) == []
    assert f"permissions.{words}" in editor.message()
    assert "no rule counts until this is put right, everything is asked" in editor.message()


@pytest.mark.parametrize("rules", ["allow", {"action": "allow"}, True])
def test_rules_are_a_list(editor, rules):
    assert rules_of(editor, rules) == []
    assert "permissions.rules: must be a list of rules" in editor.message()


def test_wrong_rules_of_setup_leave_none_of_those_below(editor):
    editor.lua('vim.g.acp_nvim = { permissions = { rules = { { action = "allow" } } } }')
    assert rules_of(editor, [{"action": "al"}]) == []


def test_the_rules_are_asked_of_the_host_and_shown(editor):
    key = editor.chat()
    choosing(editor)
    editor.command("AcpPermissions")
    cwd = editor.session(key, "cwd")
    assert editor.sent("permission_rules") == [{"cwd": cwd}]
    editor.apply({"type": "permission_rules", "cwd": "/elsewhere", "rules": RULES})
    editor.apply({"type": "permission_rules", "cwd": cwd, "rules": RULES})
    editor.wait_until(lambda: questions(editor), what="the question")
    (question,) = questions(editor)
    assert question["kind"] == "acp_permission_rule"
    assert question["lines"][0] == "reject path .env  (your configuration)"
    assert question["lines"][1].startswith("allow command ls  (your answer 2023-11-1")
    editor.apply({"type": "permission_rules", "cwd": cwd, "rules": RULES})
    assert len(questions(editor)) == 1


def test_a_stored_rule_is_forgotten_after_a_question(editor):
    key = editor.chat()
    cwd = editor.session(key, "cwd")
    told = {"type": "permission_rules", "cwd": cwd, "rules": RULES}
    for choices, forgotten in (([2, 2], []), ([2, 1], [{"cwd": cwd, "id": "s1"}])):
        choosing(editor, *choices)
        editor.command("AcpPermissions rules")
        editor.apply(told)
        editor.wait_until(lambda: len(questions(editor)) == 2, what="both questions")
        assert questions(editor)[1]["prompt"] == "Forget allow command ls?"
        assert editor.sent("permission_forget") == forgotten
    editor.apply({**told, "rules": RULES[:1]})
    assert "the rule is removed" in editor.message()


def test_a_rule_that_stays_is_said(editor):
    key = editor.chat()
    told = {"type": "permission_rules", "cwd": editor.session(key, "cwd"), "rules": RULES}
    choosing(editor, 2, 1)
    editor.command("AcpPermissions rules")
    editor.apply(told)
    editor.wait_until(lambda: editor.sent("permission_forget"), what="the wish")
    editor.apply(told)
    assert "the rule could not be removed" in editor.message()


def test_a_configured_rule_says_where_it_is(editor):
    key = editor.chat()
    choosing(editor, 1)
    editor.command("AcpPermissions rules")
    editor.apply({"type": "permission_rules", "cwd": editor.session(key, "cwd"), "rules": RULES})
    assert "in your configuration: permissions.rules[1]" in editor.message()
    assert editor.sent("permission_forget") == []


def test_no_rules(editor):
    key = editor.chat()
    editor.command("AcpPermissions rules")
    editor.apply({"type": "permission_rules", "cwd": editor.session(key, "cwd"), "rules": []})
    assert "you are asked for every permission" in editor.message()


def test_what_waits_comes_first(editor):
    key = editor.chat()
    ours = {"option_id": "o", "name": "Always", "kind": "allow_always", "ours": True}
    editor.apply(asked(key, 1, 7), asked(key, 2, 8, title="ls\nrm -rf ~", options=[ours]))
    choosing(editor, 2, 1)
    editor.command("AcpPermissions")
    first, second = questions(editor)
    assert (first["prompt"], first["lines"]) == ("2 permissions wait", ["demo: edit  Edit main.py", "demo: edit  ls"])
    assert (second["prompt"], second["lines"]) == ("ls ⏎ rm -rf ~", ["Always  (kept by acp_nvim)"])
    assert editor.sent("answer") == [{"id": 8, "option_id": "o"}]
    choosing(editor, 3)
    editor.command("AcpPermissions")
    assert [one["prompt"] for one in questions(editor)] == ["Edit main.py"]
    assert editor.sent("answer")[1:] == [{"id": 7, "option_id": "x3"}]
    editor.command("AcpPermissions")
    assert len(editor.sent("permission_rules")) == 1


def test_what_is_answered_meanwhile_is_not_answered_again(editor):
    key = editor.chat()
    editor.apply(asked(key))
    editor.lua("vim.ui.select = function(items, _, on_choice) _G.later = function() on_choice(items[1]) end end")
    editor.command("AcpPermissions")
    editor.apply({"type": "permission_done", "session": key, "block": 1, "id": 7, "outcome": "cancelled"})
    editor.lua("_G.later()")
    assert "no permission 7 waits for an answer" in editor.message()
    assert editor.sent("answer") == []


def test_words_and_completion(editor):
    assert editor.lua('return vim.fn.getcompletion("AcpPermissions ", "cmdline")') == ["rules"]
    editor.command("AcpPermissions rule")
    assert 'takes nothing, or rules, not "rule"' in editor.message()

"""Forms and URLs that an agent asks the user about: how they look, their keys, and that nothing typed is lost."""

from __future__ import annotations

import pytest

from tests.lua.conftest import STATUS

TEXT = {"name": "name", "kind": "text", "title": "Your name", "required": True, "hint": "text"}
SURE = {"name": "sure", "kind": "boolean", "title": "Sure?"}
SMALL, LARGE = {"value": "s", "title": "Small", "description": "fits"}, {"value": "l", "title": "Large"}
SIZE = {"name": "size", "kind": "choice", "title": "Size", "choices": [SMALL, LARGE]}
TAGS = {
    "name": "tags",
    "kind": "choices",
    "title": "Tags",
    "default": ["b"],
    "choices": [{"value": "a", "title": "A"}, {"value": "b", "title": "B"}],
}
FILETYPES = """return vim.tbl_map(function(win)
  return vim.bo[vim.api.nvim_win_get_buf(win)].filetype
end, vim.api.nvim_list_wins())"""
URL = {"url": "https://example.org/x", "host": "example.org", "first": 8, "last": 19, "warnings": []}


def asked(key, *fields, number=1, block=1, message="Tell me", **more):
    request = {"id": number, "agent": "demo", "message": message, **more}
    if "url" not in more:
        request["fields"] = list(fields)
    return {"type": "elicitation", "session": key, "block": block, "request": request}


def done(key, action="accept", number=1, block=1, why=None, answers=()):
    told = {"type": "elicitation_done", "session": key, "block": block, "id": number, "action": action}
    return {**told, "answers": list(answers), **({"why": why} if why else {})}


def checked(key, *problems, number=1, version=0, answers=(), unchecked=()):
    told = {"type": "elicitation_checked", "session": key, "id": number, "version": version}
    wrong = [{"field": field, "text": text} for field, text in problems]
    shown = [{"field": field, "title": title, "text": text} for field, title, text in answers]
    return {**told, "problems": wrong, "answers": shown, "unchecked": list(unchecked)}


def opened(editor):
    editor.wait_until(lambda: editor.lua("return vim.bo.filetype") == "acp_form", what="the form")
    return shown(editor)


def shown(editor):
    return editor.api("buf_get_lines", 0, 0, -1, True)


def fill(editor, text):
    editor.keys("<CR>")
    editor.wait_until(lambda: editor.lua("return vim.bo.filetype") == "acp_form_text", what="the field")
    editor.keys(text)


def choose(editor, number):
    """Chooses this entry of each list from now on."""
    editor.lua(
        """
        local number = ...
        vim.ui.select = function(items, opts, done)
          _G.offered = vim.tbl_map(opts.format_item or tostring, items)
          done(items[number], number)
        end
        """,
        number,
    )


def test_a_form_says_who_asks_and_what_and_how_it_is_answered(editor, key):
    secret = {"name": "token", "kind": "text", "title": "Token", "secret": True}
    odd = {"name": "odd", "kind": "unknown", "title": "Odd", "hint": "of a type that nobody knows"}
    described = {**TEXT, "description": "As in\nyour passport"}
    editor.apply(asked(key, described, SURE, SIZE, TAGS, secret, odd, message="Two\nlines", about="Book a flight"))
    assert opened(editor) == [
        "demo asks you",
        "<CR> fill in · <Tab> next · <C-s> review · <C-x> decline · <C-c> cancel · q later",
        "about Book a flight",
        "",
        "Two",
        "lines",
        "",
        "* Your name  (text)",
        "    As in",
        "    your passport",
        "  > nothing yet",
        "",
        "  Sure?",
        "  > nothing yet",
        "",
        "  Size",
        "  > nothing yet",
        "",
        "  Tags",
        "    [ ] A",
        "    [x] B",
        "",
        "  Token",
        "    This looks like a secret. Agents must not ask for one in a form: you can decline.",
        "  > nothing yet",
        "",
        "  Odd  (of a type that nobody knows)",
        "  > cannot be filled in here",
    ]
    assert editor.lines(key)[1:] == [
        "Question for you  Two",
        "  lines",
        "  Your name, Sure?, Size, Tags, Token, Odd",
        "  <CR> opens the form",
    ]


def test_what_is_checked_is_looked_at_before_it_is_sent(editor, key):
    editor.apply(asked(key, TEXT, SURE))
    opened(editor)
    fill(editor, "Ada<CR>")
    editor.keys("<Space><C-s>")
    [check] = editor.sent("elicitation_check")
    assert check == {"id": 1, "version": check["version"], "values": {"name": "Ada", "sure": True}}
    editor.apply(checked(key, version=0, answers=[("name", "stale", "x")]))
    assert "stale" not in "\n".join(shown(editor))
    answers = [("name", "Your name", "Ada"), ("sure", "Sure?", "yes")]
    editor.apply(checked(key, version=check["version"], answers=answers, unchecked=["name"]))
    assert shown(editor) == [
        "This will be sent to demo",
        "<CR> send · <BS> back · <C-x> decline · <C-c> cancel · q later",
        "",
        "  Your name: Ada",
        "  Sure?: yes",
        '  Nobody here can check the pattern of "name"; the agent does.',
    ]
    assert editor.sent("elicitation_answer") == []
    editor.keys("<CR><CR>")
    [answer] = editor.sent("elicitation_answer")
    assert (answer["action"], answer["values"]) == ("accept", {"name": "Ada", "sure": True})


def test_what_is_wrong_stands_at_its_field_until_that_changes(editor, key):
    editor.apply(asked(key, TEXT, SURE))
    opened(editor)
    editor.keys("<C-s>")
    editor.apply(checked(key, ("sure", "is neither yes nor no"), ("name", "has to be filled in")))
    assert "    ✗ has to be filled in" in shown(editor)
    assert editor.lua("return #vim.diagnostic.get(0)") == 2
    assert editor.api("get_current_line") == "  > nothing yet"
    fill(editor, "A<CR>")
    assert "    ✗ has to be filled in" not in shown(editor)
    assert editor.lua("return vim.diagnostic.get(0)[1].message") == "Sure? is neither yes nor no"


@pytest.mark.parametrize("action", ["decline", "cancel"])
def test_declining_and_cancelling_are_two_keys(editor, key, action):
    editor.apply(asked(key, TEXT))
    opened(editor)
    if action == "decline":
        editor.keys("<C-x>")
    else:
        editor.interrupt(lambda: editor.sent("elicitation_answer"))
    [answer] = editor.sent("elicitation_answer")
    assert answer["action"] == action
    editor.apply(done(key, action))
    editor.wait_until(lambda: editor.lua("return vim.bo.filetype") == "acp_chat", what="the chat")
    assert editor.lines(key)[1:] == ["Question  Tell me", "  ✗ declined" if action == "decline" else "  – cancelled"]


@pytest.mark.parametrize("way", ["<Esc>:q<CR>", "<Esc><Esc>", "<Esc>:w<CR>:q<CR>", "<Esc><C-w>p", "<Esc>ZZ"])
def test_however_a_field_is_left_what_was_typed_counts(editor, key, way):
    editor.apply(asked(key, TEXT))
    opened(editor)
    fill(editor, "Ada" + way)
    editor.wait_until(lambda: "acp_form_text" not in editor.lua(FILETYPES), what="the field closed")
    assert editor.lua("return require('acp_nvim.forms.questions').get(1).values.name") == "Ada"


def test_what_is_typed_counts_while_it_is_typed(editor, key):
    editor.apply(asked(key, TEXT))
    opened(editor)
    fill(editor, "Ad")
    assert editor.lua("return require('acp_nvim.forms.questions').get(1).values.name") == "Ad"
    editor.keys("a<CR>")
    assert "  > Ada" in shown(editor)


def test_keys_may_be_others(editor):
    editor.lua("vim.g.acp_nvim = { keymaps = { form_review = 'gr', form_decline = false } }")
    session = editor.chat()
    editor.focus(editor.session(session, "bufnr"))
    editor.apply(asked(session, SURE))
    assert "<CR> fill in · <Tab> next · gr review · <C-c> cancel · q later" in opened(editor)
    editor.keys("gr")
    assert len(editor.sent("elicitation_check")) == 1
    editor.keys("<C-x>")
    assert editor.sent("elicitation_answer") == []


def test_values_are_chosen_cleared_and_walked_through(editor, key):
    editor.apply(asked(key, SURE, SIZE, TAGS))
    opened(editor)
    values = "return require('acp_nvim.forms.questions').get(1).values"
    choose(editor, 1)
    editor.keys("<CR><Tab><Space><Space>")  # the choice goes on to the next field
    assert editor.lua(values) == {"sure": True, "size": "s", "tags": ["a", "b"]}
    assert editor.lua("return _G.offered") == ["Small  (fits)", "Large", "no answer"]
    choose(editor, 3)
    editor.keys("<Space>j<Space><S-Tab><Space><S-Tab><S-Tab><Space>")
    assert editor.lua(values) == {"sure": False, "tags": []}
    editor.keys("<Space>")
    assert editor.lua(values) == {"tags": []}
    assert editor.api("get_current_line") == "  > nothing yet"
    assert editor.lua("return vim.fn.line('.')") == 7


def test_a_form_is_over_with_its_agent_but_what_was_filled_in_is_not_lost(editor, key):
    editor.apply(asked(key, TEXT))
    opened(editor)
    fill(editor, "precious<CR>")
    editor.keys("q")
    editor.apply(done(key, "cancel", why="agent_gone"))
    assert "kept in the chat" in editor.message()
    assert editor.lines(key)[1:] == [
        "Question  Tell me",
        "  – cancelled: the agent is gone",
        "  what you had filled in is kept: <CR> shows it",
    ]
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("Gk<CR>")
    lines = opened(editor)
    assert "This question is over: the agent is gone. Nothing more is sent." in lines
    assert "  > precious" in lines
    editor.keys("<C-s><C-x><C-c>")
    assert editor.sent("elicitation_answer") == editor.sent("elicitation_check") == []


def test_an_untouched_form_just_closes_when_nobody_is_in_it(editor, key):
    editor.apply(asked(key, TEXT))
    opened(editor)
    editor.focus(editor.session(key, "bufnr"))
    editor.apply(done(key, "cancel", why="withdrawn"))
    editor.wait_until(lambda: "acp_form" not in editor.lua(FILETYPES), what="it closed")
    assert editor.lines(key)[1:] == ["Question  Tell me", "  – withdrawn by the agent"]


def test_the_end_of_the_host_ends_all_questions_and_the_next_one_begins_anew(editor, key):
    editor.apply(asked(key, TEXT))
    opened(editor)
    fill(editor, "precious<CR>")
    editor.lua("""
        local name, listeners = "", nil
        for index = 1, 20 do
          name, listeners = debug.getupvalue(require("acp_nvim.host").on_exit, index)
          if name == "listeners" then break end
        end
        for _, listener in ipairs(listeners) do listener("the host is gone", 1, {}) end
    """)
    assert "This question is over: the agent is gone. Nothing more is sent." in shown(editor)
    assert editor.lua("return require('acp_nvim').forms()") == []
    editor.keys("q")
    editor.focus(editor.session(key, "bufnr"))
    editor.apply(asked(key, TEXT, number=1, block=900, message="Again"))
    lines = opened(editor)
    assert "Again" in lines
    assert "  > precious" not in lines
    editor.interrupt(lambda: editor.sent("elicitation_answer"))
    assert [one["id"] for one in editor.sent("elicitation_answer")] == [1]


@pytest.mark.parametrize("has_focus", [True, False])
def test_the_end_of_a_session_ends_its_questions_and_those_of_no_other(editor, key, has_focus):
    other = editor.chat()
    editor.apply(asked(other, SURE, number=1, message="Another"), asked(key, TEXT, number=2))
    editor.lua("require('acp_nvim.forms').open(2)")
    opened(editor)
    fill(editor, "precious<CR>")
    if not has_focus:
        editor.focus(editor.session(other, "bufnr"))
    editor.lua("require('acp_nvim.sessions.client').forget(require('acp_nvim.host.sessions').get(...))", key)
    assert [one["id"] for one in editor.lua("return require('acp_nvim').forms()")] == [1]
    (ended,) = editor.events("AcpElicitationDone")
    assert ended == {"session": key, "id": 2, "action": "cancel", "why": "cancelled"}
    if has_focus:
        assert "  > precious" in shown(editor), "what was typed can still be copied"
        assert editor.lua("return vim.bo.filetype") == "acp_form"


def test_a_redraw_keeps_what_was_filled_in(editor, key):
    editor.apply(asked(key, TEXT))
    opened(editor)
    fill(editor, "Ada<CR>")
    note = {"type": "notice", "session": key, "block": 1, "level": "info", "text": "before"}
    editor.apply({"type": "reset", "session": key}, note, asked(key, TEXT, block=2))
    assert "  > Ada" in shown(editor)
    editor.apply(done(key, block=2))
    assert [one for one in editor.lines(key) if one] == ["· before", "Question  Tell me", "  ✓ answered"]


def test_several_wait_and_one_is_chosen(editor, key):
    editor.lua("""vim.ui.select = function(items, opts, on_choice)
        _G.offered = vim.tbl_map(opts.format_item, items)
        on_choice(items[2])
    end""")
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.keys("i")
    editor.apply(asked(key, TEXT), asked(key, SURE, number=2, block=2, message="Second\nline"))
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    editor.keys("<Esc>:AcpForms<CR>")
    assert "Second" in opened(editor)
    assert editor.lua("return _G.offered") == ["demo: Tell me", "demo: Second"]
    editor.keys("<C-x>")
    editor.apply(done(key, "decline", number=2, block=2))
    editor.wait_until(lambda: "Tell me" in shown(editor), what="the other one")


def test_a_form_takes_no_keys_of_who_edits_their_prompt(editor, key):
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.apply_and_type("ihello<Esc>", asked(key, TEXT))
    assert editor.prompt_lines(key) == ["hello"]
    opened(editor)  # opens in the next pause


def test_who_does_not_see_the_chat_is_told(editor, key):
    editor.command("AcpToggle")
    editor.apply(asked(key, TEXT, message="Which one?\nYou know"))
    assert "demo has a question (:AcpForms): Which one?" in editor.message()
    assert editor.lua("return vim.bo.filetype") != "acp_form"
    editor.command("AcpForms")
    opened(editor)


def test_a_page_is_opened_on_consent_only(editor, key):
    editor.lua("_G.urls = {} vim.ui.open = function(url) table.insert(_G.urls, url) return {} end")
    editor.apply(asked(key, url={**URL, "warnings": ["Look twice."]}))
    lines = opened(editor)
    assert lines[0] == "demo asks you to open a web page"
    assert lines[4:] == ["", "  https://example.org/x", "", "The page is at example.org", "! Look twice."]
    assert (editor.lua("return _G.urls"), editor.sent("elicitation_answer")) == ([], [])
    choose(editor, 1)
    editor.keys("<CR><C-s>i<Space>x")
    assert (editor.lua("return _G.urls"), editor.sent("elicitation_answer")) == ([], [])
    editor.keys("oo")
    assert editor.lua("return _G.offered") == ["open it in the browser", "I open it myself"]
    assert editor.lua("return _G.urls") == ["https://example.org/x"]
    assert [one["action"] for one in editor.sent("elicitation_answer")] == ["accept"]
    editor.apply(done(key))
    assert editor.lines(key)[3] == "  ✓ opened: the agent goes on when you are done there"
    editor.apply({"type": "elicitation_complete", "session": key, "block": 1, "id": 1})
    assert editor.lines(key)[1:] == ["Question  Tell me", "  https://example.org/x", "  ✓ done"]


def test_all_of_a_long_url_is_shown(editor, key):
    long = "https://example.org/" + "x" * 7980
    editor.apply(asked(key, url={**URL, "url": long}))
    assert f"  {long}" in opened(editor)


def test_a_page_that_cannot_be_opened_is_not_accepted_by_itself(editor, key):
    editor.lua("vim.ui.open = function() return nil, 'no browser' end")
    editor.apply(asked(key, url=URL))
    opened(editor)
    choose(editor, 1)
    editor.keys("o")
    assert 'the page could not be opened: no browser (choose "I open it myself" instead)' in editor.message()
    assert editor.sent("elicitation_answer") == []
    choose(editor, 2)
    editor.keys("o")
    assert [one["action"] for one in editor.sent("elicitation_answer")] == ["accept"]


def test_what_is_no_page_can_only_be_declined(editor, key):
    refused = {
        "url": "file:///etc/passwd",
        "host": "",
        "first": 0,
        "last": 0,
        "warnings": [],
        "refused": "it is no web page",
    }
    editor.lua("_G.urls = {} vim.ui.open = function(url) table.insert(_G.urls, url) return {} end")
    editor.apply(asked(key, url=refused))
    lines = opened(editor)
    assert "It is not opened: it is no web page." in lines
    assert lines[1] == "<C-x> decline · <C-c> cancel · q later"
    editor.keys("o")
    assert editor.lua("return { require('acp_nvim').answer_form(1, 'accept') }")[0] is False
    assert (editor.lua("return _G.urls"), editor.sent("elicitation_answer")) == ([], [])
    editor.keys("<C-x>")
    assert [one["action"] for one in editor.sent("elicitation_answer")] == ["decline"]


def test_texts_of_agents_are_shown_whatever_is_in_them(editor, key):
    odd = "a\r\nb\x1b[31m\x00\u202ec"
    field = {**SIZE, "name": odd, "title": odd, "description": odd, "hint": odd}
    editor.apply(asked(key, field, message=odd, title=odd, description=odd, about=odd))
    lines = opened(editor)
    assert not any("\x1b" in line or "\u202e" in line for line in lines)
    choose(editor, 1)
    editor.keys("<Space><C-s>")
    [check] = editor.sent("elicitation_check")
    assert list(check["values"].values()) == ["s"]


def test_lua_answers_without_a_window(editor, key):
    editor.command("AcpToggle")
    editor.apply(asked(key, TEXT))
    [one] = editor.lua("return require('acp_nvim').forms()")
    assert (one["id"], one["session"], one["agent"], one["message"]) == (1, key, "demo", "Tell me")
    assert editor.lua("return { require('acp_nvim').answer_form(1, 'maybe') }")[0] is False
    assert editor.lua("return { require('acp_nvim').answer_form(9, 'cancel') }")[0] is False
    assert editor.lua("return require('acp_nvim').answer_form(1, 'accept', { name = 'Ada' })") is True
    [answer] = editor.sent("elicitation_answer")
    assert answer["values"] == {"name": "Ada"}
    assert editor.lua("return { require('acp_nvim').answer_form(1, 'cancel') }")[0] is False


def test_the_status_counts_them(editor, key):
    status = {**STATUS, "state": "waiting", "pending_elicitations": 2}
    editor.apply({"type": "status", "session": key, "status": status})
    assert editor.lua("return require('acp_nvim').statusline(...)", key) == "? demo 2 to answer"
    assert editor.lua("return require('acp_nvim').status(...).pending_elicitations", key) == 2


def test_listeners_hear_of_it(editor, key):
    editor.lua("""
        _G.heard = {}
        for _, name in ipairs({ "AcpElicitation", "AcpElicitationDone" }) do
          vim.api.nvim_create_autocmd("User", { pattern = name, callback = function(ev)
            table.insert(_G.heard, { name, ev.data.id or ev.data.request.id, ev.data.action })
          end })
        end
    """)
    editor.apply(asked(key, TEXT))
    editor.apply(asked(key, TEXT), done(key, "cancel", why="cancelled"))
    editor.apply(asked(key, TEXT), done(key, "cancel", why="cancelled"))
    heard = [one[:3] for one in editor.lua("return _G.heard")]
    assert heard == [["AcpElicitation", 1], ["AcpElicitationDone", 1, "cancel"]]

"""Questions of an agent, answered from keys: every kind of field that the specification has, and URLs."""

from __future__ import annotations

import json

import pytest

from tests.support.agent_scripts import agent_script

PROPERTIES = {
    "name": {
        "type": "string",
        "title": "Your name",
        "description": "As in your passport",
        "minLength": 2,
        "maxLength": 9,
    },
    "word": {"type": "string", "pattern": "^[a-z]+$"},
    "mail": {"type": "string", "format": "email"},
    "page": {"type": "string", "format": "uri"},
    "day": {"type": "string", "format": "date"},
    "moment": {"type": "string", "format": "date-time"},
    "text": {"type": "string", "title": "Many lines"},
    "count": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3},
    "ratio": {"type": "number", "minimum": 0, "maximum": 1},
    "loud": {"type": "boolean", "default": True},
    "sure": {"type": "boolean"},
    "colour": {"type": "string", "enum": ["red", "green", "blue"]},
    "size": {"type": "string", "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]},
    "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b", "c"]}, "minItems": 1, "maxItems": 2},
    "more": {
        "type": "array",
        "items": {"anyOf": [{"const": "1", "title": "One"}, {"const": "2", "title": "Two"}]},
        "default": ["2"],
    },
}
REQUIRED = ["name", "sure", "tags"]

SCRIPT = """
V2 = {v2}
if V2:
    INITIALIZE = {{"protocolVersion": 2, "info": {{"name": "v2", "version": "1"}}, "capabilities": {{"session": {{}}}}}}

def turn(agent, prompt):
    if prompt.text == "form":
        got = prompt.elicit(json.loads({properties!r}), message="Tell me more", required={required})
    elif prompt.text == "url":
        got = prompt.elicit_url("https://xn--pple-43d.com/sign?a=1", "e1")
        agent.notify("elicitation/complete", {{"elicitationId": "e1"}})
    elif prompt.text == "die":
        agent.call("elicitation/create", {{"sessionId": prompt.session_id, "mode": "form", "message": "Quick!",
            "requestedSchema": {{"type": "object", "properties": {{"x": {{"type": "string"}}}}}}}})
        while not os.path.exists("die-now"):
            time.sleep(0.01)
        agent.exit(3)
    else:
        got = prompt.elicit({{"x": {{"type": "string", "title": "The x"}}}}, message=prompt.text)
    agent.note(got=got)
    if V2:
        prompt.update("state_update", state="idle", stopReason="end_turn")
        return {{}}
"""


CHOOSE = """
local words = ...
vim.ui.select = function(items, opts, done)
  for index, item in ipairs(items) do
    if (opts.format_item or tostring)(item):find(words, 1, true) then
      return done(item, index)
    end
  end
end
"""


class Forms:
    """A chat in which the cursor is, and an agent that asks."""

    def __init__(self, editor, directory, v2=False):
        self.script = agent_script(
            directory, SCRIPT.format(v2=v2, properties=json.dumps(PROPERTIES), required=json.dumps(REQUIRED))
        )
        self.nvim = editor(
            agents={"it": {"command": self.script.argv}}, config={"default_agent": "it", "protocol": {"v2": v2}}
        )
        self.nvim.command("AcpChat")
        self.nvim.keys("<Esc>")

    def ask(self, what):
        self.nvim.lua("require('acp_nvim').prompt(...)", what)
        self.nvim.wait_until(lambda: self.filetype() == "acp_form", what="the form")

    def filetype(self):
        return self.nvim.lua("return vim.bo.filetype")

    def keys(self, *keys):
        for one in keys:
            self.nvim.keys(one)

    def shown(self):
        return "\n".join(self.nvim.api("buf_get_lines", 0, 0, -1, True))

    def line(self):
        return self.nvim.lua("return vim.api.nvim_get_current_line()")

    def fill(self, text):
        """Types into the field under the cursor, and goes on."""
        self.keys("<CR>")
        self.nvim.wait_until(lambda: self.filetype() == "acp_form_text", what="the field")
        self.keys(f"<C-u>{text}<CR>")
        self.nvim.wait_until(lambda: self.filetype() == "acp_form", what="the form again")

    def choose(self, words):
        """Chooses the entry with these words of each list from now on."""
        self.nvim.lua(CHOOSE, words)

    def review(self):
        self.keys("<C-s>")
        self.nvim.wait_until(lambda: "will be sent" in self.shown() or "✗" in self.shown(), what="the review")

    def problems(self):
        return self.nvim.lua("""
            return vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))
        """)

    def got(self):
        return self.script.wait_note("got")[-1]


@pytest.mark.parametrize("v2", [False, True])
def test_every_kind_of_field_is_filled_in_from_keys(editor, tmp_path, v2):
    forms = Forms(editor, tmp_path, v2)
    forms.ask("form")
    assert forms.nvim.lua("return require('acp_nvim').status().state") == "waiting"
    for text in ["Ada", "abc", "ada@example.org", "https://example.org/", "2026-11-21", "2026-11-21T20:15:00Z"]:
        forms.fill(text)
    forms.fill("one<C-j>two")
    forms.fill("7")
    forms.fill(".25")
    forms.keys("<Space>", "<Tab>", "<CR>", "<Tab>")  # loud: no; sure: yes
    forms.choose("green")
    forms.keys("<Space>")
    forms.choose("Small")
    forms.keys("<Space>")
    forms.keys("<Space>", "jj", "<CR>", "<Tab>")  # a and c
    forms.keys("<Space>")  # One, with Two
    assert "[x] One" in forms.line()
    forms.review()
    assert "Many lines: one\n    two" in forms.shown()
    assert "size: Small (s)" in forms.shown()
    forms.keys("<CR>")
    assert forms.got() == {
        "action": "accept",
        "content": {
            "name": "Ada",
            "word": "abc",
            "mail": "ada@example.org",
            "page": "https://example.org/",
            "day": "2026-11-21",
            "moment": "2026-11-21T20:15:00Z",
            "text": "one\ntwo",
            "count": 7,
            "ratio": 0.25,
            "loud": False,
            "sure": True,
            "colour": "green",
            "size": "s",
            "tags": ["a", "c"],
            "more": ["1", "2"],
        },
    }
    forms.nvim.wait_until(lambda: "✓ answered" in forms.nvim.chat_text(), what="the outcome in the chat")
    assert "Your name: Ada" in forms.nvim.chat_text()
    assert forms.filetype() == "acp_prompt"


def test_bad_values_are_refused_with_words_at_their_fields(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.ask("form")
    for text in ["A", "ABC", "ada", "not a uri", "2026-02-30", "tomorrow", "fine", "11", "half"]:
        forms.fill(text)
    forms.review()
    assert forms.problems() == [
        "Your name is too short: 1 of at least 2 characters",
        "word does not fit the pattern ^[a-z]+$",
        "mail is no e-mail address, like name@example.org",
        "page is no URI, like https://example.org/page (no blanks, nothing but ASCII)",
        "day is a date that does not exist",
        "moment is no date and time with a zone, like 2026-11-21T20:15:00Z",
        "count is more than 10",
        "ratio is no number, like 4.2",
        "sure is neither yes nor no",
        "tags has too few: choose at least 1",
    ]
    assert "✗ is a date that does not exist" in forms.shown()
    assert forms.line() == "  > A"
    assert forms.script.notes("got") == []
    forms.keys("<C-x>")
    assert forms.got() == {"action": "decline"}


def test_defaults_are_filled_in_and_nothing_else_has_to_be(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.ask("form")
    assert "  > 3" in forms.shown()
    assert "    [x] Two" in forms.shown()
    forms.fill("Ada")
    forms.nvim.lua("vim.fn.search('sure')")
    forms.keys("j<CR>", "/\\[ \\] b<CR>", "<CR>")
    forms.review()
    assert "not filled in: word, mail" in forms.shown()
    forms.keys("<BS>", "<C-s>")
    forms.review()
    forms.keys("<CR>")
    content = {"name": "Ada", "count": 3, "loud": True, "sure": True, "tags": ["b"], "more": ["2"]}
    assert forms.got() == {"action": "accept", "content": content}


def test_a_closed_form_waits_and_comes_back_with_what_was_typed(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.ask("later")
    forms.fill("half of it")
    forms.keys("q")
    assert forms.filetype() == "acp_prompt"
    assert forms.script.notes("got") == []
    assert len(forms.nvim.lua("return require('acp_nvim').forms()")) == 1
    forms.nvim.command("AcpForms")
    assert "half of it" in forms.shown()
    forms.nvim.interrupt(lambda: forms.filetype() != "acp_form")
    assert forms.got() == {"action": "cancel"}


def test_an_enum_is_chosen_by_the_users_own_picker(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.nvim.lua("""
        vim.ui.select = function(items, opts, on_choice)
          _G.asked = { opts.prompt, opts.format_item(items[2]) }
          on_choice(items[2])
        end
    """)
    forms.ask("form")
    forms.nvim.lua("vim.fn.search('size')")
    forms.keys("j<CR>")
    assert forms.nvim.lua("return _G.asked") == ["size", "Large"]
    assert "  > Large" in forms.shown()


@pytest.mark.parametrize("v2", [False, True])
def test_a_url_is_opened_only_on_consent_and_what_deceives_is_said(editor, tmp_path, v2):
    forms = Forms(editor, tmp_path, v2)
    forms.nvim.lua("_G.opened = {} vim.ui.open = function(url) table.insert(_G.opened, url) return {} end")
    forms.ask("url")
    assert "https://xn--pple-43d.com/sign?a=1" in forms.shown()
    assert "mixes letters of Cyrillic and Latin" in forms.shown()
    assert "it asks you to open a web page" in forms.shown()
    assert forms.nvim.lua("return _G.opened") == []
    forms.choose("open it in the browser")
    forms.keys("o")
    assert forms.got() == {"action": "accept"}
    assert forms.nvim.lua("return _G.opened") == ["https://xn--pple-43d.com/sign?a=1"]
    forms.nvim.wait_until(lambda: "✓ done" in forms.nvim.chat_text(), what="the end in the chat")


def test_no_form_stays_of_an_agent_that_died_but_what_was_typed_does(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.ask("die")
    forms.keys("<CR>", "precious")
    (forms.nvim.project / "die-now").write_text("")
    forms.nvim.wait_until("require('acp_nvim').status().state == 'failed'", what="the death")
    forms.keys(" words<CR>")  # who is typing goes on where they are
    forms.nvim.wait_until(lambda: forms.filetype() == "acp_form", what="the form")
    assert "over: the agent is gone" in forms.shown()
    assert "precious words" in forms.shown()
    forms.keys("q")
    assert "what you had filled in is kept" in forms.nvim.chat_text()
    assert forms.nvim.lua("return require('acp_nvim').forms()") == []


def test_nobody_who_types_loses_the_focus(editor, tmp_path):
    forms = Forms(editor, tmp_path)
    forms.keys("i", "still writing")
    forms.nvim.lua("require('acp_nvim').prompt(...)", "quiet")
    forms.nvim.wait_until(lambda: "Question for you" in forms.nvim.chat_text(), what="the question in the chat")
    forms.keys(" this")
    assert forms.line() == "still writing this"
    forms.keys("<Esc>")
    forms.nvim.command("AcpForms")
    assert forms.filetype() == "acp_form"
    forms.fill("answer")
    forms.review()
    forms.keys("<CR>")
    assert forms.got() == {"action": "accept", "content": {"x": "answer"}}

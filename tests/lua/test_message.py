"""News that come at the same time never ask for a key."""

from __future__ import annotations

import re
from functools import partial
from itertools import product

import pytest

NEWS = """
local news = require("acp_nvim.kernel.message").news
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


def in_full(editor, text):
    """Whether all words of a text are on the screen, in this order."""
    return " ".join(text.split()).replace(" ", "") in "".join("".join(editor.rows()).split())


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("level", ["info", "warn", "error"])
@pytest.mark.parametrize("text", [LONG, "one line " * 25, "寬" * 110], ids=["lines", "long", "wide"])
def test_an_answer_of_several_lines_is_shown_in_full_and_asks_for_no_key(screen, columns, level, text):
    editor = screen(columns=columns, rows=20)
    editor.command("messages clear")
    editor.lua('require("acp_nvim.limits").seen_ms = 0')
    editor.lua(f'local text = ... require("acp_nvim.kernel.message").{level}(text)', text)
    editor.wait_until(lambda: in_full(editor, text), what="the whole text")
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert "".join(said(editor)) == "acp_nvim: " + text.strip().replace("\n", "")
    assert not in_full(editor, text + text)
    editor.type("ihello")
    editor.wait_until(lambda: not editor.find(" acp_nvim "), what="the answer is gone")
    editor.wait_until(lambda: editor.api("get_current_line") == "hello", what="what was typed")


def test_an_answer_stays_for_keys_that_were_typed_before_it(screen):
    editor = screen(columns=80, rows=20)
    editor.lua('require("acp_nvim.limits").seen_ms = 3600000')
    editor.lua('require("acp_nvim.kernel.message").info(...)', LONG)
    editor.wait_for("the first line says")
    editor.type("ihello")
    editor.wait_for("hello")
    assert in_full(editor, LONG)


def test_answers_that_nobody_has_read_stay_above_the_next_one(screen):
    editor = screen(columns=80, rows=20)
    editor.lua('require("acp_nvim.kernel.message").info(...)', LONG)
    editor.lua('require("acp_nvim.kernel.message").warn(...)', "second " + LONG)
    editor.wait_until(lambda: in_full(editor, LONG + " second " + LONG), what="both texts")
    editor.resize(60, 24)
    editor.wait_until(lambda: in_full(editor, LONG + " second " + LONG), what="both texts, wrapped anew")


SLOWLY = """
local before, seen = vim.notify, 0
vim.notify = function(text, ...)
  seen = seen + 1
  local began = seen
  before(text, ...)
  vim.wait(50, function() return seen > began end, 1) -- other events, as Neovim's hit-enter prompt
end
"""


def test_answers_that_come_while_one_is_being_shown_wait_for_it(screen):
    editor = screen(columns=80, rows=20)
    editor.lua(SLOWLY)
    both = 'local message = require("acp_nvim.kernel.message") message.info(...) message.warn("second " .. ...)'
    editor.lua(both, LONG)
    editor.wait_until(lambda: in_full(editor, LONG + " second " + LONG), what="both texts")
    assert editor.lua("return vim.o.messagesopt") == editor.lua(
        'return vim.api.nvim_get_option_info2("messagesopt", {}).default'
    )


def test_an_answer_larger_than_the_screen_says_where_the_rest_is(screen):
    editor = screen(columns=80, rows=20)
    editor.lua('require("acp_nvim.kernel.message").info(...)', "\n".join(f"line {number}" for number in range(60)))
    editor.wait_for("acp_nvim … :messages")
    assert editor.find("line 14")
    assert not editor.find("line 20")
    assert "line 59" in "\n".join(said(editor))


NOTIFIER = "_G.told = {} vim.notify = function(text) table.insert(_G.told, text) end"
# each of these plugins shows the text in a window, without wrapping it: what is wider than that is cut
IN_A_WINDOW = """
local shown = ...
_G.told = {}
local function notify(text, level, opts)
  table.insert(_G.told, text)
  _G.title = opts and opts.title
  local bufnr = vim.api.nvim_create_buf(false, true)
  local lines = vim.split(text, string.char(10))
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  local width = math.floor(vim.o.columns * 0.4) - 2
  local win = vim.api.nvim_open_win(bufnr, false, {
    relative = "editor", row = 2, col = 4, width = width, height = #lines, style = "minimal", border = "single",
  })
  vim.wo[win].wrap = false
end
vim.notify = shown == "table" and setmetatable({}, { __call = function(_, ...) return notify(...) end }) or notify
"""
FILTER = "local before = vim.notify vim.notify = function(text, ...) return before(text, ...) end"


def in_words(text):
    return " ".join(text.split())


def told(editor):
    return [in_words(text) for text in editor.lua("return _G.told")]


def test_a_plugin_that_shows_messages_shows_each_once(screen):
    editor = screen(columns=80, rows=20)
    editor.command("messages clear")
    editor.lua(NOTIFIER)
    editor.lua('require("acp_nvim.kernel.message").info(...)', LONG)
    editor.wait_until(lambda: told(editor) == [in_words("acp_nvim: " + LONG)], what="the plugin has it")
    editor.lua('require("acp_nvim.kernel.message").info("the end")')
    editor.wait_until(lambda: len(editor.lua("return _G.told")) == 2, what="the next one")
    assert said(editor) == []
    assert not editor.find("acp_nvim")


SAYS = {
    "news": 'local text = ... require("acp_nvim.kernel.message").news(text)',
    "error": 'local text = ... require("acp_nvim.kernel.message").error(text)',
}
PATHS = "the command '/no/such/agent' was not found, nor was " + "/a/long/way" * 9 + "; see :checkhealth"


def shows(editor, words):
    """Whether these words, without blanks, are what stands between the borders of a window."""
    return words == "".join("".join(re.findall("│(.*?)│", row)) for row in editor.rows()).replace(" ", "")


@pytest.mark.parametrize(("columns", "shape"), [(60, "function"), (80, "table"), (120, "function")])
def test_a_plugin_that_does_not_wrap_shows_all_of_a_message(screen, columns, shape):
    editor = screen(columns=columns, rows=30)
    editor.command("call setline(1, 'text')")  # the intro of 0.12 has lines like those of a border
    editor.command("messages clear")
    for text, say in product(["short", LONG, PATHS, "寬" * 60], SAYS):
        editor.lua(IN_A_WINDOW, shape)
        editor.lua(SAYS[say], text)
        words = "".join(f"acp_nvim: {text}".split())
        editor.wait_until(partial(shows, editor, words), what=words)
        assert len(editor.lua("return _G.told")) == 1
        assert not editor.lua("return _G.title"), "the text says whose it is"
        assert said(editor) == []
        assert editor.api("get_mode") == {"mode": "n", "blocking": False}
        editor.command("only | redraw")


@pytest.mark.parametrize("say", SAYS)
def test_a_function_that_passes_messages_on_gets_them_as_they_are(screen, say):
    editor = screen(columns=80, rows=20)
    editor.lua(FILTER)
    for number in range(3):
        editor.command("messages clear")
        editor.lua(SAYS[say], f"{number} is a message that fits on one line of this screen")
        editor.wait_until(lambda: said(editor), what="the message")
        assert editor.api("get_mode") == {"mode": "n", "blocking": False}
        assert number == 0 or len(said(editor)) == 1
    editor.wait_for("acp_nvim: 2 is a message")
    assert editor.find("of this screen")


def test_a_function_that_passes_messages_on_changes_nothing(screen):
    editor = screen(columns=80, rows=20)
    editor.lua(FILTER)
    editor.lua('require("acp_nvim.kernel.message").info(...)', LONG)
    editor.wait_until(lambda: in_full(editor, LONG), what="the whole text")


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
    editor.wait_for("rejected: 1 file; undo it with :AcpRestore")
    assert editor.find("1 of the agent's own records")
    assert editor.api("get_mode")["blocking"] is False
    told = "\n".join(said(editor))
    assert "left alone, because it is not known" in told
    assert "1 of the agent's own records" in told

"""The line above the chat: what it says in how much room, whose it is, and when it moves."""

from __future__ import annotations

import random

import pytest

from tests.lua.conftest import STATUS

FULL = {
    "agent": "claude",
    "agent_title": "Claude",
    "cwd": "/p",
    "state": "running",
    "pending_permissions": 0,
    "queue": 2,
    "activity": "Run `make test` in the background",
    "turn_started": 925,
    "usage": {"used": 45100, "size": 200000, "cost": 0.412, "currency": "USD"},
    "mode": "https://agent/modes#accept",
    "mode_name": "Accept edits",
    "model": "sonnet",
    "title": "Fix the flaky test\nof parsing",
    "review": {"files": 3, "added": 1, "removed": 0},
}
SHOWN = """local key, width = ...
local text = require("acp_nvim.chat.winbar").text(require("acp_nvim.host.sessions").get(key), width)
local drawn = vim.api.nvim_eval_statusline(text, { maxwidth = 500 })
return { drawn.str, drawn.width }"""
STEPS = [{"content": word, "status": "completed", "priority": "low"} for word in "ab"]
STEPS += [{"content": "c", "status": "pending", "priority": "low"}]


def status(key, state="running", **more):
    about = {**STATUS, "state": state, **more}
    return {"type": "status", "session": key, "status": about}


@pytest.fixture
def key(editor):
    editor.lua("os.time = function() return 1000 end")
    return editor.chat()


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        ({"total": 3600, "input": 2400, "output": 900, "cached_read": 300}, "2k in, 900 out"),
        ({"total": 2_000_001, "input": 2_000_000, "output": 1}, "2.0M in, 1 out"),
        (None, ""),
    ],
)
def test_the_tokens_of_the_last_turn_come_last(editor, key, tokens, words):
    editor.apply(status(key, "idle", usage={"used": 5, "size": 10}, **({"tokens": tokens} if tokens else {})))
    shown = editor.lua(SHOWN, key, 80)[0].rstrip()
    assert shown == " ● demo idle · 5/10 (50%)" + (f" · {words}" if words else "")
    assert "in," not in editor.lua(SHOWN, key, 20)[0]


@pytest.mark.parametrize(
    ("width", "words"),
    [
        (10, " ◐ claude"),
        (20, " ◐ claude 1m15s"),
        (40, " ◐ claude Run `make test… · 1m15s · 2/3"),
        (60, " ◐ claude Run `make tes… · 1m15s · plan 2/3 · +2 · ±3 · 23%"),
        (80, " ◐ claude Run `make test… · 1m15s · 2/3 · +2 · ±3 · Accept edits · sonnet · 23%"),
        (
            180,
            " ◐ claude Run `make test` in the background · 1m15s · Fix the flaky test of parsing · plan 2/3 · 2 queued"
            " · 3 to review · Accept edits · sonnet · 45k/200k (23%) · $0.41",
        ),
    ],
)
def test_the_important_comes_first(editor, key, width, words):
    editor.apply(
        {"type": "plan", "session": key, "block": 1, "entries": STEPS},
        {"type": "status", "session": key, "status": FULL},
    )
    editor.lua('require("acp_nvim.chat.winbar.spinner").frame = function() return "◐" end')
    shown, wide = editor.lua(SHOWN, key, width)
    assert shown.rstrip() == words
    assert wide <= width


@pytest.mark.parametrize(
    ("state", "more", "words"),
    [
        ("starting", {}, "◌ demo starting"),
        ("idle", {}, "● demo idle"),
        ("waiting", {"pending_permissions": 2}, "? demo waiting for you · 2 to allow"),
        ("waiting", {"pending_elicitations": 1}, "? demo waiting for you · 1 to answer"),
        ("stopped", {}, "■ demo stopped"),
        ("failed", {}, "✗ demo failed"),
        ("dreaming\n%", {}, "◌ demo dreaming %"),
        ("idle", {"usage": {"used": 999_600, "size": 2_000_000}}, "● demo idle · 1.0M/2.0M (50%)"),
        ("idle", {"usage": {"used": 12, "size": 0}}, "● demo idle · 12"),
        ("idle", {"usage": {"used": 210_000, "size": 200_000, "doubtful": True}}, "● demo idle · 210k/200k (?)"),
        (
            "idle",
            {"usage": {"used": 1, "size": 100, "cost": 2, "currency": "credits"}},
            "idle · 1/100 (1%) · 2.00 cred",
        ),
        ("idle", {"usage": {"used": 1, "size": 100, "cost": 0.004, "currency": "EUR"}}, "idle · 1/100 (1%) · €0.004"),
        ("idle", {"mode": "ask"}, "● demo idle · ask"),
        ("running", {"turn_started": 1000 - 3725}, "demo working · 1h02m"),
        ("running", {"turn_started": 1000}, "demo working · 0s"),
        ("running", {"turn_started": 2000}, "demo working · 0s"),
        ("background", {"turn_started": 1000, "activity": "Run the tests"}, "demo Run the tests (background) · 0s"),
    ],
)
def test_states_numbers_and_what_nobody_knows(editor, key, state, more, words):
    editor.apply(status(key, state, **more))
    assert words in editor.lua(SHOWN, key, 200)[0]


PIECES = ["%", "%#Error#", "%{1}", "\x1b[31m", "\n", "\0", "\t", "é", "日本", "🙂", "word ", "٠", "\u202e", "%%"]


def test_any_words_fit_into_any_window(editor, key):
    rng = random.Random(6)
    for _ in range(150):
        words = {
            name: "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 30)))
            for name in ("agent", "activity", "title", "mode", "model")
        }
        editor.apply(status(key, rng.choice(["running", "idle", "waiting"]), **{"turn_started": 9, **words}))
        width = rng.randint(1, 120)
        shown, wide = editor.lua(SHOWN, key, width)
        assert wide <= max(width, 5), (words, width, shown)
        assert "\n" not in shown
        assert ("%#" in shown) <= ("%#" in "".join(words.values()))


def bar(editor, key):
    """Return the text of the line above the chat."""
    win = editor.lua("return vim.fn.win_findbuf(...)[1]", editor.session(key, "bufnr"))
    value = editor.api("get_option_value", "winbar", {"win": win, "scope": "local"})
    return editor.api("eval_statusline", value, {"winid": win, "maxwidth": 200, "use_winbar": True})["str"]


def test_who_puts_another_line_there_keeps_it(editor, key):
    editor.apply(status(key, "idle"))
    assert bar(editor, key).startswith(" ● demo idle")
    editor.focus(editor.session(key, "bufnr"))
    editor.command("setlocal winbar=mine")
    editor.apply(status(key, "waiting"), status(key, "idle"))
    assert bar(editor, key) == "mine"
    editor.command("setlocal winbar=")
    editor.apply(status(key, "waiting"))
    assert bar(editor, key) == ""


def test_it_can_be_switched_off_and_on(editor, key):
    editor.apply(status(key, "idle"))
    editor.lua('require("acp_nvim").setup({ ui = { winbar = false } })')
    assert bar(editor, key) == ""
    editor.lua('require("acp_nvim").setup({})')
    assert bar(editor, key).startswith(" ● demo idle")


TURNS = 'return require("acp_nvim.chat.winbar.spinner").turns()'
LOOK = """return { vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_mode().mode,
  vim.b.changedtick, vim.fn.winlayout(), vim.v.errmsg }"""


def ticks(editor, count=3):
    """Waits for so many of them."""
    frames = set()

    def seen():
        frames.add(editor.lua('return require("acp_nvim.chat.winbar.spinner").frame()'))
        return len(frames) >= count

    editor.wait_until(seen, what="ticks")


@pytest.mark.parametrize("state", ["running", "background"])
def test_it_moves_while_a_turn_runs_and_changes_nothing_else(editor, key, state):
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "text"})
    assert not editor.lua(TURNS)
    before = editor.lua(LOOK)
    editor.apply(status(key, state))
    ticks(editor)
    assert editor.lua(LOOK) == before
    editor.apply(status(key, "idle"))
    editor.wait_until(lambda: not editor.lua(TURNS), what="the end of it")


def test_it_moves_only_where_somebody_sees_it(editor, key):
    editor.lua('require("acp_nvim.events")')
    editor.command("tabnew")
    editor.apply(status(key))
    assert not editor.lua(TURNS)
    editor.command("tabprevious")
    assert editor.lua(TURNS)
    editor.command("tabnext")
    editor.wait_until(lambda: not editor.lua(TURNS), what="the end of it")


@pytest.mark.parametrize("option", ["spinner", "winbar"])
def test_it_need_not_move(editor, key, option):
    editor.lua('require("acp_nvim").setup({ ui = { [...] = false } })', option)
    editor.apply(status(key))
    assert not editor.lua(TURNS)


STATUSLINE = 'return require("acp_nvim").statusline(...)'


def test_a_status_line_has_a_short_text(editor):
    assert editor.lua(STATUSLINE) == ""
    key = editor.chat()
    editor.lua("os.time = function() return 1000 end")
    texts = []
    for state, more in (
        ("idle", {}),
        ("running", {"activity": "thinking", "turn_started": 995}),
        ("running", {"activity": "Run 100% of " + "all the tests " * 9, "turn_started": 995}),
        ("waiting", {"pending_permissions": 1, "turn_started": 995}),
        ("failed", {}),
    ):
        editor.apply(status(key, state, **more))
        texts.append(editor.lua(STATUSLINE))
    assert texts == [
        "● demo", "◐ demo thinking 5s", "◐ demo Run 100%% of all the tests all… 5s", "? demo 1 to allow 5s",
        "✗ demo failed",
    ]  # fmt: skip
    assert editor.lua(STATUSLINE, 77) == ""


PROMPT_BAR = "return vim.trim(vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true, maxwidth = 200 }).str)"


def test_the_prompt_says_which_keys_answer_and_where(editor, key):
    editor.command("vertical resize 80")
    editor.apply(status(key, "waiting", pending_permissions=1))
    assert editor.lua(PROMPT_BAR) == "? a permission waits: <C-w>k, then a allows, r rejects"
    editor.keys("i")
    assert "<Esc><C-w>k, then a allows" in editor.lua(PROMPT_BAR)
    prompt = editor.lua("return vim.api.nvim_get_current_win()")
    editor.keys("<Esc><C-w>k")
    assert editor.lua("return vim.bo.filetype") == "acp_chat"
    bar = """
    local options = { winid = ..., use_winbar = true, maxwidth = 200 }
    return vim.trim(vim.api.nvim_eval_statusline(vim.wo[...].winbar, options).str)
    """
    editor.wait_until(lambda: editor.lua(bar, prompt) == "? a permission waits: a allows, r rejects")


def test_the_prompt_says_how_a_question_is_answered(editor, key):
    editor.apply(status(key, "waiting", pending_elicitations=1))
    assert editor.lua(PROMPT_BAR) == "? a question waits: :AcpForms"
    editor.apply(status(key, "idle"))
    assert editor.lua(PROMPT_BAR) == "Prompt · <CR> sends"


def test_a_prompt_of_few_columns_names_the_keys_only(editor, key):
    editor.apply(status(key, "waiting", pending_permissions=1))
    editor.command("vertical resize 40")
    assert editor.lua(PROMPT_BAR) == "? <C-w>k: a allows, r rejects"

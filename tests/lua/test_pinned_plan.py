"""Plans of a running turn above the prompt: as much of them as there is room for, and nobody is disturbed."""

from __future__ import annotations

import random

import pytest

from tests.lua.test_sessions import host_ends
from tests.lua.test_winbar import SHOWN, status

PIN = """for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  if vim.w[win].acp_nvim_part == "pin" then
    return vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(win), 0, -1, true)
  end
end"""
HEIGHTS = """local out = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  local type = vim.bo[vim.api.nvim_win_get_buf(win)].filetype
  table.insert(out, { type, vim.api.nvim_win_get_height(win) })
end
return out"""
WHERE = "return { vim.api.nvim_get_current_win(), vim.api.nvim_win_get_cursor(0), vim.api.nvim_get_mode().mode }"
FILETYPE = "return vim.bo.filetype"


def plan(key, block, statuses, title=None, **more):
    """A plan whose steps are as these letters say: c(ompleted), i(n progress), p(ending), x (cancelled)."""
    words = {"c": "completed", "i": "in_progress", "p": "pending", "x": "cancelled"}
    entries = [
        {"content": f"step {number}", "status": words[letter], "priority": "low"}
        for number, letter in enumerate(statuses, 1)
    ]
    event = {"type": "plan", "session": key, "block": block, "entries": entries, **more}
    return {**event, "title": title} if title else event


def pinned(editor):
    """The lines of it, when all that was to be done is done."""
    editor.lua('require("acp_nvim.chat.windows.fit").now()')
    return editor.lua(PIN)


@pytest.fixture
def key(editor):
    key = editor.chat()
    editor.apply(status(key), {"type": "turn_start", "session": key})
    return key


def test_a_plan_lives_above_the_prompt_until_the_turn_is_over(editor, key):
    before = editor.lua(HEIGHTS)
    editor.apply(plan(key, 1, "ci"))
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]
    assert [one[0] for one in editor.lua(HEIGHTS)] == ["", "acp_chat", "acp_plan", "acp_prompt"]
    assert "plan 1/2" in editor.lua(SHOWN, key, 200)[0]
    editor.apply(plan(key, 1, "ccp"))
    assert pinned(editor) == [" ✓ step 1", " ✓ step 2", " ○ step 3"]
    editor.apply({"type": "turn_end", "session": key, "stop_reason": "end_turn"})
    assert pinned(editor) is None
    assert editor.lua(HEIGHTS) == before
    assert "plan" not in editor.lua(SHOWN, key, 200)[0]
    assert editor.lines(key)[1:] == ["Plan (2/3) [not finished]", "  ✓ step 1", "  ✓ step 2", "  ○ step 3"]


@pytest.mark.parametrize(
    ("statuses", "lines"),
    [
        ("iiiiii", ["▸ step 1", "▸ step 2", "▸ step 3", "▸ step 4", "▸ step 5", "▸ step 6"]),
        ("ippppppp", ["▸ step 1", "○ step 2", "○ step 3", "○ step 4", "○ step 5", "… 3 below"]),
        ("cccippppp", ["✓ step 3", "▸ step 4", "○ step 5", "○ step 6", "○ step 7", "… 2 above, 2 below"]),
        ("ccccccccci", ["✓ step 6", "✓ step 7", "✓ step 8", "✓ step 9", "▸ step 10", "… 5 above"]),
        ("cccxcpppp", ["✓ step 5", "○ step 6", "○ step 7", "○ step 8", "○ step 9", "… 4 above"]),
        ("cccccccc", ["✓ step 4", "✓ step 5", "✓ step 6", "✓ step 7", "✓ step 8", "… 3 above"]),
    ],
)
def test_what_is_being_done_is_always_seen_and_the_rest_is_counted(editor, key, statuses, lines):
    editor.apply(plan(key, 1, statuses))
    assert [line.strip() for line in pinned(editor)] == lines


def test_several_plans_share_it(editor, key):
    editor.apply(plan(key, 1, "ccip", "wash"), plan(key, 2, "i", "dry\nand fold"))
    assert [line[1:] for line in pinned(editor)] == [
        "Plan wash (2/4)", "✓ step 2", "▸ step 3", "… 1 above, 1 below", "Plan dry (0/1)", "▸ step 1",
    ]  # fmt: skip
    editor.apply(plan(key, 3, "pp", "iron"), plan(key, 4, "ci", "sort"))
    assert [line[1:] for line in pinned(editor)] == [
        "Plan iron (0/2)", "○ step 1", "○ step 2", "Plan sort (1/2)", "▸ step 2  … 1 more", "… 2 more plans",
    ]  # fmt: skip
    editor.apply(
        plan(key, 4, "ci", "sort", removed=True), plan(key, 2, "", "dry"), plan(key, 3, "c", "iron", over=True)
    )
    assert [line[1:] for line in pinned(editor)] == ["Plan wash (2/4)", "✓ step 1", "✓ step 2", "▸ step 3", "○ step 4"]
    assert "Plan sort (1/2) [removed]" in editor.lines(key)


ANY = """local cases, out = ..., {}
local pinned = require("acp_nvim.chat.windows.pin").lines
for _, case in ipairs(cases) do
  local texts = {}
  for index, line in ipairs(pinned(case.living, case.room, case.named)) do
    texts[index] = line.text
  end
  table.insert(out, texts)
end
return out"""


def test_any_plans_in_any_room(editor):
    rng = random.Random(4)
    cases = []
    for _ in range(400):
        living = [
            {"change": change, "plan": plan(1, number, rng.choices("cipx", k=rng.randint(1, 12)), f"plan {number}")}
            for number, change in enumerate(rng.sample(range(9), rng.randint(1, 5)), 1)
        ]
        cases.append({"living": living, "room": rng.randint(1, 9), "named": len(living) > 1 or rng.random() < 0.5})
    for case, lines in zip(cases, editor.lua(ANY, cases), strict=True):
        assert 1 <= len(lines) <= case["room"]
        last = max(case["living"], key=lambda one: one["change"])
        entries = last["plan"]["entries"]
        active = next((one for one in entries if one["status"] == "in_progress"), None)
        assert active is None or any(f"▸ {active['content']}" in line for line in lines), (case, lines)
        whole = sum(len(one["plan"]["entries"]) + case["named"] for one in case["living"])
        hidden = any(line.startswith("…") or "  … " in line for line in lines)
        assert hidden or len(lines) == whole or case["room"] <= 2, (case, lines)


def test_plans_that_are_texts_or_files(editor, key):
    text = "# To do\n\n- [x] wash\n- [ ] dry\n* [X] iron\n\n1. rest\n"
    editor.apply(plan(key, 1, "", text=text))
    assert [line[1:] for line in pinned(editor)] == ["# To do", "- [x] wash", "- [ ] dry", "* [X] iron", "1. rest"]
    assert "plan 2/3" in editor.lua(SHOWN, key, 200)[0]
    editor.apply(plan(key, 1, "", uri=f"file://{editor.project}/plan.md"))
    assert pinned(editor) == [f" {editor.project}/plan.md"]
    assert editor.lines(key)[1:] == ["Plan", "  plan.md"]


@pytest.mark.parametrize("option", ["chat", False])
def test_it_need_not_be_pinned(editor, key, option):
    editor.lua('require("acp_nvim").setup({ ui = { plan = ... } })', option)
    editor.apply(plan(key, 1, "ci"))
    assert pinned(editor) is None
    shown = ["Plan (1/2)", "  ✓ step 1", "  ▸ step 2"] if option else ["Plan (1/2)"]
    assert editor.lines(key)[1:] == shown


@pytest.mark.parametrize("keys", ["", "itext", "v", ":echo 1"])
@pytest.mark.parametrize("where", ["code", "bufnr", "prompt_bufnr"])
def test_nobody_is_disturbed(editor, key, keys, where):
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "line\n" * 99})
    if where == "code":
        editor.command("wincmd h | call setline(1, range(99)) | normal! 50G")
    else:
        editor.focus(editor.session(key, where))
    if where == "bufnr":
        editor.keys("50Gzz")
    if where != "bufnr" or keys != "itext":
        editor.keys(keys)
    top = "return vim.fn.line('w0')"
    before = editor.lua(WHERE), editor.lua(top)
    for number in range(1, 9):
        editor.apply(plan(key, 2, "c" * number + "i"))
        editor.lua('require("acp_nvim.chat.windows.fit").now()')
    during = editor.lua(WHERE), editor.lua(top)
    editor.apply({"type": "turn_end", "session": key, "stop_reason": "end_turn"})
    editor.lua('require("acp_nvim.chat.windows.fit").now()')
    assert (during, (editor.lua(WHERE), editor.lua(top))) == (before, before)


def test_a_chat_that_follows_stays_at_its_end(editor, key):
    editor.apply({"type": "append", "session": key, "block": 1, "kind": "agent", "text": "line\n" * 99})
    editor.apply(plan(key, 2, "ciiiii"))
    pinned(editor)
    chat = editor.lua("return vim.fn.win_findbuf(...)[1]", editor.session(key, "bufnr"))
    last = "return { vim.fn.line('.', ...), vim.fn.line('$', ...), vim.fn.line('w$', ...), vim.fn.line('w0', ...) }"
    editor.command("redraw")
    line, end, seen, first = editor.lua(last, chat)
    assert line == end == seen
    editor.apply({"type": "turn_end", "session": key, "stop_reason": "end_turn"})
    pinned(editor)
    editor.command("redraw")
    line, end, seen, wider = editor.lua(last, chat)
    assert line == end == seen
    assert wider < first


def test_the_way_to_the_next_window_leads_past_it(editor, key):
    editor.apply(plan(key, 1, "ci"))
    pinned(editor)
    editor.focus(editor.session(key, "bufnr"))
    seen = []
    for keys in ("<C-w>j", "<C-w>k", "<C-w>w", "<C-w>W", "<C-w>t<C-w>b<C-w>k"):
        editor.keys(keys)
        seen.append(editor.lua(FILETYPE))
    assert seen == ["acp_prompt", "acp_chat", "acp_prompt", "acp_chat", "acp_chat"]


def test_it_goes_with_the_prompt_and_comes_with_it(editor, key):
    editor.apply(plan(key, 1, "ci"))
    pinned(editor)
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.command("close")
    editor.wait_until(lambda: editor.lua(PIN) is None, what="the plan to go")
    editor.command("AcpChat")
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]
    editor.command("tabnew")
    assert pinned(editor) is None
    editor.command("AcpChat")
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("q")
    editor.wait_until(lambda: len(editor.lua(HEIGHTS)) == 1, what="all of them to go")


def test_another_chat_in_the_same_windows_has_its_own(editor, key):
    editor.apply(plan(key, 1, "ci"))
    assert pinned(editor)
    editor.chat()
    assert pinned(editor) is None
    editor.command(f"wincmd t | wincmd l | buffer! {editor.session(key, 'bufnr')}")
    assert pinned(editor) == [" ✓ step 1", " ▸ step 2"]


@pytest.mark.parametrize("position", ["bottom", "left", "tab"])
def test_lines_of_the_code_are_not_taken(editor, position):
    editor.lua('require("acp_nvim").setup({ ui = { position = ... } })', position)
    key = editor.chat()
    editor.apply(status(key), plan(key, 1, ""))
    before = editor.lua(HEIGHTS)
    editor.apply(plan(key, 1, "cip"))
    assert len(pinned(editor)) == 3
    during = editor.lua(HEIGHTS)
    assert [one for one in during if one[0] == ""] == [one for one in before if one[0] == ""]
    assert [height for kind, height in during if kind == "acp_prompt"] == [
        height for kind, height in before if kind == "acp_prompt"
    ]
    editor.apply(plan(key, 1, ""))
    assert pinned(editor) is None
    assert editor.lua(HEIGHTS) == before


def test_without_a_host_no_plan_lives(editor, key):
    editor.apply(plan(key, 1, "ci"))
    assert pinned(editor)
    host_ends(editor)
    assert pinned(editor) is None
    assert "failed" in editor.lua(SHOWN, key, 200)[0]


def test_other_windows_keep_their_uneven_sizes(editor, key):
    editor.command("wincmd t | split | resize 5 | vsplit | vertical resize 9")
    layout = "return vim.tbl_map(function(w) return { w.winid, w.width, w.height } end, vim.fn.getwininfo())"
    before = editor.lua(layout)
    editor.apply(plan(key, 1, "ci"))
    assert pinned(editor)
    editor.apply({"type": "turn_end", "session": key, "stop_reason": "end_turn"})
    assert pinned(editor) is None
    assert editor.lua(layout) == before


@pytest.mark.parametrize(("columns", "lines"), [(20, 6), (20, 8), (30, 10), (40, 12)])
def test_where_there_is_no_room_it_is_not(editor, columns, lines):
    editor.lua("vim.o.columns, vim.o.lines = ...", columns, lines)
    key = editor.chat()
    editor.apply(status(key), plan(key, 1, "ci"))
    assert pinned(editor) in (None, [" ▸ step 2  … 1 more"], [" ✓ step 1", " ▸ step 2"])
    assert all(height >= 1 for _, height in editor.lua(HEIGHTS))


def test_told_again_only_the_plan_of_the_turn_that_runs_lives(editor, key):
    editor.apply(plan(key, 1, "ci"), {"type": "reset", "session": key})
    assert pinned(editor) is None
    editor.apply(plan(key, 1, "ci", over=True), plan(key, 2, "i"), status(key))
    assert pinned(editor) == [" ▸ step 1"]
    editor.apply(status(key, "failed"))
    assert pinned(editor) is None


APART = """
-- what manages windows moves chat and prompt to the edge, without autocommands, and leaves the plans where they are
local parts = {}
for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
  parts[vim.bo[vim.api.nvim_win_get_buf(win)].filetype] = win
end
vim.o.eventignore = "all"
vim.fn.win_execute(parts.acp_chat, "wincmd L")
vim.fn.win_splitmove(parts.acp_prompt, parts.acp_chat, { rightbelow = true })
vim.api.nvim_win_set_width(parts.acp_chat, 48)
vim.o.eventignore = ""
"""


def test_a_plan_that_is_moved_away_from_the_chat_is_shown_in_the_chat(editor):
    editor.command("edit a.txt")
    key = editor.chat()
    editor.apply(status(key), plan(key, 1, "cip"))
    assert pinned(editor)
    editor.lua(APART)
    editor.wait_until(lambda: not editor.lua(PIN), what="no window for the plan")
    assert editor.lua("return vim.fn.winwidth(1)") == 120 - 48 - 1
    editor.focus(editor.session(key, "bufnr"))
    assert any("step 2" in line for line in editor.lines(key))
    editor.wait_until("vim.fn.foldclosed(vim.fn.search('step 2', 'w')) == -1", what="the plan, open")
    editor.apply(plan(key, 1, "cci"))
    assert not pinned(editor)

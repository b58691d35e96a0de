"""Folds of thoughts and tool calls: Neovim's own keys move them, and they stay as they are while the chat changes."""

from __future__ import annotations

import pytest

from tests.lua.conftest import STATUS
from tests.lua.test_chat import append, call

RUNNING = {**STATUS, "state": "running"}
THOUGHT = "\n".join(f"thought {n}" for n in range(10))


def output(count, word="row"):
    return [{"type": "text", "text": "\n".join(f"{word} {n}" for n in range(count))}]


def chat(editor, *events, **config):
    """A chat in the current window, with these events; its key."""
    if config:
        editor.lua('require("acp_nvim").setup({ ui = ... })', config)
    key = editor.chat()
    editor.focus(editor.session(key, "bufnr"))
    editor.apply({"type": "status", "session": key, "status": RUNNING})
    editor.apply(*[{**event, "session": key} for event in events])
    return key


def closed(editor, win=0):
    """First and last line of each closed fold of a window."""
    return editor.lua(
        """return vim.api.nvim_win_call(..., function()
          local out, line = {}, 1
          while line <= vim.fn.line("$") do
            local last = vim.fn.foldclosedend(line)
            if last > 0 then table.insert(out, { line, last }) end
            line = math.max(line, last) + 1
          end
          return out
        end)""",
        win,
    )


def levels(editor, win=0):
    return editor.lua(
        """return vim.api.nvim_win_call(..., function()
          local out = {}
          for line = 1, vim.fn.line("$") do out[line] = tostring(vim.fn.foldlevel(line)) end
          return table.concat(out)
        end)""",
        win,
    )


def test_a_thought_is_open_while_it_grows_and_closed_when_it_is_over(editor):
    key = chat(editor, append(1, 1, THOUGHT, "thought"))
    assert closed(editor) == []
    editor.apply(append(key, 1, "\nmore", "thought"))
    assert closed(editor) == []
    editor.apply(append(key, 2, "The answer."))
    assert closed(editor) == [[2, 12]]
    editor.apply(append(key, 2, "\nand more", "agent"))
    assert closed(editor) == [[2, 12]]
    assert levels(editor) == "0" + 11 * "1" + "000"


@pytest.mark.parametrize(
    ("thought", "config", "is_closed"),
    [
        ("one\ntwo", {}, False),
        ("one\ntwo\nthree\nfour", {}, True),
        ("word " * 100, {}, True),
        (THOUGHT, {"fold_thoughts": False}, False),
    ],
)
def test_which_thoughts_are_closed(editor, thought, config, is_closed):
    chat(editor, append(1, 1, thought, "thought"), append(1, 2, "answer"), **config)
    assert (closed(editor) != []) == is_closed
    editor.keys("ggjzc")
    assert closed(editor) == [[2, 1 + len(thought.split("\n"))]], "by hand any can be"


@pytest.mark.parametrize(
    ("status", "lines", "config", "is_closed"),
    [
        ("completed", 15, {}, False),
        ("completed", 15, {"fold_tool_calls": True}, True),
        ("in_progress", 15, {"fold_tool_calls": True}, True),
        ("completed", 80, {}, True),
        ("completed", 80, {"fold_tool_calls": False}, False),
        ("failed", 80, {}, False),
        ("in_progress", 80, {}, False),
    ],
)
def test_which_tool_calls_are_closed(editor, status, lines, config, is_closed):
    content = output(10) * (lines // 10)
    chat(editor, call(1, 1, status, content=content), append(1, 2, "answer"), **config)
    assert (closed(editor) != []) == is_closed


def test_the_keys_of_neovim_work(editor):
    chat(editor, append(1, 1, THOUGHT, "thought"), call(1, 2, "completed", content=output(5)), append(1, 3, "end"))
    thought, tool = [2, 11], [13, 18]
    assert closed(editor) == [thought]
    for keys, after in [
        ("ggjzo", []), ("zc", [thought]), ("za", []), ("zM", [thought, tool]), ("zR", []), ("zM", [thought, tool]),
        ("13Gza", [thought]), ("zc", [thought, tool]), ("ggzn", []), ("zN", [thought, tool]), ("ggzj", [thought, tool]),
    ]:  # fmt: skip
        editor.keys(keys)
        assert closed(editor) == after, keys
    assert editor.lua("return vim.fn.line('.')") == 2, "zj goes to the next"


def test_a_call_that_grows_stays_as_the_user_left_it(editor):
    key = chat(editor, call(1, 1, "in_progress", content=output(3)), append(1, 2, "end"))
    assert levels(editor) == "0111100"
    for is_closed in (True, False):
        editor.keys("gg2G" + ("zc" if is_closed else "zo"))
        for count, word in [(5, "row"), (9, "other"), (2, "row"), (20, "row"), (1, "x"), (4, "row")]:
            editor.apply(call(key, 1, "in_progress", content=output(count, word)))
            assert levels(editor)[1 : count + 2] == "1" * (count + 1)
            assert set(levels(editor)[count + 2 :]) == {"0"}
            assert closed(editor) == ([[2, count + 2]] if is_closed else [])


def test_a_call_that_has_nothing_more_to_show_is_no_fold(editor):
    key = chat(editor, call(1, 1, "in_progress", content=output(3)), append(1, 2, "end"))
    editor.apply(call(key, 1, "completed", content=[]))
    assert set(levels(editor)) == {"0"}


def test_changes_above_and_below_move_folds_along(editor):
    key = chat(
        editor, append(1, 1, "hi", "user"), append(1, 2, THOUGHT, "thought"), call(1, 3, content=output(3)),
        append(1, 4, "end"),
    )  # fmt: skip
    editor.apply(append(key, 1, "\nand more\nof it", "user"), call(key, 3, content=output(6)), append(key, 4, "\n!"))
    assert closed(editor) == [[6, 15]]
    editor.apply({"type": "replace", "session": key, "block": 2, "kind": "thought", "text": "a\nb\nc\nd\ne"})
    assert closed(editor) == [[6, 10]]


def test_after_zm_new_ones_are_closed_and_after_zr_open(editor):
    key = chat(editor, call(1, 1, content=output(3)), append(1, 2, "end"))
    editor.keys("zM")
    editor.apply(call(key, 3, "completed", content=output(4), id="t3"), append(key, 4, "end"))
    assert closed(editor) == [[2, 5], [9, 13]]
    editor.keys("zR")
    editor.apply(append(key, 5, THOUGHT, "thought"), append(key, 6, "end"))
    assert closed(editor) == []


def test_nothing_closes_where_somebody_reads(editor):
    key = chat(editor, append(1, 1, THOUGHT, "thought"))
    editor.keys("5G")
    editor.apply(append(key, 2, "answer"))
    assert closed(editor) == []
    assert levels(editor)[1:11] == "1" * 10


def test_a_thought_that_ends_a_turn_can_be_folded(editor):
    key = chat(editor, append(1, 1, "hm", "thought"))
    editor.apply({"type": "status", "session": key, "status": {**RUNNING, "state": "idle"}})
    editor.apply(append(key, 1, "\nso", "thought"))
    assert levels(editor) == "011"


def test_every_window_has_its_own(editor):
    key = chat(editor, append(1, 1, THOUGHT, "thought"), append(1, 2, "end"))
    first = editor.api("get_current_win")
    editor.command("split")
    second = editor.api("get_current_win")
    editor.wait_until(lambda: closed(editor, second) == [[2, 11]], what="the folds of the new window")
    editor.keys("zR")
    assert (closed(editor, first), closed(editor, second)) == ([[2, 11]], [])
    editor.apply(call(key, 3, content=output(2)), append(key, 2, "\nmore\nand more"))
    editor.wait_until(lambda: levels(editor, first) == levels(editor, second), what="the new fold in both windows")
    assert (closed(editor, first), closed(editor, second)) == ([[2, 11]], [])


def test_a_window_that_is_opened_later_has_all_folds(editor):
    key = chat(editor, append(1, 1, "x", "user"))
    editor.command("new")
    editor.lua("vim.api.nvim_win_close(vim.fn.win_findbuf(...)[1], true)", editor.session(key, "bufnr"))
    events = []
    for n in range(2, 800, 2):
        events += [append(key, n, THOUGHT, "thought"), append(key, n + 1, "answer\n" * 5)]
    editor.apply(*events)
    editor.command("AcpChat")
    win = editor.lua("return vim.fn.win_findbuf(...)[1]", editor.session(key, "bufnr"))
    editor.wait_until(lambda: len(closed(editor, win)) == 399, what="all folds")


def test_what_came_out_of_sight_has_folds_a_moment_later(editor):
    key = chat(editor, call(1, 1, content=output(3)))
    contents = {n: output(20) * 2 if n == 50 else output(3) for n in range(2, 102)}
    editor.apply(*[call(key, n, "completed", id=f"t{n}", content=one) for n, one in contents.items()])
    editor.wait_until(lambda: levels(editor).count("1") == 100 * 4 + 41, what="all folds")
    assert closed(editor) == [[247, 287]]


def test_a_screen_of_closed_folds_has_all_of_them_at_once(editor):
    key = chat(editor, append(1, 1, "hi", "user"), fold_tool_calls=True)
    editor.apply(*[call(key, n, id=f"t{n}", content=output(30)) for n in range(2, 7)])
    assert len(closed(editor)) == 5


def test_typing_is_undisturbed(editor):
    key = chat(editor, call(1, 1, "in_progress", content=output(3)), append(1, 2, "end"))
    editor.command("AcpChat")
    editor.focus(editor.session(key, "prompt_bufnr"))
    editor.keys("ihalf a wo")
    for count in (5, 9, 2):
        editor.apply(call(key, 1, "in_progress", content=output(count)))
        editor.keys("r")
    assert editor.prompt_lines(key) == ["half a worrr"]
    assert editor.api("get_mode")["mode"] == "i"
    editor.keys("<Esc>")
    editor.focus(editor.session(key, "bufnr"))
    editor.keys("Gv2k")
    editor.apply(call(key, 1, "in_progress", content=output(12)))
    assert editor.api("get_mode")["mode"] == "v"
    editor.keys("<Esc>")
    editor.apply(call(key, 1, "in_progress", content=output(12), title="Other"))
    assert levels(editor)[1:14] == "1" * 13

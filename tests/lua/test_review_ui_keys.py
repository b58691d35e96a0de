"""The keys of the review: where they are, what they do, and that they leave nothing behind."""

from __future__ import annotations

import pytest

from tests.lua.review_files import TWO, hunk, review, tell, written

MAPS = """
local out = {}
for _, mode in ipairs({ "n", "x" }) do
  for _, map in ipairs(vim.api.nvim_buf_get_keymap(0, mode)) do
    table.insert(out, mode .. " " .. map.lhs)
  end
end
table.sort(out)
return out
"""
CONFLICT = hunk(3, 14, 2, [], by="conflict", theirs=["theirs"])


@pytest.fixture
def path(editor):
    """A file with three hunks, the last one a conflict, in the current window."""
    opened = written(editor.project, "main.py")
    editor.command(f"edit {opened}")
    tell(editor, review(opened, hunks=[*TWO, CONFLICT], conflicts=1))
    return opened


def over(editor, path):
    """Ends the review; the keys go when the user leaves the buffer."""
    tell(editor, review(path, "none"))
    editor.command("enew | buffer #")


def at(editor, line, keys):
    editor.lua("vim.api.nvim_win_set_cursor(0, { ..., 0 })", line)
    editor.keys(keys)


def test_they_are_there_while_something_is_left(editor):
    path = written(editor.project, "main.py")
    editor.command(f"edit {path}")
    before = editor.lua(MAPS)
    tell(editor, review(path, hunks=TWO))
    assert {"n ]h", "n [h", "n ghn", "n ghp", "n ghk", "x ghk", "n ghr", "x ghr", "n ghK", "n ghR", "n g?"} <= set(
        editor.lua(MAPS)
    )
    assert {"n gho", "n ght", "n ghb"} <= set(editor.lua(MAPS))
    over(editor, path)
    assert editor.lua(MAPS) == before


def test_a_key_that_comes_after_the_last_hunk_does_not_change_the_file(editor, path):
    before = editor.buffer_text()
    tell(editor, review(path, "none"))
    at(editor, 2, "ghk")
    at(editor, 2, "ghn")
    at(editor, 2, "vghr")
    assert (editor.buffer_text(), editor.api("get_mode")["mode"]) == (before, "n")
    assert "this buffer has nothing to review" in editor.message()
    editor.command("enew | buffer #")
    assert not [name for name in editor.lua(MAPS) if "gh" in name]


def test_an_alternative_that_the_user_has_mapped_is_left_alone(editor):
    path = written(editor.project, "main.py")
    editor.command(f"edit {path}")
    editor.command("nmap <buffer> ]h <Cmd>let g:mine = 'local'<CR>")
    editor.command("nmap [h <Cmd>let g:mine = 'global'<CR>")
    before = editor.lua(MAPS)
    tell(editor, review(path, hunks=TWO))
    for key, mine in (("]h", "local"), ("[h", "global")):
        at(editor, 1, key)
        assert editor.lua("return vim.g.mine") == mine
    at(editor, 1, "ghn")
    assert editor.api("win_get_cursor", 0)[0] > 1
    editor.keys("ghp")
    over(editor, path)
    assert editor.lua(MAPS) == before


def test_they_give_back_what_they_cover(editor, path):
    over(editor, path)
    editor.command("nmap <buffer> ghk <Cmd>let g:mine = 'n'<CR>")
    editor.lua("vim.keymap.set('x', 'ghk', function() vim.g.mine = 'x' end, { buffer = 0 })")
    tell(editor, review(path, hunks=TWO))
    at(editor, 2, "ghk")
    assert len(editor.sent("review")) == 1
    over(editor, path)
    editor.keys("ghk")
    assert editor.lua("return vim.g.mine") == "n"
    editor.keys("vghk")
    assert editor.lua("return vim.g.mine") == "x"
    assert len(editor.sent("review")) == 1


def test_what_the_user_maps_meanwhile_stays(editor, path):
    editor.command("nmap <buffer> ghk <Cmd>let g:mine = 1<CR>")
    over(editor, path)
    editor.keys("ghk")
    assert editor.lua("return vim.g.mine") == 1


def test_a_buffer_that_is_opened_again_has_them_again(editor, path):
    editor.command("nmap <buffer> ghk <Cmd>let g:mine = 1<CR>")
    editor.command("enew | bdelete #")
    editor.command(f"edit {path}")
    tell(editor, review(path, hunks=TWO))
    at(editor, 2, "ghk")
    assert len(editor.sent("review")) == 1
    over(editor, path)
    assert not [name for name in editor.lua(MAPS) if "gh" in name]


def test_keep_and_reject_the_hunk_under_the_cursor(editor, path):
    at(editor, 2, "ghk")
    at(editor, 11, "ghr")
    assert editor.sent("review") == [
        {"action": "keep", "path": str(path), "hunks": [1]},
        {"action": "reject", "path": str(path), "hunks": [2]},
    ]


def test_the_selected_hunks(editor, path):
    at(editor, 1, "VGghk")
    assert editor.sent("review") == [{"action": "keep", "path": str(path), "hunks": [1, 2]}]
    assert editor.lua("return vim.fn.mode()") == "n"
    at(editor, 11, "vGgho")
    assert editor.sent("review")[1:] == [{"action": "mine", "path": str(path), "hunks": [3]}]
    at(editor, 11, "vggghr")
    assert editor.sent("review")[2:] == [{"action": "reject", "path": str(path), "hunks": [1, 2]}]


@pytest.mark.parametrize(("keys", "action"), [("gho", "mine"), ("ght", "theirs"), ("ghb", "both")])
def test_a_conflict_is_decided(editor, path, keys, action):
    at(editor, 15, keys)
    assert editor.sent("review") == [{"action": action, "path": str(path), "hunks": [3]}]


@pytest.mark.parametrize(
    ("line", "keys", "words"),
    [
        (5, "ghk", "there is no hunk here (ghn goes to the next)"),
        (15, "ghk", "this hunk is a conflict: resolve it with :AcpReview mine, theirs or both"),
        (2, "gho", "there is no conflict here"),
    ],
)
def test_words_when_nothing_is_done(editor, path, line, keys, words):
    at(editor, line, keys)
    assert words in editor.message()
    assert editor.sent("review") == []


def test_a_deletion_is_on_the_line_after_it_or_on_the_last(editor):
    path = written(editor.project, "main.py", 3)
    editor.command(f"edit {path}")
    tell(editor, review(path, hunks=[hunk(1, 1, 0, ["gone"]), hunk(2, 3, 0, ["gone"])]))
    at(editor, 2, "ghk")
    at(editor, 3, "ghk")
    at(editor, 2, "Vjghr")
    assert [one["hunks"] for one in editor.sent("review")] == [[1], [2], [1, 2]]


def test_all_of_the_file(editor, path):
    at(editor, 5, "ghK")
    at(editor, 5, "ghR")
    assert editor.sent("review") == [{"action": "keep", "path": str(path)}, {"action": "reject", "path": str(path)}]


def test_a_file_without_hunks_is_kept_as_a_whole(editor):
    path = written(editor.project, "run.sh")
    editor.command(f"edit {path}")
    tell(editor, review(path, "mode", hunks=[], note="executable now"))
    at(editor, 4, "ghr")
    assert editor.sent("review") == [{"action": "reject", "path": str(path)}]


def test_next_and_previous(editor, path):
    at(editor, 1, "]h")
    assert editor.lua("return vim.fn.line('.')") == 2
    editor.keys("]h")
    assert editor.lua("return vim.fn.line('.')") == 10
    editor.keys("[h")
    assert editor.lua("return vim.fn.line('.')") == 2


def test_other_keys(editor):
    editor.lua('require("acp_nvim").setup({ keymaps = { review_keep = { "<C-y>", "gk" }, review_reject = false } })')
    path = written(editor.project, "main.py")
    editor.command(f"edit {path}")
    tell(editor, review(path, hunks=TWO))
    maps = editor.lua(MAPS)
    assert not {"n ghk", "n ghr"} & set(maps)
    at(editor, 2, "<C-y>")
    at(editor, 2, "gk")
    assert [one["action"] for one in editor.sent("review")] == ["keep", "keep"]


def test_plug_maps(editor, path):
    editor.command("nmap X <Plug>(AcpReviewReject)")
    editor.command("xmap X <Plug>(AcpReviewKeep)")
    at(editor, 2, "X")
    at(editor, 1, "VGX")
    assert [(one["action"], one["hunks"]) for one in editor.sent("review")] == [("reject", [1]), ("keep", [1, 2])]
    editor.keys("<Esc>")

"""What Neovim 0.13 does differently, simulated (`tests/support/like_013.lua`), beside the Neovim that runs the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lua.conftest import LuaEditor

VERSIONS = ["", "0.13"]
"""The Neovim as it is, and as if it were that one."""

ON_CHANGE = """
_G.changed = {}
local group = vim.api.nvim_create_augroup("test", {})
require("acp_nvim.buffers.modified_event").on_change(group, function(bufnr)
  table.insert(_G.changed, { bufnr, vim.bo[bufnr].modified })
end)
"""


def tracked(editor, text="one\ntwo\n"):
    """A file of a live session, open."""
    editor.command("set hidden")
    editor.lua('require("acp_nvim.buffers").set_roots(1, { ... })', str(editor.project))
    path = editor.project / "file.txt"
    path.write_text(text)
    editor.command(f"edit {path}")
    return path


@pytest.fixture(params=VERSIONS)
def editor(request, tmp_path, monkeypatch):
    """A Neovim for each simulated difference."""
    monkeypatch.setenv("ACP_NVIM_LIKE", request.param)
    editor = LuaEditor(tmp_path)
    yield editor
    editor.close()


@pytest.fixture
def next_one(tmp_path, monkeypatch):
    """A Neovim that behaves like 0.13."""
    monkeypatch.setenv("ACP_NVIM_LIKE", "0.13")
    editor = LuaEditor(tmp_path)
    yield editor
    editor.close()


def test_the_simulation_has_no_event_for_it(next_one):
    assert next_one.lua('return vim.fn.exists("##BufModifiedSet")') == 0
    code = 'return { pcall(vim.api.nvim_create_autocmd, "BufModifiedSet", { command = "" }) }'
    is_there, why = next_one.lua(code)
    assert not is_there
    assert "Invalid 'event'" in why


def test_each_change_of_modified_is_told_with_its_buffer(editor):
    editor.lua(ON_CHANGE)
    first = editor.lua("vim.cmd('edit one') return vim.api.nvim_get_current_buf()")
    editor.keys("ione<Esc>")
    editor.wait_until(lambda: editor.lua("return _G.changed") == [[first, True]], what="the first change")
    second = editor.lua("vim.cmd('split two') return vim.api.nvim_get_current_buf()")
    editor.keys("itwo<Esc>")
    editor.wait_until("#_G.changed == 2", what="the second change")
    editor.keys("u")
    wanted = [[first, True], [second, True], [second, False]]
    editor.wait_until(
        lambda: editor.lua("return _G.changed") == wanted, what=lambda: str(editor.lua("return _G.changed"))
    )


def test_a_buffer_that_differs_from_its_saved_text_is_modified_until_the_host_has_looked(editor):
    tracked(editor)
    editor.keys("Atyped<Esc>")
    editor.command("noautocmd write")
    editor.wait_until("vim.bo.modified", what="the buffer to be modified")


def test_a_prompt_is_never_modified_but_other_buffers_are(editor):
    editor.chat()
    editor.keys("ihello<Esc>")
    editor.wait_until("vim.bo.filetype == 'acp_prompt' and not vim.bo.modified", what="an unmodified prompt")
    assert editor.buffer_text() == "hello"
    editor.command("tabnew other")
    editor.keys("ityped<Esc>")
    editor.lua(ON_CHANGE)
    editor.keys("u")
    editor.wait_until("#_G.changed == 1", what="a change of another buffer")
    editor.keys("otyped again<Esc>")
    editor.wait_until("#_G.changed == 2 and vim.bo.modified", what="another buffer to be modified")


@pytest.mark.parametrize("is_typed", [False, True])
def test_a_watched_file_is_left_to_the_host(next_one, is_typed):
    """'autoread' would read the file as soon as it changes, and the marks of the agent's changes would be lost."""
    other = next_one.places.directory / "other.txt"
    other.write_text("one\n")
    path = tracked(next_one)
    mine = next_one.lua("return vim.api.nvim_get_current_buf()")
    if is_typed:
        next_one.keys("Atyped<Esc>")
    before = next_one.buffer_text()
    next_one.command(f"split {other}")
    path.write_text("by the agent\n")
    other.write_text("by the agent\n")
    next_one.wait_until(lambda: next_one.buffer_text() == "by the agent", what="the file of nobody to be read")
    next_one.command("checktime")  # as when the focus comes back
    told = {"paths": [str(path)]}
    next_one.wait_until(lambda: told in next_one.sent("disk_changed"), what="the host to be told")
    assert next_one.buffer_text(mine) == before
    assert next_one.lua("return vim.bo[...].modified", mine) is is_typed


def test_windows_get_their_sizes(next_one):
    key = next_one.chat()
    next_one.keys("i" + "line<CR>" * 4 + "<Esc>")
    next_one.wait_until("vim.api.nvim_win_get_height(0) == 6", what="the prompt to grow")
    next_one.lua('require("acp_nvim.review.files.list").open()')
    assert next_one.lua("return vim.bo.filetype") == "acp_review"
    assert next_one.lua("return vim.api.nvim_win_get_height(0)") == 3
    assert next_one.messages() == []
    assert key


def test_keys_that_are_held_down_are_dropped(next_one):
    """Neovim's function that translates a key returns more there than it did."""
    next_one.chat()
    next_one.lua("""
      vim.cmd.wincmd("p")
      require("acp_nvim.keys.typed_ahead").run("<CR>", function() vim.cmd.tabnew() end)
    """)
    assert next_one.messages() == []


def test_the_log_is_written_where_logs_are(next_one):
    next_one.lua('vim.g.acp_nvim_channel = nil require("acp_nvim.kernel.log").write("words")')
    path = Path(next_one.lua('return require("acp_nvim.kernel.log").path()'))
    assert path.parent.name == "logs"
    assert "words" in path.read_text()

"""The prompt: sending, the draft that is never lost, what is attached, history."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SEND_FAILS = 'require("acp_nvim.host").send = function() return false end'

KEYS = """
local config, out = require("acp_nvim.config"), {}
for _, option in ipairs(require("acp_nvim.config.schema")) do
  local action = option.name:match("^keymaps%.(.+)$")
  if action then
    table.insert(out, { action, config.keys(action)[1] })
  end
end
return out
"""
HINTS = """
local space = vim.api.nvim_create_namespace("acp_nvim.placeholder")
local marks = vim.api.nvim_buf_get_extmarks(0, space, 0, -1, { details = true })
return { marks[1][4].virt_text[1][1], vim.api.nvim_eval_statusline(vim.wo.winbar, { use_winbar = true }).str }
"""


@pytest.fixture
def key(editor):
    return editor.chat()


def test_chat_opens_with_the_focus_in_the_prompt(editor, key):
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert editor.sent("open") == [{"session": key, "agent": "demo", "cwd": str(editor.project)}]


@pytest.mark.parametrize("keys", ["ihello<CR>there<Esc><CR>", "ihello<CR>there<C-s>", "ihello<CR>there<Esc><C-s>"])
def test_send(editor, key, keys):
    editor.keys(keys)
    assert editor.sent("prompt") == [{"session": key, "id": 1, "text": "hello\nthere", "context": []}]
    assert editor.prompt_lines(key) == [""]


def test_nothing_is_not_sent(editor, key):
    editor.keys("i  <CR> <Esc><CR>")
    assert editor.sent("prompt") == []


def test_what_cannot_be_handed_over_stays(editor, key):
    editor.lua(SEND_FAILS)
    editor.keys("ikeep me<C-s>")
    assert editor.prompt_lines(key) == ["keep me"]


@pytest.mark.parametrize("how", ["close", "bwipeout!", "bdelete!"])
def test_a_draft_survives_its_window_and_its_buffer(editor, key, how):
    editor.keys("idraft<Esc>")
    editor.command(how)
    editor.command("AcpChat")
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"
    assert editor.prompt_lines(key) == ["draft"]
    editor.keys("<CR>")
    assert [one["text"] for one in editor.sent("prompt")] == ["draft"]


def test_history(editor, key):
    editor.keys("ione<C-s><Esc>itwo<C-s><Esc>idraft<M-p>")
    assert editor.prompt_lines(key) == ["two"]
    editor.keys("<M-p><M-p>")
    assert editor.prompt_lines(key) == ["one"]
    editor.keys("<M-n><M-n>")
    assert editor.prompt_lines(key) == ["draft"]


def test_no_key_of_the_prompt_needs_alt(editor, key):
    editor.keys("ione<C-s><Esc>itwo<C-s>draft<C-g>p<C-g>p")
    assert editor.prompt_lines(key) == ["one"]
    editor.keys("<Esc><C-g>n<C-g>n")
    assert editor.prompt_lines(key) == ["draft"]
    keys = [name for name in editor.lua(KEYS) if name[1].startswith("<M-")]
    assert keys == []


def test_every_action_of_the_prompt_has_a_map(editor, key):
    editor.command("imap <buffer> <F2> <Plug>(AcpHistoryPrevious)")
    editor.command("nmap <buffer> <F3> <Plug>(AcpHistoryNext)")
    editor.command("imap <buffer> <F4> <Plug>(AcpSend)")
    editor.keys("ione<F4>draft<F2>")
    assert editor.prompt_lines(key) == ["one"]
    editor.keys("<Esc><F3>")
    assert editor.prompt_lines(key) == ["draft"]
    editor.lua("require('acp_nvim.host.sessions').current().context = { { name = 'a', uri = 'file:///a' } }")
    editor.command("nmap <F5> <Plug>(AcpDropContext)")
    editor.keys("<F5>")
    assert editor.lua("return #require('acp_nvim.host.sessions').current().context") == 0
    editor.command("nmap <F6> <Plug>(AcpSteer)")
    editor.keys("<F6>")
    assert editor.sent("steer") == [{"session": key, "id": editor.sent("prompt")[-1]["id"]}]


def test_a_range_is_context(editor):
    path = editor.project / "src" / "a.lua"
    path.parent.mkdir()
    path.write_text("one\ntwo\nthree\n")
    editor.command(f"edit {path}")
    editor.command("2,3AcpPrompt explain this")
    (sent,) = editor.sent("prompt")
    assert sent["text"] == "explain this"
    assert sent["context"] == [{"uri": f"file://{path}#L2-3", "name": "src/a.lua:2-3", "text": "two\nthree\n"}]
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(path)


def test_a_prompt_without_a_chat_says_that_it_was_sent(editor):
    (editor.project / "a.txt").write_text("one\ntwo\nthree\n")
    editor.command("edit a.txt")
    editor.command("1,2AcpPrompt explain this")
    other = editor.chat()
    editor.apply({"type": "turn_start", "session": other})
    assert editor.messages() == []
    editor.apply({"type": "turn_start", "session": editor.sent("prompt")[0]["session"]})
    assert editor.message() == "acp_nvim: sent to demo with a.txt:1-2 (:AcpChat shows the answer)"
    editor.command("AcpChat")
    editor.command("AcpPrompt and this")
    assert len(editor.sent("prompt")) == 2
    assert len(editor.messages()) == 1


def test_the_same_selection_is_attached_once(editor):
    (editor.project / "a.txt").write_text("one\ntwo\nthree\n")
    editor.command("edit a.txt")
    editor.keys("ggVj:AcpPrompt<CR>")
    editor.keys("<Esc>:wincmd p<CR>")
    editor.keys("ggv/two<CR>$h:AcpPrompt<CR>")  # the same lines, but not their end
    editor.keys("see @selection<C-s>")
    (sent,) = editor.sent("prompt")
    assert [item["name"] for item in sent["context"]] == ["a.txt:1-2"]


def test_writing_keeps_the_draft_and_says_what_sends_it(editor, key):
    editor.keys("ihello<Esc>:write<CR>")
    assert editor.message() == "acp_nvim: the draft is kept; <CR> sends it"
    assert editor.sent("prompt") == []
    assert editor.prompt_lines(key) == ["hello"]


def test_a_prompt_with_text_lets_neovim_end(editor, key):
    editor.keys("ihello<Esc>:wincmd k<CR>")
    editor.lua(
        "vim.api.nvim_buf_set_lines(vim.fn.bufnr('acp://demo prompt'), 0, -1, true, { 'changed from elsewhere' })"
    )
    assert editor.lua("return vim.bo[vim.fn.bufnr('acp://demo prompt')].modified")
    editor.lua("vim.cmd('silent! doautocmd QuitPre')")
    assert not editor.lua("return vim.bo[vim.fn.bufnr('acp://demo prompt')].modified")


def test_the_prompt_says_what_sends_in_each_mode(editor, key):
    assert editor.lua(HINTS) == ["Ask demo … (i: type, g?: keys)", " Prompt · <CR> sends"]
    editor.keys("i")
    assert editor.lua(HINTS) == ["Ask demo … (<C-s> sends)", " Prompt · <C-s> sends"]
    editor.keys("<Esc>")
    assert editor.lua(HINTS)[1] == " Prompt · <CR> sends"


def test_a_selection_waits_for_its_prompt(editor):
    (editor.project / "a.txt").write_text("one\ntwo\nthree\n")
    editor.command("edit a.txt")
    editor.keys("Vj:AcpPrompt<CR>")
    assert editor.api("get_mode")["mode"] == "i"
    editor.keys("why?<C-s>")
    (sent,) = editor.sent("prompt")
    assert [item["name"] for item in sent["context"]] == ["a.txt:1-2"]
    editor.keys("and?<C-s>")
    assert editor.sent("prompt")[1]["context"] == []


def test_prompt_from_lua_touches_no_window(editor):
    windows = editor.api("list_wins")
    assert editor.lua('return require("acp_nvim").prompt("a\\nb", { agent = "demo" })') is True
    assert editor.api("list_wins") == windows
    (opened,) = editor.sent("open")
    assert editor.sent("prompt") == [{"session": opened["session"], "id": 1, "text": "a\nb", "context": []}]
    editor.apply({"type": "session_ready", "session": opened["session"], "session_id": "s-1", "agent": "demo"})
    editor.lua('require("acp_nvim").prompt("again", { session_id = "s-1" })')
    assert [one["session"] for one in editor.sent("prompt")] == [opened["session"]] * 2
    assert editor.lua('return { require("acp_nvim").prompt("x", { session_id = "s-2" }) }')[0] is False


def test_the_placeholder_names_help_that_exists_when_no_key_does(editor):
    editor.lua('require("acp_nvim").setup({ keymaps = { help = false } })')
    editor.chat()
    marks = editor.lua("return vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })")
    words = next(mark[3]["virt_text"][0][0] for mark in marks if "virt_text" in mark[3])
    tag = words.split(":help ")[1].split(":")[0]
    assert f"*{tag}*" in (ROOT / "doc" / "acp_nvim.txt").read_text()


def test_what_is_typed_while_it_is_sent_stays(editor, key):
    editor.lua("require('acp_nvim.mentions').resolve = function(_, _, done) _G.done = done end")
    editor.keys("ione<C-s><CR>two")
    assert editor.prompt_lines(key) == ["one", "two"]
    editor.lua("_G.done({})")
    assert editor.sent("prompt")[0]["text"] == "one"
    assert editor.prompt_lines(key) == ["two"]


def test_undo_brings_back_what_was_sent(editor, key):
    editor.keys("ione<CR>two<Esc><CR>")
    assert editor.prompt_lines(key) == [""]
    editor.keys("u")
    assert editor.prompt_lines(key) == ["one", "two"]


def test_drafts_of_another_project_are_no_trouble(editor):
    other = editor.places.directory / "state" / "nvim" / "acp_nvim" / "drafts" / "other-0123456789abcdef"
    other.mkdir(parents=True)
    (other / "1.json").touch()
    editor.chat()
    assert editor.lua("return vim.bo.filetype") == "acp_prompt"


def test_drafts_that_cannot_be_written_are_told(editor, key):
    directory = editor.places.directory / "state" / "nvim" / "acp_nvim"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "drafts").write_text("in the way")
    editor.keys("ione<Esc>")
    assert "cannot be stored" in editor.message()


def test_what_the_agent_is_told_of_decisions_is_shown_above_the_prompt_and_can_be_dropped(editor):
    key = editor.chat()
    editor.apply({"type": "decisions", "session": key, "words": "2 rejected, 1 kept"})
    shown = 'return require("acp_nvim.chat.winbar").bar()'
    assert "Prompt + your review: 2 rejected, 1 kept" in editor.lua(shown)
    editor.command("nmap <F5> <Plug>(AcpDropContext)")
    editor.keys("<Esc><F5>")
    assert editor.sent("drop_decisions") == [{"session": key}]
    assert "your review" not in editor.lua(shown)
    editor.keys("<F5>")
    assert len(editor.sent("drop_decisions")) == 1
    editor.apply(
        {"type": "decisions", "session": key, "words": "1 kept"}, {"type": "decisions", "session": key, "words": ""}
    )
    assert "your review" not in editor.lua(shown)


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_prompt_of_other_code_is_refused(editor, text):
    editor.chat()
    sent, problem = editor.lua('return { require("acp_nvim").prompt(...) }', text)
    assert (sent, problem) == (False, "the prompt is empty")
    assert editor.sent("prompt") == []

"""Comments on lines of files keep their place and text, go to the agent as one prompt, and are read by a tool."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.nvim.agent_tools import AGENT, Tools, tools
from tests.nvim.commenting import GONE, NUMBERS, Desk, Start, prompts
from tests.support.agent_scripts import agent_script

ASK_LATER = """
vim.ui.input = function(_, on_line)
  _G.answer = on_line
end
"""


@pytest.fixture
def desk(editor: Start) -> Desk:
    """No agent is needed to write comments."""
    return Desk(editor)


def test_a_line_a_range_and_a_selection(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("nmap gc <Plug>(AcpReviewComment)| xmap gc <Plug>(AcpReviewComment)")
    nvim.command('2AcpReview comment why | "two"?')
    nvim.command("3,4AcpReview comment both")
    nvim.keys("Ggcthe last<CR>")
    nvim.keys("ggVjgcthe first<CR>")
    assert desk.comments() == [
        ["f", 1, 2, "the first", False],
        ["f", 2, 2, 'why | "two"?', False],
        ["f", 3, 4, "both", False],
        ["f", 5, 5, "the last", False],
    ]
    desk.until_shown(
        (2, '└ why | "two"?'), (2, "└ the first (lines 1 to 2)"), (4, "└ both (lines 3 to 4)"), (5, "└ the last")
    )


def test_a_comment_is_edited_and_an_empty_one_is_none(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2AcpReview comment old")
    nvim.keys("2G:AcpReview comment<CR>er<CR>")
    nvim.keys("3G:AcpReview comment<CR> <CR>")
    nvim.keys("4G:AcpReview comment<CR>text<Esc>")
    nvim.keys("2G:AcpReview comment<CR><C-u><CR>")
    assert desk.comments() == [["f", 2, 2, "older", False]]


def test_the_text_changes_while_a_comment_is_written(desk: Desk) -> None:
    desk.nvim.lua(ASK_LATER)
    desk.nvim.command("2AcpReview comment")
    assert desk.comments() == []
    desk.nvim.api("buf_set_lines", 0, 0, 0, True, ["zero"])
    desk.nvim.lua("_G.answer('late')")
    assert desk.comments() == [["f", 3, 3, "late", False]]
    desk.until_shown((3, "└ late"))


ROWS = """
local namespace = vim.api.nvim_get_namespaces()["acp_nvim.comments.shown"]
local mark = vim.api.nvim_buf_get_extmarks(0, namespace, 0, -1, { details = true })[1]
return mark and vim.tbl_map(function(one) return one[1][1] end, mark[4].virt_lines)
"""


def test_a_long_comment_is_wrapped_where_the_window_ends(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("set columns=80 signcolumn=no nonumber")
    nvim.command(f"2AcpReview comment {'12345678 ' * 10}")
    assert nvim.lua(ROWS) == ["└" + " 12345678" * 8, " " + " 12345678" * 2]
    nvim.command("vsplit | vertical resize 31")
    nvim.wait_until(lambda: nvim.lua(ROWS) == ["└" + 3 * " 12345678", *2 * [" " + 3 * " 12345678"], "  12345678"])
    nvim.command("only")
    nvim.wait_until(lambda: len(nvim.lua(ROWS)) == 2, what="wider rows")
    nvim.command("%AcpReview uncomment")
    nvim.command(f"2AcpReview comment {'漢' * 100}")
    assert nvim.lua(ROWS) == ["└ " + 38 * "漢", "  " + 38 * "漢", "  " + 24 * "漢"]
    nvim.command("%AcpReview uncomment")
    nvim.command(f"2AcpReview comment {'x' * 5000}")
    assert nvim.lua(ROWS) == ["└ " + 76 * "x", *8 * ["  " + 76 * "x"], "  " + 76 * "x" + "…"]


def test_edits_move_a_comment(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2,3AcpReview comment it")
    nvim.keys("ggOzero<Esc>")
    desk.until_shown((4, "└ it (lines 3 to 4)"))
    nvim.keys("3GOabove<Esc>5Gobelow<Esc>")
    desk.until_shown((5, "└ it (lines 4 to 5)"))
    nvim.keys("4Goinside<Esc>")
    desk.until_shown((6, "└ it (lines 4 to 6)"))
    nvim.keys("4GccTWO<Esc>6Gdd")
    desk.until_shown((5, "└ it (lines 4 to 5)"))
    assert desk.comments() == [["f", 4, 5, "it", False]]


def test_empty_lines_have_comments(desk: Desk) -> None:
    desk.path.write_text("one\n\nthree\n")
    desk.nvim.command("edit!")
    desk.nvim.command("2AcpReview comment empty")
    desk.nvim.command("1,3AcpReview comment all")
    desk.nvim.keys("ggOzero<Esc>")
    desk.nvim.command("edit!")
    desk.until_shown((2, "└ empty"), (3, "└ all (lines 1 to 3)"))
    assert desk.nvim.messages() == []
    assert "Error" not in desk.nvim.printed()


@pytest.mark.parametrize("line", [1, 3, 5])
def test_lines_that_are_gone_and_come_back(desk: Desk, line: int) -> None:
    nvim = desk.nvim
    nvim.command(f"{line}AcpReview comment it")
    nvim.command(f"{line}delete")
    where = min(line, 4)
    desk.until_shown((max(where - 1, 1), f"└ it {GONE}"))
    assert desk.comments() == [["f", where, where, "it", True]]
    nvim.keys("u")
    desk.until_shown((line, "└ it"))
    nvim.keys("<C-r>")
    desk.until_shown((max(where - 1, 1), f"└ it {GONE}"))
    nvim.keys("u")
    assert desk.comments() == [["f", line, line, "it", False]]


def test_all_lines_are_deleted(desk: Desk) -> None:
    desk.nvim.command("2AcpReview comment it")
    desk.nvim.command("%delete")
    desk.until_shown((1, f"└ it {GONE}"))
    desk.nvim.keys("u")
    desk.until_shown((2, "└ it"))


def test_lines_that_are_replaced_keep_the_comment(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2AcpReview comment it")
    nvim.api("buf_set_lines", 0, 1, 3, True, ["TWO", "and", "THREE"])
    desk.until_shown((2, "└ it"))
    nvim.keys("u")
    desk.until_shown((2, "└ it"))
    nvim.keys("<C-r>")
    desk.until_shown((2, "└ it"))
    nvim.api("buf_set_lines", 0, 0, 2, True, ["1"])
    desk.until_shown((1, "└ it"))
    assert desk.comments() == [["f", 1, 1, "it", False]]


@pytest.mark.parametrize("how", ["edit!", "bdelete! | edit f", "bwipeout! | edit f", "noautocmd bwipeout! | edit f"])
def test_a_file_that_is_read_again_has_its_comments(desk: Desk, how: str) -> None:
    nvim = desk.nvim
    nvim.command("4,5AcpReview comment it")
    nvim.keys("ggOnot written<Esc>")
    desk.until_shown((6, "└ it (lines 5 to 6)"))
    nvim.command(f"cd {nvim.project} | {how}")
    desk.until_shown((5, "└ it (lines 4 to 5)"))
    nvim.keys("ggdd")
    desk.until_shown((4, "└ it (lines 3 to 4)"))
    assert desk.comments() == [["f", 3, 4, "it", False]]


def test_a_file_that_others_changed_meanwhile(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2AcpReview comment moved")
    nvim.command("5AcpReview comment changed")
    nvim.command("bdelete")
    assert desk.comments() == [["f", 2, 2, "moved", False], ["f", 5, 5, "changed", False]]
    desk.path.write_text("zero\none\ntwo\n")
    nvim.command(f"split {desk.path}")
    assert desk.comments() == [["f", 3, 3, "moved", False], ["f", 3, 3, "changed", False]]
    desk.path.write_text("two\n" + NUMBERS + "more\n")
    os.utime(desk.path, (1, 1))
    nvim.command("set autoread | checktime")
    nvim.wait_until(lambda: nvim.buffer_text().endswith("more"), what="the new text")
    desk.until_shown((3, "└ changed"), (3, "└ moved"))


def test_a_reload_is_undone(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("%delete | put ='lonely' | 2AcpReview comment it")
    nvim.command("edit!")
    desk.until_shown((2, "└ it"))
    nvim.command("5AcpReview comment last")
    nvim.keys("u")
    nvim.wait_until(lambda: nvim.buffer_text() == "\nlonely", what="the text before")
    desk.until_shown((2, "└ it"), (2, "└ last"))
    nvim.keys("<C-r>")
    nvim.wait_until(lambda: nvim.buffer_text() + "\n" == NUMBERS, what="the file's text")
    assert [one[3:] for one in desk.comments()] == [["it", False], ["last", False]]
    assert "Error" not in nvim.printed()


def test_lines_that_come_back_with_the_file(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2,3AcpReview comment it")
    nvim.keys("2Gdjdd")
    desk.until_shown((1, f"└ it {GONE}"))
    nvim.command("edit!")
    desk.until_shown((3, "└ it (lines 2 to 3)"))


def test_the_modules_are_loaded_again(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("2AcpReview comment kept")
    nvim.keys("ggOzero<Esc>")
    desk.until_shown((3, "└ kept"))
    nvim.lua('for name in pairs(package.loaded) do if name:match("^acp_nvim") then package.loaded[name] = nil end end')
    assert desk.comments() == [["f", 3, 3, "kept", False]]
    nvim.keys("ggdd")
    desk.until_shown((2, "└ kept"))


def test_comments_are_listed_and_removed(desk: Desk) -> None:
    nvim = desk.nvim
    nvim.command("AcpReview comments")
    desk.until_said("there are no comments (:AcpReview comment adds one)")
    nvim.command("2,3AcpReview comment first")
    nvim.command("5AcpReview comment second")
    nvim.command("5delete")
    nvim.command("AcpReview comments")
    items = nvim.lua("return vim.fn.getqflist()")
    assert [(one["lnum"], one["end_lnum"], one["text"]) for one in items] == [
        (2, 3, "first"), (4, 4, f"second {GONE}"),
    ]  # fmt: skip
    nvim.keys("<CR>")
    assert nvim.api("win_get_cursor", 0)[0] == 2
    nvim.command("cclose")
    nvim.command("1AcpReview uncomment")
    desk.until_said("there is no comment here")
    nvim.command("3AcpReview uncomment")
    desk.until_said("1 comment removed")
    desk.until_shown((3, f"└ second {GONE}"))
    nvim.command("%AcpReview uncomment")
    desk.until_shown()
    assert desk.comments() == []


def test_only_files_have_comments(desk: Desk) -> None:
    for command in ("enew", "help", "edit nonesuch://f"):
        desk.nvim.command(command)
        desk.nvim.command("AcpReview comment here")
    desk.nvim.wait_until(lambda: len(desk.nvim.messages()) == 3, what="three messages")
    assert all("this buffer is not a file" in one for one in desk.nvim.messages())
    desk.nvim.command("AcpReview keep this")
    desk.until_said('not "keep this"')
    assert desk.comments() == []


def test_words_are_completed_but_not_the_text(desk: Desk) -> None:
    complete = "return vim.fn.getcompletion(..., 'cmdline')"
    assert desk.nvim.lua(complete, "AcpReview comm") == ["comment", "comments"]
    assert desk.nvim.lua(complete, "AcpReview comment k") == []


def with_agent(editor: Start, directory: Path) -> Desk:
    """An agent that answers with what it was told."""
    return Desk(editor, agent_script(directory, "def turn(agent, prompt):\n    prompt.say('Thanks.')\n"))


def test_comments_are_sent_as_one_prompt(editor: Start, tmp_path: Path) -> None:
    desk = with_agent(editor, tmp_path)
    nvim, script = desk.nvim, desk.script
    assert script
    (nvim.project / "long").write_text("".join(f"line {number}\n" for number in range(1, 31)) + 600 * "x" + "\n")
    (tmp_path / "outside").write_text("far away\n")
    nvim.command("AcpChat | wincmd p")
    nvim.command("2,3AcpReview comment one | two")
    nvim.command("5AcpReview comment lost")
    nvim.command("5delete")
    nvim.command(f"edit {nvim.project / 'long'}")
    nvim.command("%AcpReview comment too long")
    nvim.command("31AcpReview comment wide")
    nvim.command(f"split {tmp_path / 'outside'}")
    nvim.command("AcpReview comment far")
    nvim.command("bdelete")
    nvim.command("AcpReview send")
    nvim.wait_until(lambda: prompts(script), what="the prompt")
    quoted = "\n".join(f"> line {number}" for number in range(1, 21))
    outside, project = str((tmp_path / "outside").resolve()), str(nvim.project.resolve())
    parts = [
        (outside, f"{outside}:1-1\n> far away\n\nfar"),
        (project, "f:2-3\n> two\n> three\n\none | two"),
        (project, f"f:4-4 {GONE}\n> five\n\nlost"),
        (project, f"long:1-31\n{quoted}\n> ... 11 more lines\n\ntoo long"),
        (project, f"long:31-31\n> {500 * 'x'}\n\nwide"),
    ]
    in_order = [part for _, part in sorted(parts, key=lambda one: one[0])]
    assert prompts(script)[0] == "\n\n".join(["My review comments:", *in_order])
    desk.until_said("5 comments sent")
    assert desk.comments() == []
    nvim.command(f"buffer {desk.path}")
    desk.until_shown()
    nvim.command("AcpReview send")
    desk.until_said("there are no comments")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert len(prompts(script)) == 1


def test_comments_begin_a_session_and_wait_for_a_turn(editor: Start, tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            while not os.path.exists("go on"):
                time.sleep(0.01)
        """,
    )
    desk = Desk(editor, script)
    desk.nvim.command("1AcpReview comment first")
    desk.nvim.command("AcpReview send")
    desk.nvim.wait_until(lambda: len(prompts(script)) == 1, what="the first prompt")
    desk.nvim.command("2AcpReview comment second")
    desk.nvim.keys(":<C-u>nmap gs <lt>Plug>(AcpReviewSend)<CR>gs")
    desk.nvim.wait_until('require("acp_nvim").status().queue == 1', what="the queued prompt")
    assert desk.comments() == []
    (desk.nvim.project / "go on").touch()
    desk.nvim.wait_until(lambda: len(prompts(script)) == 2, what="the second prompt")
    assert prompts(script) == [
        "My review comments:\n\nf:1-1\n> one\n\nfirst",
        "My review comments:\n\nf:2-2\n> two\n\nsecond",
    ]


def test_a_comment_mentions_a_file_but_a_quoted_line_does_not(editor: Start, tmp_path: Path) -> None:
    desk = with_agent(editor, tmp_path)
    assert desk.script
    desk.path.write_text("see @other\n")
    (desk.nvim.project / "other").write_text("other text\n")
    (desk.nvim.project / "more").write_text("more text\n")
    desk.nvim.command("edit!")
    desk.nvim.command("AcpReview comment as in @more")
    desk.nvim.command("AcpReview send")
    desk.nvim.wait_until(lambda: prompts(desk.script), what="the prompt")
    sent = str(desk.script.received("session/prompt")[0]["params"]["prompt"][1:])
    assert "more" in sent
    assert "other" not in sent


def test_comments_stay_when_no_host_can_run(editor: Start) -> None:
    desk = Desk(editor, python="/no/such/python")
    desk.nvim.command("2AcpReview comment it")
    desk.nvim.command("AcpReview send")
    desk.nvim.wait_until(lambda: desk.nvim.messages(), what="a message")
    assert desk.comments() == [["f", 2, 2, "it", False]]
    desk.until_shown((2, "└ it"))


def test_comments_stay_when_what_they_mention_cannot_be_attached(editor: Start, tmp_path: Path) -> None:
    desk = with_agent(editor, tmp_path)
    (desk.nvim.project / "big").write_text("x")
    desk.nvim.command(f"edit {desk.nvim.project / 'big'}")
    desk.nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split((('x'):rep(999) .. '\\n'):rep(40000), '\\n'))")
    desk.nvim.command(f"buffer {desk.path}")
    desk.nvim.command("2AcpReview comment see @big")
    desk.nvim.command("AcpReview send")
    desk.until_said("(the comments were not sent)")
    assert desk.comments() == [["f", 2, 2, "see @big", False]]


def test_the_host_dies_while_it_has_the_comments(editor: Start, tmp_path: Path) -> None:
    """The prompt buffer gets the text, as of any prompt that was not accepted."""
    desk = with_agent(editor, tmp_path)
    nvim = desk.nvim
    nvim.command("AcpChat")
    nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
    nvim.command("wincmd p")
    nvim.command("2AcpReview comment precious")
    host = nvim.host()
    assert host
    os.kill(host.pid, signal.SIGSTOP)
    nvim.command("AcpReview send")
    nvim.wait_until('#require("acp_nvim.host.sessions").nearest().outbox == 1', what="the prompt to be under way")
    os.kill(host.pid, signal.SIGKILL)
    nvim.wait_until(
        'table.concat(vim.fn.getbufline(require("acp_nvim.host.sessions").nearest().prompt_bufnr, 1, "$"))'
        ':find("precious", 1, true)',
        what="the text to be back in the prompt",
    )


@pytest.fixture
def here(editor: Start, tmp_path: Path) -> Tools:
    """A session whose tools a test calls."""
    return tools(editor, tmp_path, agent=AGENT)


def test_the_tool_lists_comments_that_were_not_sent(here: Tools, tmp_path: Path) -> None:
    nvim = here.nvim
    assert here.call("review_comments") == "The user has no review comments."
    here.open("shapes.py")
    nvim.command("4,5AcpReview comment use a class")
    nvim.command("8AcpReview comment no side effects")
    nvim.command("8delete")
    here.open("main.py")
    nvim.command("3AcpReview comment why these?")
    nvim.command("bdelete")
    (tmp_path / "outside").write_text("far away\n")
    nvim.command(f"split {tmp_path / 'outside'}")
    nvim.command("AcpReview comment far")
    listed = [
        "main.py:3:1: why these?",
        "shapes.py:4:1: use a class (lines 4 to 5)",
        f"shapes.py:7:1: no side effects {GONE}",
    ]
    found = here.call("review_comments").splitlines()
    assert found == listed  # not the one on a file that is not of the session
    nvim.command("AcpReview send")
    nvim.wait_until(lambda: prompts(here.script), what="the prompt")
    assert here.call("review_comments") == "The user has no review comments."


def test_the_tool_only_reads_and_has_pages(here: Tools) -> None:
    nvim = here.nvim
    here.open("main.py")
    for number in range(15):
        nvim.command(f"3AcpReview comment {number} {1500 * 'x'}")
    first = here.call("review_comments")
    assert 'call again with cursor "13"' in first
    rest = here.call("review_comments", cursor="13").splitlines()
    assert [one.split()[1] for one in rest] == ["13", "14"]

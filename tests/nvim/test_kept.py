"""What is kept on disk, with real processes: drafts, prompts and conversations outlive their Neovim."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.waiting import wait_until

TURN = """
    def turn(agent, prompt):
        prompt.think("hm")
        prompt.say(f"You said {prompt.text}.\\n")
        prompt.tool("c", "Look", kind="read", status="completed",
                    content=[{"type": "content", "content": {"type": "text", "text": "found ```fences```"}}])
        prompt.plan(("do it", "completed"))
        prompt.say("Done.")
        if prompt.text == "hang":
            prompt.wait_cancelled()
"""

SELECT_SECOND = """
    vim.ui.select = function(items, opts, done) _G.items = vim.tbl_map(opts.format_item, items) done(items[2]) end
"""
LOOK_AT_LIST = """
    vim.ui.select = function(items, opts, done) _G.items, _G.opts, _G.done = items, opts, done end
    _G.items = nil
"""

Start = Callable[..., HeadlessEditor]


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, TURN)


@pytest.fixture
def shared(editor: Start, tmp_path: Path, script: AgentScript) -> Start:
    """Neovims that have a project and a state directory together."""
    (tmp_path / "state").mkdir()
    project = tmp_path / "shared"
    project.mkdir()

    def start(**given: Any) -> HeadlessEditor:
        given["env"] = {"XDG_STATE_HOME": str(tmp_path / "state"), **given.get("env", {})}
        nvim = editor(agents={"it": {"command": script.argv}, "other": {"command": script.argv}}, **given)
        nvim.command(f"cd {project}")
        return nvim

    return start


def state(tmp_path: Path, kind: str) -> list[Path]:
    """The files of a kind, but for those that are being written."""
    found = (tmp_path / "state" / "nvim" / "acp_nvim" / kind).glob("**/*.json*")
    return sorted(path for path in found if path.suffix != ".new")


def prompts(tmp_path: Path) -> int:
    """Return the number of stored prompts."""
    count = 0
    for path in state(tmp_path, "prompts"):
        with contextlib.suppress(FileNotFoundError):  # the file was rotated just now
            count += path.read_bytes().count(b"\n")
    return count


def drafts(tmp_path: Path) -> list[str]:
    """The texts of the drafts on disk; one that is taken up meanwhile is none."""
    texts = []
    for path in state(tmp_path, "drafts"):
        with contextlib.suppress(FileNotFoundError):
            texts.append(json.loads(path.read_text())["text"])
    return texts


def prompt_text(nvim: HeadlessEditor) -> str:
    return nvim.lua(
        "for _, nr in ipairs(vim.api.nvim_list_bufs()) do if vim.bo[nr].filetype == 'acp_prompt' then "
        "return table.concat(vim.api.nvim_buf_get_lines(nr, 0, -1, true), '\\n') end end"
    )


def type_draft(nvim: HeadlessEditor, tmp_path: Path, text: str) -> None:
    """Type a draft and wait until it is on disk."""
    nvim.command("AcpChat it")
    nvim.keys(f"i{text}<Esc>")
    nvim.wait_until(lambda: text in drafts(tmp_path), what="the draft")


@pytest.mark.parametrize("end", [HeadlessEditor.kill, HeadlessEditor.close], ids=["killed", "left"])
def test_a_draft_is_back_in_the_next_session_there(
    shared: Start, tmp_path: Path, end: Callable[[HeadlessEditor], None]
) -> None:
    first = shared()
    type_draft(first, tmp_path, "not finished")
    end(first)
    second = shared()
    second.command("AcpChat other")
    assert prompt_text(second) == ""
    second.command("AcpChat! it")
    second.wait_until(lambda: "not finished" in second.buffer_text(), what="the draft")
    second.wait_until(lambda: "restored your unsent draft" in "\n".join(second.messages()))
    second.command("AcpChat! it")
    assert second.buffer_text() == ""


def test_what_was_typed_last_is_written_when_neovim_is_left(shared: Start, tmp_path: Path) -> None:
    first = shared()
    first.command("AcpChat it")
    first.keys("iin a hurry<Esc>")
    first.close()
    assert drafts(tmp_path) == ["in a hurry"]


def test_two_neovims_have_a_draft_each_and_nobody_takes_that_of_the_living(shared: Start, tmp_path: Path) -> None:
    first, second = shared(), shared()
    type_draft(first, tmp_path, "of the first")
    type_draft(second, tmp_path, "of the second")
    assert len(state(tmp_path, "drafts")) == 2
    third = shared()
    third.command("AcpChat it")
    assert prompt_text(third) == ""
    first.kill()
    second.kill()
    fourth, fifth = shared(), shared()
    texts = []
    for nvim in (fourth, fifth):
        nvim.command("AcpChat it")
        texts.append(prompt_text(nvim))
    assert sorted(texts) == ["of the first", "of the second"]


def test_a_draft_of_another_machine_is_left_to_it_for_a_month(shared: Start, tmp_path: Path) -> None:
    first = shared()
    type_draft(first, tmp_path, "elsewhere")
    first.kill()
    [path] = state(tmp_path, "drafts")
    theirs = path.with_name(f"other_machine-{path.name.split('-', 1)[1]}")
    path.rename(theirs)
    second = shared()
    second.command("AcpChat it")
    assert prompt_text(second) == ""
    month = 31 * 24 * 3600
    os.utime(theirs, (theirs.stat().st_atime - month, theirs.stat().st_mtime - month))
    second.command("AcpChat! it")
    assert second.buffer_text() == "elsewhere"


def test_a_draft_that_was_sent_is_gone(shared: Start, tmp_path: Path) -> None:
    nvim = shared()
    type_draft(nvim, tmp_path, "to be sent")
    nvim.keys("<CR>")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    nvim.wait_until(lambda: state(tmp_path, "drafts") == [], what="the draft to be removed")
    nvim.keys("u")
    assert prompt_text(nvim) == "to be sent"


def test_prompts_that_waited_are_back_after_a_kill(shared: Start, tmp_path: Path) -> None:
    nvim = shared()
    nvim.command("AcpChat it")
    for text in ("hang", "waits one", "waits two"):
        nvim.keys(f"i{text}<C-s><Esc>")
    nvim.wait_until(lambda: "Done." in nvim.chat_text())
    nvim.keys("idraft<Esc>")
    nvim.wait_until(lambda: drafts(tmp_path) == ["draft"], what="the draft")
    nvim.kill()
    after = shared()
    after.command("AcpChat it")
    assert prompt_text(after) == "waits one\n\nwaits two\n\ndraft"


def test_prompts_are_remembered_by_all_neovims_of_a_project(shared: Start, tmp_path: Path) -> None:
    first, second = shared(), shared()
    for number, (nvim, text) in enumerate([(first, "one"), (second, "two\nlines"), (first, "three")], 1):
        assert nvim.lua('return require("acp_nvim").prompt(..., { agent = "it" })', text)
        nvim.wait_until(lambda count=number: prompts(tmp_path) == count, what="the prompt to be written")
    [file] = state(tmp_path, "prompts")
    assert file.stat().st_mode & 0o777 == 0o600
    first.wait_until(lambda: len(first.events("AcpTurnEnd")) == 2 and not drafts(tmp_path), what="them to be answered")
    first.kill()
    nvim = shared()
    nvim.command("AcpChat it")
    nvim.keys("idraft")
    seen = []
    for _ in range(4):
        nvim.keys("<M-p>")
        seen.append(nvim.buffer_text())
    assert seen == ["three", "two\nlines", "one", "one"]
    nvim.keys("<M-n><M-n><M-n>")
    assert nvim.buffer_text() == "draft"
    nvim.lua(
        "vim.ui.select = function(items, opts, done) _G.items = vim.tbl_map(opts.format_item, items) done(items[2]) end"
    )
    nvim.keys("<M-h>")
    assert nvim.lua("return _G.items") == ["three", "two ⏎ lines", "one"]
    assert nvim.buffer_text() == "two\nlines"
    nvim.keys("<M-n><M-n>")
    assert nvim.buffer_text() == "draft"


def test_neovims_that_add_prompts_at_the_same_time_lose_none(shared: Start, tmp_path: Path) -> None:
    """The file is rotated once meanwhile."""
    editors = [shared(), shared()]
    add = """
        local name = ...
        for number = 1, 100 do
          require("acp_nvim.prompt.history").add({ cwd = vim.fn.getcwd() }, name .. number .. " " .. ("x"):rep(1500))
        end
    """
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda one: one[1].lua(add, f"{one[0]} "), enumerate(editors)))
    editors[0].wait_until(lambda: prompts(tmp_path) == 200, what="the prompts to be written")
    assert len(state(tmp_path, "prompts")) == 2
    texts = shared().lua("return require('acp_nvim.prompt.history').texts(vim.fn.getcwd())")
    assert {text.split(" x")[0] for text in texts} == {
        f"{name} {number}" for name in (0, 1) for number in range(1, 101)
    }


# --- conversations ----------------------------------------------------------------------------------------------------


def records(tmp_path: Path) -> list[Any]:
    return [json.loads(line) for path in state(tmp_path, "transcripts") for line in path.read_text().splitlines()]


def test_a_conversation_is_on_disk_when_neovim_is_killed(shared: Start, tmp_path: Path) -> None:
    nvim = shared()
    nvim.lua('require("acp_nvim").prompt("hang", { agent = "it" })')
    nvim.wait_until(lambda: "Done." in nvim.chat_text())
    nvim.kill()
    wait_until(lambda: any('Done."}\n' in path.read_text() for path in state(tmp_path, "transcripts")), what="its end")
    header, *told = records(tmp_path)
    assert (header["agent"], header["transcript"]) == ("it", 1)
    texts = {one.get("text") for one in told}
    assert {"hang", "hm", "You said hang.\n", "Done."} <= texts
    [path] = state(tmp_path, "transcripts")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def found(nvim: HeadlessEditor, text: str = "") -> list[str]:
    """What `:AcpSessions` lets the user choose from, but for what asks agents; none is chosen."""
    nvim.lua(LOOK_AT_LIST)
    nvim.command(f"AcpSessions {text}")
    nvim.wait_until("_G.items ~= nil", what="the list")
    *lines, last = nvim.lua("return vim.tbl_map(_G.opts.format_item, _G.items)")
    assert last == "ask an agent for its sessions ..."
    return lines


def choose(nvim: HeadlessEditor, way: str) -> None:
    """The first session of the list, and what is done with it."""
    nvim.lua("local done, first = _G.done, _G.items[1] _G.items = nil done(first)")
    nvim.wait_until("_G.items ~= nil", what="what can be done with it")
    ways = nvim.lua("return vim.tbl_map(_G.opts.format_item, _G.items)")
    nvim.lua("_G.done(_G.items[...])", ways.index(way) + 1)


def converse(nvim: HeadlessEditor, text: str) -> str:
    """A turn, to its last event: the chat's text."""
    count = len(nvim.events("AcpTurnChanges"))
    nvim.lua('require("acp_nvim").prompt(..., { agent = "it" })', text)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnChanges")) > count, what="the turn and its changes")
    return nvim.chat_text()


def test_kept_conversations_are_found_and_shown_as_they_were(shared: Start, tmp_path: Path) -> None:
    first = shared()
    chat = converse(first, "alpha Beta")
    first.close()
    nvim = shared()
    converse(nvim, "gamma")
    everything = found(nvim)
    assert len(everything) == 2
    assert everything[0].startswith("open · it · done")
    assert "alpha Beta" in everything[1]
    [only] = found(nvim, "pha bet")
    assert "alpha Beta" in only
    events = len(nvim.events())
    choose(nvim, "view the stored conversation")
    nvim.wait_until(lambda: nvim.lua("return vim.bo.filetype") == "acp_chat" and nvim.buffer_text() == chat)
    assert not nvim.lua("return vim.bo.modifiable")
    nvim.wait_until("vim.fn.getline('.') == 'alpha Beta'", what="the cursor to be at what was found")
    nvim.keys("i")
    assert nvim.api("get_mode")["mode"] == "n"
    nvim.command("edit")
    nvim.wait_until(lambda: nvim.buffer_text() == chat, what="it to be shown again")
    assert len(nvim.events()) == events
    nvim.command("AcpPrompt delta")
    nvim.wait_until(lambda: "You said delta." in nvim.chat_text(), what="the session that is alive")


def test_a_conversation_becomes_markdown(shared: Start, tmp_path: Path) -> None:
    nvim = shared()
    converse(nvim, "# not a heading of ours")
    path = tmp_path / "out.md"
    nvim.command(f"AcpExport {path}")
    nvim.wait_until(lambda: path.exists() and "Done." in path.read_text(), what="the file")
    text = path.read_text()
    assert "## 1. You\n\n# not a heading of ours\n" in text
    assert "> *Thought*\n>\n> hm\n" in text
    assert "#### Look\n\n*read · completed*\n\n````\nfound ```fences```\n````\n" in text
    assert "- [x] do it" in text
    path.write_text("mine")
    nvim.command(f"AcpExport {path}")
    nvim.wait_until(lambda: ":AcpExport! overwrites it, with the exact text" in "\n".join(nvim.messages()))
    assert path.read_text() == "mine"
    nvim.command(f"AcpExport! {path}")
    nvim.wait_until(lambda: path.read_text() == text, what="the file again")
    nvim.command("AcpExport")
    nvim.wait_until(lambda: nvim.lua("return vim.bo.filetype") == "markdown", what="the buffer")
    assert nvim.buffer_text() + "\n" == text


def test_a_kept_conversation_becomes_the_same_markdown(shared: Start, tmp_path: Path) -> None:
    nvim = shared()
    converse(nvim, "alpha")
    nvim.command(f"AcpExport {tmp_path / 'live.md'}")
    nvim.wait_until(lambda: "the conversation is in" in "\n".join(nvim.messages()), what="the file")
    nvim.close()
    nvim = shared()
    found(nvim, "alpha")
    choose(nvim, "view the stored conversation")
    nvim.wait_until(lambda: "Done." in nvim.buffer_text())
    nvim.command(f"AcpExport {tmp_path / 'kept.md'}")
    nvim.wait_until(lambda: "the conversation is in" in "\n".join(nvim.messages()), what="the other file")
    live, kept = ((tmp_path / name).read_text().split("\n## ", 1)[1] for name in ("live.md", "kept.md"))
    assert kept == live


def test_nothing_is_kept_when_the_user_does_not_want_it(shared: Start, tmp_path: Path) -> None:
    nvim = shared(config={"history": {"transcripts": False}})
    converse(nvim, "alpha")
    nvim.close()
    assert state(tmp_path, "transcripts") == []


def test_an_empty_chat_continues_the_conversation_of_the_neovim_before(shared: Start) -> None:
    first = shared()
    first.command("AcpChat it")
    first.lua("require('acp_nvim').prompt('fix the parser')")
    first.wait_until(lambda: first.events("AcpTurnEnd"), what="the end of the turn")
    first.close()
    again = shared()
    again.command("AcpChat it")
    again.wait_until(lambda: "continues “fix the parser”" in again.lua(WELCOME), what="the offer")
    again.keys("g.")
    again.wait_until(lambda: "You said fix the parser." in again.chat_text(), what="the conversation")
    assert again.lua("return vim.tbl_count(require('acp_nvim.host.sessions').all())") == 1
    again.wait_until(lambda: len(again.events("AcpSessionReady")) == 2, what="its agent")
    again.lua("require('acp_nvim').prompt('and test it')")
    again.wait_until(lambda: "You said and test it." in again.chat_text(), what="the next turn")


WELCOME = """
local namespace = vim.api.nvim_create_namespace("acp_nvim.welcome")
local session = require("acp_nvim.host.sessions").current()
local marks = vim.api.nvim_buf_get_extmarks(session.bufnr, namespace, 0, -1, { details = true })
return table.concat(vim.tbl_map(function(row) return row[1][1] end, marks[1] and marks[1][4].virt_lines or {}), " ")
"""

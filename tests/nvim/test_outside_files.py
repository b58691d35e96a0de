"""A file outside of the working directory that is open in Neovim, and that the agent edits with a tool of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.nvim.reviewing import TROUBLE
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

OLD = "one\ntwo\nthree\n"

TURN = """
    def turn(agent, prompt):
        path, old, new = prompt.text.split(" ")
        content = [{"type": "diff", "path": path, "oldText": old, "newText": new}]
        call = {"title": "Edit hosts.conf", "kind": "edit", "content": content, "locations": [{"path": path}]}
        prompt.tool(str(prompt.id), status="pending", **{**call})
        if prompt.ask(str(prompt.id), **call) == "allow":
            with open(path) as file:
                text = file.read()
            with open(path, "w") as file:
                file.write(text.replace(old, new))
            prompt.tool_update(str(prompt.id), status="completed")
"""
REVIEW = """
return vim.tbl_map(function(one)
  return { one.path, one.by, one.added, one.removed, one.why }
end, require("acp_nvim").review())
"""
ALLOW = """
local asked = require("acp_nvim").permissions()[1]
require("acp_nvim").answer(asked.id, asked.options[1].option_id)
"""
PREVIEWED = """
local id = vim.api.nvim_create_namespace("acp_nvim.preview")
return #vim.api.nvim_buf_get_extmarks(..., id, 0, -1, {}) > 0
"""


def begun(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> tuple[HeadlessEditor, Path]:
    """A Neovim in whose working directory the agent works, and a file beside that."""
    path = tmp_path / "notes" / "hosts.conf"
    path.parent.mkdir()
    path.write_text(OLD)
    nvim = editor(agents={"it": {"command": agent_script(tmp_path, TURN).argv}})
    nvim.command("set hidden noswapfile")
    return nvim, path


def ask(nvim: HeadlessEditor, path: Path, old: str, new: str) -> None:
    """The agent asks to edit the file."""
    nvim.lua('require("acp_nvim").prompt(...)', f"{path} {old} {new}")
    nvim.wait_until('#require("acp_nvim").permissions() > 0', what="the question")


def allow(nvim: HeadlessEditor) -> None:
    """Allow the request and wait for the end of the turn."""
    ends = len(nvim.events("AcpTurnEnd"))
    nvim.lua(ALLOW)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > ends, what="the end of the turn")


def check_silence(nvim: HeadlessEditor) -> None:
    """Check that nothing was complained of, and nobody asks anything."""
    said = "\n".join([nvim.printed(), *nvim.messages()])
    assert not TROUBLE.search(said), said


def until_listed(nvim: HeadlessEditor, *wanted: list[Any]) -> None:
    """Wait until `review()` lists exactly these."""
    nvim.wait_until(lambda: nvim.lua(REVIEW) == list(wanted), what=lambda: f"{wanted}, not {nvim.lua(REVIEW)}")


def test_it_is_previewed_followed_reviewed_rejected_and_restored(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim, path = begun(editor, tmp_path)
    nvim.command(f"edit {path}")
    buffer = nvim.api("get_current_buf")
    nvim.api("buf_set_lines", buffer, 3, 3, True, ["typed"])
    ask(nvim, path, "two", "TWO")
    nvim.wait_until(lambda: nvim.lua(PREVIEWED, buffer), what="the preview in the file")
    nvim.command("AcpChat")
    nvim.command("stopinsert")
    nvim.lua('require("acp_nvim.limits").seen_ms = 0')
    nvim.wait_until(lambda: "p preview" in nvim.chat_text(), what="the preview in the chat")
    nvim.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(...)[1])", nvim.chat_buffer())
    nvim.keys("p")
    nvim.wait_until(lambda: nvim.api("get_current_buf") == buffer, what="the file")
    allow(nvim)
    nvim.wait_until(lambda: nvim.buffer_text(buffer) == "one\nTWO\nthree\ntyped", what="the buffer to follow")
    until_listed(nvim, [str(path), "agent", 1, 1, "by `Edit hosts.conf`"])
    nvim.wait_until(lambda: nvim.events("AcpFileChanged"), what="the event")
    told = nvim.events("AcpFileChanged")[-1]
    assert (told["path"], told["by"]) == (str(path), "agent")
    assert path.read_text() == "one\nTWO\nthree\n"

    nvim.command("AcpReview rejectall")
    until_listed(nvim)
    nvim.wait_until(lambda: path.read_text() == "one\ntwo\nthree\ntyped\n", what="the file as it was")
    nvim.command("AcpRestore undo")
    until_listed(nvim, [str(path), "agent", 1, 1, "by `Edit hosts.conf`"])
    assert path.read_text() == nvim.buffer_text(buffer) + "\n" == "one\nTWO\nthree\ntyped\n"
    nvim.command("AcpReview keepall")
    until_listed(nvim)
    check_silence(nvim)


def test_one_that_is_opened_after_it_was_named_is_watched_too(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim, path = begun(editor, tmp_path)
    ask(nvim, path, "two", "TWO")
    nvim.wait_until(lambda: "p preview" in nvim.chat_text(), what="the preview in the chat")
    nvim.command(f"edit {path}")
    buffer = nvim.api("get_current_buf")
    nvim.wait_until(lambda: nvim.lua(PREVIEWED, buffer), what="the preview in the file")
    allow(nvim)
    nvim.wait_until(lambda: nvim.buffer_text(buffer) == "one\nTWO\nthree", what="the buffer to follow")
    until_listed(nvim, [str(path), "agent", 1, 1, "by `Edit hosts.conf`"])
    nvim.api("buf_set_lines", buffer, 0, 1, True, ["mine"])
    ask(nvim, path, "three", "THREE")
    allow(nvim)
    nvim.wait_until(lambda: nvim.buffer_text(buffer) == "mine\nTWO\nTHREE", what="the buffer to follow")
    until_listed(nvim, [str(path), "agent", 2, 2, "by `Edit hosts.conf`"])
    nvim.command("AcpReview rejectall")
    nvim.wait_until(lambda: path.read_text() == "mine\ntwo\nthree\n", what="what the user wrote")
    check_silence(nvim)

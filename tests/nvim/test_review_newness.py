"""What the user keeps out of git is not deleted by a rejection, and what the agent hides from git is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from itertools import product
from pathlib import Path

from tests.nvim.reviewing import Desk
from tests.support.agent_edits import AGENT, Work, git
from tests.support.agent_scripts import agent_script
from tests.support.below import below
from tests.support.cases import case
from tests.support.editor import HeadlessEditor

TOO_LARGE = "of the user\n" * 100_000
"""For what is remembered of ignored files."""


def remembered(desk: Desk, text: bytes) -> bool:
    """Whether the host has stored that content."""
    oid = hashlib.sha1(b"blob %d\0" % len(text) + text, usedforsecurity=False).hexdigest()
    return any(below(desk.nvim.places.directory, f"objects/{oid[:2]}/{oid[2:]}"))


def test_ignored_files_hidden_files_and_a_repository_that_goes(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    desk = Desk(editor, agent_script(tmp_path, AGENT))
    nvim, cwd = desk.nvim, desk.cwd
    desk.begin({".gitignore": b"*.conf\n", "file": b"text\n"})
    (cwd / "small.conf").write_text("mine\n")
    (cwd / "open.conf").write_text("mine, too\n")
    (cwd / "large.conf").write_text(TOO_LARGE)
    nvim.command("edit open.conf")
    nvim.lua('assert(require("acp_nvim.sessions.client").session("it", true))')
    nvim.wait_until(lambda: remembered(desk, b"mine\n"), what="a look at the ignored files")
    nvim.wait_until(lambda: remembered(desk, b"mine, too\n"), what="a look at the ignored files")
    nvim.wait_until(lambda: any(below(nvim.places.directory, "kept-tree")), what="the way back")
    command = (
        "echo /hidden >.gitignore; for name in small open large; do echo theirs >$name.conf; done; "
        "echo new >hidden; echo more >>file; rm -rf .git; git init -q"
    )
    desk.do(Work({}, {}, command, {}), "a command")
    desk.until_reviews(
        {
            ".gitignore": ("modify", 1, 1, None),
            "file": ("modify", 1, 0, None),
            "hidden": ("add", 1, 0, None),
            "large.conf": ("binary", 0, 0, None),
            "open.conf": ("modify", 1, 1, None),
            "small.conf": ("modify", 1, 1, None),
        }
    )
    nvim.command("AcpReview")
    nvim.wait_until(lambda: "cannot be rejected" in texts(nvim), what="the reason in the list")
    nvim.command("AcpReview rejectall")
    desk.until_reviews({"large.conf": ("binary", 0, 0, None)})
    nvim.wait_until(lambda: nvim.events("AcpError"), what="why one was not rejected")
    assert "large.conf was left as it is" in nvim.events("AcpError")[-1]["text"]
    names = (".gitignore", "file", "small.conf", "open.conf", "large.conf")
    assert [(cwd / name).read_text() for name in names] == ["*.conf\n", "text\n", "mine\n", "mine, too\n", "theirs\n"]
    assert not (cwd / "hidden").exists()
    assert git(cwd, "status", "--porcelain")


def reject(desk: Desk) -> None:
    """All of it, and what is not sure."""
    desk.nvim.command("AcpReview! rejectall")


def restore(desk: Desk) -> None:
    """The state before the last turn."""
    desk.nvim.lua("vim.ui.select = function(items, _, choose) choose(items[1], 1) end")
    desk.nvim.command("AcpRestore")


def test_new_rules_delete_nothing_of_the_users(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    desk = Desk(editor, agent_script(tmp_path, AGENT))
    nvim, cwd = desk.nvim, desk.cwd
    desk.begin({".gitignore": b"local.conf\n", "file": b"text\n"})
    (cwd / ".git/info/exclude").write_text("/large\n")
    (cwd / "local.conf").write_text("mine\n")
    (cwd / "large").write_text(TOO_LARGE)
    nvim.lua('assert(require("acp_nvim.sessions.client").session("it", true))')
    nvim.wait_until(lambda: remembered(desk, b"mine\n"), what="a look at the ignored files")
    for way, rules in product((reject, restore), (".gitignore", ".git/info/exclude")):
        with case(f"{way.__name__}, {rules}"):
            name, mine = {".gitignore": ("local.conf", "mine\n"), ".git/info/exclude": ("large", TOO_LARGE)}[rules]
            kept = (cwd / rules).read_text()
            desk.do(Work({}, {}, f"echo >{rules}; echo theirs >>{name}; echo more >>file", {}), "a command")
            nvim.wait_until(lambda name=name: {name, "file"} <= desk.reviews().keys(), what="the review")
            assert desk.reviews()[name][0] != "add"
            way(desk)
            nvim.wait_until(lambda: (cwd / "file").read_text() == "text\n", what="the file of before")
            nvim.wait_until(lambda name=name: (cwd / name).exists(), what="the user's")
            if name == "local.conf":
                nvim.wait_until(lambda: (cwd / "local.conf").read_text() == "mine\n", what="the user's text")
            assert (cwd / name).read_text().startswith(mine)
            nvim.command("AcpReview! keepall")
            desk.until_nothing_is_left()
            (cwd / rules).write_text(kept)
            (cwd / name).write_text(mine)


LISTED = """
local found = {}
for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[buffer].filetype == "acp_review" then
    vim.list_extend(found, vim.api.nvim_buf_get_lines(buffer, 0, -1, false))
  end
end
return table.concat(found, "\\n")
"""


def texts(nvim: HeadlessEditor) -> str:
    """All lines of the list of files."""
    return str(nvim.lua(LISTED))

"""Files that cannot be read at once, which an agent names or makes: Neovim never waits for them."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_edits import git
from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.cases import case
from tests.support.editor import HeadlessEditor
from tests.support.waiting import LIMIT

SCRIPT = """
def turn(agent, prompt):
    path = prompt.text
    call = {"sessionUpdate": "tool_call", "toolCallId": path, "title": "look", "kind": "read", "status": "completed",
            "locations": [{"path": path, "line": 1}],
            "content": [{"type": "content", "content": {"type": "resource_link", "name": "it", "uri": path}}]}
    agent.update(prompt.session_id, call)
    prompt.say(f"see {path}:1 and {path} and file://{path}#L1")
"""

OPENED = """
_G.opened = {}
vim.ui.open = function(what) table.insert(_G.opened, what) return {} end
"""


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_fifo(path: Path) -> None:
    os.mkfifo(path.with_suffix(".fifo"))
    path.symlink_to(path.with_suffix(".fifo"))


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(10 << 30)


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        place = os.open(path.parent, os.O_RDONLY)
        made.bind(f"/proc/self/fd/{place}/{path.name}" if os.path.isdir("/proc/self/fd") else str(path))
        os.close(place)


MAKERS = (fifo, link_to_a_fifo, large, a_socket)


class Chat:
    """A chat whose agent names the path that a prompt says, in all places where it can."""

    def __init__(self, nvim: HeadlessEditor, script: AgentScript) -> None:
        self.nvim = nvim
        self.script = script
        nvim.lua(OPENED)
        nvim.command("edit code.txt")
        nvim.command("AcpChat scripted")
        nvim.lua("_G.chat = vim.fn.bufwinid(...)", nvim.chat_buffer())

    def say(self, path: str) -> None:
        before = len(self.nvim.events("AcpTurnEnd"))
        self.nvim.lua('require("acp_nvim").prompt(...)', path)
        self.nvim.wait_until(lambda: len(self.nvim.events("AcpTurnEnd")) > before)

    def press_everywhere(self) -> int:
        """Enter and gf on each word of the chat; returns how often something was refused."""
        before = len(self.nvim.messages())
        lines = self.nvim.chat_text().split("\n")
        for row, line in enumerate(lines, 1):
            for col in [at + 1 for at in range(len(line)) if line[at] != " " and (at == 0 or line[at - 1] == " ")]:
                for key in ("<CR>", "gf"):
                    self.nvim.lua("vim.api.nvim_set_current_win(_G.chat) vim.fn.cursor(...)", row, col)
                    self.nvim.keys(key)
        self.nvim.lua("vim.api.nvim_set_current_win(_G.chat)")
        self.nvim.wait_until("true")  # messages are scheduled
        return len(self.nvim.messages()) - before

    def loaded(self) -> list[str]:
        """The files that have buffers with a text."""
        return self.nvim.lua(
            "return vim.tbl_map(vim.api.nvim_buf_get_name, vim.tbl_filter(function(nr) "
            "return vim.api.nvim_buf_is_loaded(nr) and vim.bo[nr].buftype == '' end, vim.api.nvim_list_bufs()))"
        )


@pytest.fixture
def chat(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Chat:
    script = agent_script(tmp_path, SCRIPT)
    nvim = editor(agents={"scripted": {"command": script.argv}}, config={"follow": {"enabled": True}})
    (nvim.project / "code.txt").write_text("text\n")
    nvim.command(f"cd {nvim.project}")
    return Chat(nvim, script)


def test_paths_in_the_project(chat: Chat) -> None:
    paths = [str(chat.nvim.project / f"{make.__name__}.txt") for make in MAKERS]
    for make, path in zip(MAKERS, paths, strict=True):
        make(Path(path))
        chat.say(path)
    chat.press_everywhere()
    assert chat.loaded() == [str(chat.nvim.project / "code.txt")]
    refused = [sum(path in message for message in chat.nvim.messages()) for path in paths]
    assert min(refused) > 5, dict(zip(paths, refused, strict=True))


def test_paths_of_the_system_and_names_that_others_handle(chat: Chat) -> None:
    paths = ["/dev/stdin", "/dev/zero", "/dev/tty", "/dev/fd/0", "/proc/self/mem", "/proc/kmsg", "/sys/kernel/notes"]
    names = ["scp://host/file", "term://touch executed", "+!touch executed", "`touch executed`", "--help", "|!touch x"]
    for name in [*paths, *names]:
        chat.say(name)
    chat.press_everywhere()
    # what /dev/stdin leads to may be a regular file
    assert not [name for name in chat.loaded() if not name.startswith(str(chat.nvim.places.directory))]
    assert os.listdir(chat.nvim.project) == ["code.txt"]
    assert not [one for one in chat.nvim.lua("return _G.opened") if one.startswith("-") or "/dev/" in one]


PACKED = ("a.gz", "b.tgz", "c.zip", "d.tar.xz", "e.docx", "f.zst")


def test_packed_files_are_not_unpacked(chat: Chat) -> None:
    """A small file may hold any number of bytes; Neovim decides by the name."""
    paths = [str(chat.nvim.project / name) for name in PACKED]
    for path in paths:
        Path(path).write_bytes(b"text\n")
        chat.say(path)
    chat.press_everywhere()
    known = "return vim.tbl_filter(vim.api.nvim_buf_is_loaded, vim.tbl_map(vim.fn.bufnr, ...))"
    assert chat.nvim.lua(known, paths) == []
    refused = [sum(f"{path} is packed" in message for message in chat.nvim.messages()) for path in paths]
    assert min(refused) > 5, dict(zip(paths, refused, strict=True))
    assert chat.nvim.lua("return require('acp_nvim.buffers.file_buffer').would_block(...)", paths[0])
    plain = chat.nvim.project / "gz"
    plain.write_text("text\n")
    assert chat.nvim.lua("return require('acp_nvim.buffers.file_buffer').load(..., 1000)", str(plain))


def test_a_file_that_became_a_fifo_while_it_is_open(chat: Chat) -> None:
    path = chat.nvim.project / "code.txt"
    path.unlink()
    os.mkfifo(path)
    chat.nvim.command("checktime")
    problem = chat.nvim.lua(
        "local bufnr = vim.fn.bufnr(...) vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, { 'other' }) "
        "return require('acp_nvim.buffers.disk').save(bufnr)",
        str(path),
    )
    assert problem == "it is not a regular file any more"


def test_a_swap_file_that_is_a_fifo(chat: Chat) -> None:
    chat.nvim.command("set swapfile directory=.")
    path = chat.nvim.project / "other.txt"
    path.write_text("text\n")
    os.mkfifo(chat.nvim.project / ".other.txt.swp")
    chat.say(str(path))
    chat.press_everywhere()
    assert chat.loaded() == [str(chat.nvim.project / "code.txt")]
    assert "is no swap file" in "\n".join(chat.nvim.messages())


def test_files_that_neovim_reads_besides(chat: Chat) -> None:
    """The settings of a directory, also of one whose name holds a variable, and undo files."""
    chat.nvim.command("set undofile undodir=. | let $VARIABLE = 'value'")
    for number, other in enumerate(("../.editorconfig", "../value/.editorconfig", ".it.txt.un~")):
        with case(other):
            path = chat.nvim.project / str(number) / "$VARIABLE" / "it.txt"
            path.parent.mkdir(parents=True)
            (path.parent.parent / "value").mkdir()
            path.write_text("text\n")
            os.mkfifo(path.parent / other)
            chat.say(str(path))
            chat.press_everywhere()
            assert chat.loaded() == [str(chat.nvim.project / "code.txt")]
            assert f"{path} cannot be opened, since Neovim would read another" in "\n".join(chat.nvim.messages())
    os.unlink(path.parent / other)
    assert chat.nvim.lua("return require('acp_nvim.buffers.file_buffer').load(..., 1000)", str(path))


def test_an_undo_file_that_became_a_fifo(chat: Chat) -> None:
    path = str(chat.nvim.project / "code.txt")
    chat.nvim.command("set undodir=.")
    chat.nvim.lua("vim.bo[vim.fn.bufnr(...)].undofile = true", path)
    os.mkfifo(chat.nvim.project / ".code.txt.un~")
    problem = chat.nvim.lua(
        "local bufnr = vim.fn.bufnr(...) "
        "vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, { 'other' }) "
        "return require('acp_nvim.buffers.disk').save(bufnr)",
        path,
    )
    assert "is not a regular file: remove it" in problem


GIT_FILES = (".gitignore", ".git/HEAD", ".git/index", ".git/config", ".git", ".git/info/exclude")


def test_completion_of_files_and_the_diff_do_not_wait(editor: Callable[..., HeadlessEditor]) -> None:
    nvim = editor(agents={})
    nvim.lua("require('acp_nvim.limits').git_ms = 300")
    for number, name in enumerate(GIT_FILES):
        with case(name):
            directory = nvim.project / str(number)
            path = directory / name
            path.parent.mkdir(parents=True)
            if name != ".git":
                git(directory, "init", "-q")
            (directory / "code.txt").write_text("text\n")
            path.unlink(missing_ok=True)
            os.mkfifo(path)
            check_completion(nvim, str(directory))


def check_completion(nvim: HeadlessEditor, directory: str) -> None:
    """The files of the directory are listed, and there is no diff."""
    nvim.lua("require('acp_nvim.prompt.complete.files').when_listed(..., function() end)", directory)
    listed = "vim.list_contains(require('acp_nvim.prompt.complete.files').get(...).paths, 'code.txt')"
    nvim.wait_until(f"return {listed}", LIMIT, "the list of files", directory)
    nvim.lua(
        "_G.answer = nil "
        "require('acp_nvim.mentions.words').diff(..., function(item) _G.answer = { it = item, over = 1 } end)",
        directory,
    )
    nvim.wait_until("_G.answer", LIMIT, "git")
    assert nvim.lua("return _G.answer.it == nil")

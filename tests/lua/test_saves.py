"""What the user saves: told to the host of this Neovim, and in a journal to those of others."""

from __future__ import annotations

import json
import os
import time
from urllib.parse import unquote_to_bytes

import pytest

from tests.lua.test_tracking import buffers, by_others, follow, read
from tests.support.editor import HeadlessEditor


@pytest.fixture
def nvim(tmp_path):
    """A Neovim in which nobody has used the plugin; a host of another one has made the directory of the journal."""
    started = HeadlessEditor(tmp_path)
    saves_of(started).mkdir(parents=True)
    yield started
    started.close()


def saves_of(editor):
    return editor.places.directory / "state" / "nvim" / "acp_nvim" / "saves"


def noted(editor):
    """Return the saves in the journal."""
    return [line for line in lines(editor) if "size" in line]


def lines(editor):
    """Return all lines of the journal."""
    files = sorted(saves_of(editor).glob("*.jsonl"))
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    return [json.loads(line) for file in files for line in file.read_text(encoding="ascii").splitlines()]


def ctime(path):
    return str(os.stat(path).st_ctime_ns)


def stamp(path, was):
    """Return what a save reports that has left the file unchanged."""
    now = os.stat(path)
    return {
        "size": now.st_size, "mtime": str(now.st_mtime_ns), "ctime": str(now.st_ctime_ns), "ino": now.st_ino,
        "was": was,
    }  # fmt: skip


def existing(editor, name="file.txt"):
    path = editor.project.resolve() / name
    path.write_text("one\ntwo\nthree\n")
    editor.command(f"edit {name}")
    return path


def test_each_save_is_noted_with_what_it_was_based_on(nvim):
    path = existing(nvim)
    pid = nvim.lua("return vim.uv.os_getpid()")
    was = ctime(path)
    nvim.command("write")
    first = {"path": str(path), "pid": pid, **stamp(path, was)}
    assert noted(nvim) == [first]
    nvim.command("write")
    assert noted(nvim) == [first, {"path": str(path), "pid": pid, **stamp(path, first["ctime"])}]
    assert nvim.children() == []


def test_reading_loads_nothing_and_nothing_is_made_for_the_journal(nvim):
    saves_of(nvim).rmdir()
    existing(nvim)
    loaded = "vim.iter(vim.tbl_keys(package.loaded)):any(function(name) return name:match('^acp_nvim') ~= nil end)"
    assert nvim.lua(f"return {loaded}") is False
    nvim.command("write")
    assert not saves_of(nvim).exists()
    assert nvim.messages() == []


@pytest.mark.parametrize(
    ("command", "name", "known"),
    [
        ("edit new.txt | write", "new.txt", False),
        ("write copy.txt", "copy.txt", False),
        ("2write! part.txt", "part.txt", False),
        ("write >> file.txt", "file.txt", False),
        ("saveas other.txt", "other.txt", False),
        ("file file.txt | file there.txt | write!", "there.txt", False),
        ("edit link.txt | write", "file.txt", True),
        ("split | write", "file.txt", True),
    ],
)  # fmt: skip
def test_ways_to_save(nvim, command, name, known):
    path = existing(nvim)
    (path.parent / "there.txt").write_text("other\n")
    (path.parent / "link.txt").symlink_to(path)
    was = ctime(path)
    nvim.command(f"set hidden | {command}")
    target = path.parent / name
    (line,) = noted(nvim)
    assert line == {"path": str(target), "pid": line["pid"], **stamp(target, was if known else None)}


@pytest.mark.parametrize("name", [b"caf\xe9.txt", "ä b.txt".encode(), b"100%.txt", b'"\\.txt', b"a\tb\x7f.txt"])
def test_odd_names_come_back_byte_for_byte(nvim, name):
    path = os.fsencode(nvim.project.resolve()) + b"/" + name
    nvim.lua("vim.cmd.buffer(vim.fn.bufadd(...))", path)
    nvim.lua("vim.cmd.write()")
    (line,) = noted(nvim)
    assert unquote_to_bytes(line["path"]) == path
    assert os.path.exists(path)


def test_a_name_that_is_too_long_for_a_line_is_left_out(nvim):
    directory = nvim.project.resolve()
    for _ in range(7):
        directory /= "ä" * 100
    directory.mkdir(parents=True)
    nvim.lua("vim.cmd.cd(...) vim.cmd.edit('a.txt') vim.cmd.write()", str(directory))
    assert (directory / "a.txt").exists()
    assert noted(nvim) == []


def test_what_is_no_save_of_a_file_is_not_noted(nvim):
    existing(nvim)
    nvim.command("write! /dev/null")
    nvim.command("doautocmd BufWritePost")
    nvim.command("doautocmd BufWritePre | doautocmd BufWritePost")
    assert noted(nvim) == []


def test_a_write_that_the_user_has_refused_is_none(nvim):
    path = existing(nvim)
    by_others(path, "of somebody else\n")
    nvim.keys(":write<CR>")
    assert nvim.api("get_mode")["mode"] == "r?"
    nvim.keys("n")
    assert path.read_text() == "of somebody else\n"
    assert noted(nvim) == []
    was = nvim.lua("return vim.b.acp_nvim_ctime")
    nvim.command("write!")
    assert [line["was"] for line in noted(nvim)] == [was]
    assert was != ctime(path)


def test_its_beginning_is_noted_before_the_text_is_in_the_file(nvim):
    path = existing(nvim)
    nvim.command(
        "autocmd BufWritePre * eval readfile(glob($XDG_STATE_HOME .. '/nvim/acp_nvim/saves/*'))->writefile('seen')"
    )
    before = time.time_ns()
    nvim.command("call setline(1, 'typed') | write")
    (began,) = [json.loads(line) for line in (path.parent / "seen").read_text().splitlines()]
    assert began == {"path": str(path), "began": began["began"], "pid": nvim.lua("return vim.uv.os_getpid()")}
    assert before <= int(began["began"]) <= time.time_ns()
    assert lines(nvim) == [began, *noted(nvim)]
    assert "typed" in path.read_text()


def test_a_write_that_fails_is_noted_as_none(nvim):
    path = existing(nvim)
    nvim.command("autocmd BufWritePre * throw 'not now'")
    with pytest.raises(Exception, match="not now"):
        nvim.command("write")
    nvim.wait_until(lambda: "began" not in lines(nvim)[-1], what="the save to be given up")
    assert noted(nvim) == []
    assert path.read_text() == "one\ntwo\nthree\n"


def test_it_is_based_on_what_was_read_again(nvim):
    path = existing(nvim)
    for text, command in (("another\n", "set autoread | checktime"), ("third\n", "edit!")):
        by_others(path, text)
        nvim.command(command)
        was = ctime(path)
        nvim.command("write")
        assert noted(nvim)[-1]["was"] == was
    by_others(path, "third\n")  # the same text at another time
    nvim.command("checktime")
    was = ctime(path)
    nvim.command("write")
    assert noted(nvim)[-1]["was"] == was


def test_it_is_not_based_on_what_the_user_did_not_want_to_read(nvim):
    path = existing(nvim)
    was = ctime(path)
    nvim.keys("ccmine<Esc>")
    by_others(path, "another\n")
    nvim.command("silent! checktime | write!")
    assert noted(nvim)[-1]["was"] == was


def test_what_the_agent_writes_is_not_the_users(editor):
    saves_of(editor).mkdir(parents=True)
    buffers(editor, "set_roots", 1, [str(editor.project)])
    path = existing(editor)
    done = buffers(editor, "write", str(path), {"text": "agent\n"}, read(editor, path)["state"], True)
    assert done.get("error") is None
    assert path.read_text() == "agent\n"
    assert noted(editor) == editor.sent("saved") == []
    was = ctime(path)
    editor.keys("ccmine<Esc>:write<CR>")
    assert [line["was"] for line in noted(editor)] == [was]
    assert editor.sent("saved") == [{"path": str(path), "stamp": stamp(path, was)}]


@pytest.mark.parametrize("merged", [None, "user\n"])
def test_a_buffer_that_has_followed_its_file_is_based_on_that(editor, merged):
    buffers(editor, "set_roots", 1, [str(editor.project)])
    path = existing(editor)
    by_others(path, "agent\n")
    follow(editor, path, change=merged or "agent\n", text="agent\n" if merged else None)
    was = ctime(path)
    editor.keys(":write<CR>")
    assert path.read_text() == (merged or "agent\n")
    assert editor.sent("saved") == [{"path": str(path), "stamp": stamp(path, was)}]


def test_a_copy_is_no_save_of_the_buffer(editor):
    buffers(editor, "set_roots", 1, [str(editor.project)])
    path = existing(editor)
    editor.keys(":write copy.txt<CR>")
    assert editor.sent("saved") == []
    was = ctime(path)
    editor.keys(":write<CR>")
    assert editor.sent("saved") == [{"path": str(path), "stamp": stamp(path, was)}]

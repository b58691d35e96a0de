"""The user's buffers, as the host reads and writes them."""

from __future__ import annotations

import os
import random

import pytest

TEXTS = [
    b"",
    b"\n",
    b"\n\n",
    b"a",
    b"a\nb\n",
    b"a\nb",
    b"a\r\nb\r\n",
    b"a\r\nb",
    b"a\rb\r",
    b"a\nb\r\nc\n",
    "é 🙂\n日本".encode(),
    b"a\0b\n\0\n",
]


@pytest.fixture
def file(editor):
    """Writes a file and opens it."""

    def make(content, name="file.txt"):
        path = editor.project / name
        path.write_bytes(content)
        editor.command(f"edit {path}")
        return path

    return make


def read(editor, path):
    return editor.lua('return require("acp_nvim.buffers").read(...)', str(path))


def write(editor, path, text, save=True, tick=None):
    if tick is None:
        tick = read(editor, path)["tick"]
    return editor.lua('return require("acp_nvim.buffers").write(...)', str(path), text, tick, save)


@pytest.mark.parametrize("content", TEXTS)
@pytest.mark.parametrize("fixeol", [True, False])
def test_read_is_what_write_would_write(editor, file, content, fixeol):
    path = file(content)
    editor.lua("vim.bo.fixeol = ...", fixeol)
    text = read(editor, path)["text"]
    editor.command("write!")
    assert text.encode() == path.read_bytes()


@pytest.mark.parametrize("old", TEXTS)
@pytest.mark.parametrize("new", ["", "\n", "x", "a\nb\n", "a\nb", "q\nb\r\nc\n", "a\0b\n"])
def test_written_text_is_read_back_and_saved(editor, file, old, new):
    path = file(old)
    if editor.lua("return vim.bo.fileformat") != "unix":
        ending = {"dos": "\r\n", "mac": "\r"}[editor.lua("return vim.bo.fileformat")]
        new = new.replace("\r\n", "\n").replace("\n", ending)
    answer = write(editor, path, new)
    assert answer["saved"] is True
    assert "error" not in answer
    after = read(editor, path)
    assert (after["text"], after["tick"], after["modified"]) == (new, answer["tick"], False)
    assert path.read_bytes() == new.encode()


def test_random_changes_are_exact_and_one_undo(editor, file):
    rng = random.Random(5)
    path = file(b"start\n")
    text = "start\n"
    for _ in range(40):
        lines = text.splitlines(keepends=True)
        for _ in range(rng.randint(1, 4)):
            at = rng.randint(0, len(lines))
            if rng.random() < 0.5:
                lines[at:at] = [rng.choice(["é\n", "x y\n", "\n"]) for _ in range(rng.randint(1, 60))]
            elif lines:
                lines[at : at + rng.randint(1, 3)] = ["other 🙂\n"]
        new = "".join(lines)
        write(editor, path, new, save=False)
        assert read(editor, path)["text"] == new
        editor.command("silent undo")
        assert read(editor, path)["text"] == text
        editor.command("silent redo")
        text = new


def test_the_users_last_change_has_an_undo_of_its_own(editor, file):
    path = file(b"one\ntwo\n")
    editor.keys("x")
    write(editor, path, "ne\nTWO\n", save=False)
    editor.keys("u")
    assert read(editor, path)["text"] == "ne\ntwo\n"
    editor.keys("u")
    assert read(editor, path)["text"] == "one\ntwo\n"


def test_one_changed_line_is_one_small_change_and_marks_stay(editor, file):
    path = file("".join(f"line {n}\n" for n in range(20_000)).encode())
    editor.lua(
        """_G.changes = {}
        vim.api.nvim_buf_attach(0, false, { on_bytes = function(_, _, _, row, col, _, _, _, old, _, _, new)
          table.insert(_G.changes, { row, col, old, new })
        end })
        vim.api.nvim_win_set_cursor(0, { 15000, 3 })
        vim.api.nvim_buf_set_mark(0, "m", 15000, 2, {})
        vim.cmd("normal! zt")
        _G.ns = vim.api.nvim_create_namespace("t")
        _G.mark = vim.api.nvim_buf_set_extmark(0, _G.ns, 9999, 7, {})"""
    )
    top = editor.lua("return vim.fn.line('w0')")
    text = read(editor, path)["text"].replace("line 9999\n", "line 9999 more\n")
    write(editor, path, text)
    assert editor.lua("return _G.changes") == [[9999, 9, 0, 5]]
    write(editor, path, "new\n" + text)
    assert editor.api("win_get_cursor", 0) == [15001, 3]
    assert editor.api("buf_get_mark", 0, "m") == [15001, 2]
    assert editor.lua("return vim.fn.line('w0')") == top + 1
    assert editor.lua("return vim.api.nvim_buf_get_extmark_by_id(0, _G.ns, _G.mark, {})") == [10000, 7]


def test_a_buffer_is_found_by_any_name_of_its_file(editor, file):
    path = file(b"a\n")
    link = editor.project / "link.txt"
    link.symlink_to(path)
    assert read(editor, link)["text"] == "a\n"
    assert read(editor, editor.project / "." / "file.txt")["text"] == "a\n"
    assert read(editor, editor.project / "other.txt") is None
    editor.command(f"edit {editor.project}/not-there-yet.txt")
    assert read(editor, editor.project / "not-there-yet.txt")["text"] == ""


def test_a_new_file_is_saved_with_its_directory(editor):
    path = editor.project / "deep" / "er" / "new.txt"
    editor.command(f"edit {path}")
    assert write(editor, path, "x\n")["saved"] is True
    assert path.read_text() == "x\n"


def test_another_tick_changes_nothing(editor, file):
    path = file(b"a\n")
    tick = read(editor, path)["tick"]
    editor.keys("x")
    answer = write(editor, path, "agent\n", tick=tick)
    assert answer["changed"] is True
    assert read(editor, path)["text"] == "\n"


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
def test_a_locked_buffer_is_left_alone(editor, file, option):
    path = file(b"a\n")
    editor.command(f"setlocal {option}")
    answer = write(editor, path, "b\n")
    assert "error" in answer
    assert "changed" not in answer
    assert read(editor, path)["text"] == "a\n"


def test_unsaved_when_that_is_asked(editor, file):
    path = file(b"a\n")
    assert write(editor, path, "b\n", save=False)["saved"] is False
    assert path.read_bytes() == b"a\n"
    assert read(editor, path)["modified"] is True


def test_a_file_that_others_changed_is_no_question_and_not_overwritten(editor, file):
    path = file(b"a\n")
    editor.keys("Ab<Esc>")
    tick = read(editor, path)["tick"]
    path.write_bytes(b"theirs, longer\n")
    for text in ["agent\n", "agent again\n"]:  # the second time Neovim has noticed already
        answer = write(editor, path, text, tick=tick)
        tick = answer["tick"]
        assert answer["saved"] is False
        assert "changed on disk" in answer["error"]
    assert path.read_bytes() == b"theirs, longer\n"
    assert read(editor, path)["text"] == "agent again\n"


def test_an_unmodified_buffer_takes_what_is_on_disk_before(editor, file):
    path = file(b"a\n")
    tick = read(editor, path)["tick"]
    path.write_bytes(b"theirs, longer\n")
    assert write(editor, path, "agent\n", tick=tick)["changed"] is True
    assert read(editor, path)["text"] == "theirs, longer\n"


def test_a_save_that_an_autocommand_refuses_says_why(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWriteCmd * throw 'not today'")
    answer = write(editor, path, "b\n")
    assert answer["saved"] is False
    assert "not today" in answer["error"]
    assert read(editor, path)["text"] == "b\n"


@pytest.mark.parametrize("what", ["throw 'not today'", "call NoSuchFunction()"])
def test_an_autocommand_that_fails_before_the_save_leaves_the_change_in_the_buffer(editor, file, what):
    path = file(b"a\n")
    editor.command(f"autocmd BufWritePre * {what}")
    answer = write(editor, path, "b\n")
    assert answer["saved"] is False
    assert answer["error"].startswith(("not today; the change is in", "E117: Unknown function"))
    assert read(editor, path)["text"] == "b\n"


def test_an_autocommand_that_fails_after_the_save_does_not_unsay_it(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePost * call NoSuchFunction()")
    answer = write(editor, path, "b\n")
    assert (answer["saved"], answer.get("error")) == (True, None)
    assert path.read_bytes() == b"b\n"
    assert "the file was written" in editor.message()


def test_an_autocommand_may_remove_the_buffer(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePre * bwipeout!")
    answer = write(editor, path, "b\n")
    assert answer["saved"] is False
    assert answer["error"] == "an autocommand removed the buffer"


def test_characters_that_the_encoding_lacks_are_not_lost(editor, file):
    path = file(b"a\n")
    editor.command("setlocal fileencoding=latin1")
    answer = write(editor, path, "日本\n")
    assert answer["saved"] is False
    assert "encoding lacks" in answer["error"]
    assert path.read_bytes() == b"a\n"


def test_refresh_reads_unmodified_buffers_only(editor, file):
    changed = file(b"a\n", "one.txt")
    modified = file(b"a\n", "two.txt")
    editor.command("set hidden")
    editor.keys("x")
    gone = file(b"a\n", "three.txt")
    for path in (changed, modified):
        path.write_bytes(b"from the agent\n")
        os.utime(path, (5, 5))
    gone.unlink()
    editor.apply({"type": "files_maybe_changed", "session": 1, "cwd": str(editor.project)})
    assert read(editor, changed)["text"] == "from the agent\n"
    assert read(editor, modified)["text"] == "\n"
    assert read(editor, gone)["text"] == "a\n"
    assert editor.api("get_mode")["blocking"] is False

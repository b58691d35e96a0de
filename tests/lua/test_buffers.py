"""The user's buffers, as the host reads and writes them."""

from __future__ import annotations

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
    """Writes a file and opens it, where an agent works."""
    editor.lua('require("acp_nvim.buffers").set_roots(1, { ... })', str(editor.project))

    def make(content, name="file.txt"):
        path = editor.project / name
        path.write_bytes(content)
        editor.command(f"edit {path}")
        return path

    return make


def read(editor, path, known=""):
    return editor.lua('return require("acp_nvim.buffers").read(...)', str(path), known)


def write(editor, path, change, save=True, state=None):
    if state is None:
        state = read(editor, path)["state"]
    change = {"text": change} if isinstance(change, str) else change
    return editor.lua('return require("acp_nvim.buffers").write(...)', str(path), change, state, save)


@pytest.mark.parametrize("content", TEXTS)
@pytest.mark.parametrize("fixeol", [True, False])
def test_read_is_what_the_file_has_or_what_write_would_write(editor, file, content, fixeol):
    path = file(content)
    editor.lua("vim.bo.fixeol = ...", fixeol)
    assert read(editor, path)["text"].encode() == content
    editor.command("setlocal modified")
    text = read(editor, path)["text"]
    editor.command("write!")
    assert text.encode() == path.read_bytes()
    assert read(editor, path)["text"] == text


NEW = [text.decode() for text in TEXTS] + ["\n\r\n", "a\r\nb\r", "q\nb\r\nc\n", "\ufeffa\n", "\r\n"]


@pytest.mark.parametrize("old", TEXTS)
def test_written_text_is_on_disk_byte_by_byte_and_read_back(editor, file, old):
    for number, new in enumerate(NEW):
        exact(editor, file(old, f"{number}.txt"), new)


def exact(editor, path, new):
    answer = write(editor, path, new)
    assert "error" not in answer
    after = read(editor, path)
    assert (after["text"], after["state"], after["modified"]) == (new, answer["state"], False)
    assert path.read_bytes() == new.encode()
    editor.command("setlocal nofixeol | edit!")
    assert read(editor, path)["text"] == new


@pytest.mark.parametrize("encoding", ["latin1", "utf-16", "utf-16le", "utf-8"])
def test_text_is_written_in_the_files_encoding(editor, file, encoding):
    python = {"utf-16": "utf-16-be"}.get(encoding, encoding)
    bom = "" if encoding == "latin1" else "\ufeff"
    path = file((bom + "Grüße\n").encode(python))
    known = read(editor, path)
    assert (known["text"], known["encoding"]) == (bom + "Grüße\n", encoding)
    write(editor, path, bom + "Grüße\nÄ\n")
    assert path.read_bytes() == (bom + "Grüße\nÄ\n").encode(python)


def test_a_bom_goes_when_the_agent_leaves_it_out_but_not_from_utf_16(editor, file):
    path = file("\ufeffa\n".encode())
    write(editor, path, "b\n")
    assert path.read_bytes() == b"b\n"
    path = file("\ufeffa\n".encode("utf-16-le"), "two.txt")
    write(editor, path, "b\n")
    assert path.read_bytes() == "\ufeffb\n".encode("utf-16-le")


def test_a_known_state_is_not_sent_again(editor, file):
    path = file(b"a\n")
    known = read(editor, path)
    assert "text" not in read(editor, path, known["state"])
    editor.command("setlocal fileformat=dos")
    assert read(editor, path, known["state"])["text"] == "a\r\n"
    known = read(editor, path)
    editor.command("setlocal fileencoding=latin1")
    assert read(editor, path, known["state"])["encoding"] == "latin1"


def test_lines_are_changed_without_the_rest(editor, file):
    path = file(b"a\nb\nc\nd\n")
    write(editor, path, {"first": 1, "count": 2, "lines": ["x"]})
    assert path.read_bytes() == b"a\nx\nd\n"
    write(editor, path, {"first": 3, "count": 0, "lines": ["e", "f"]})
    assert path.read_bytes() == b"a\nx\nd\ne\nf\n"
    write(editor, path, {"first": 0, "count": 4, "lines": []})
    assert path.read_bytes() == b"f\n"


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
    assert "error" not in write(editor, path, "x\n")
    assert path.read_text() == "x\n"


def test_another_state_changes_nothing(editor, file):
    path = file(b"a\n")
    state = read(editor, path)["state"]
    editor.keys("x")
    assert write(editor, path, "agent\n", state=state) == {"changed": True}
    assert read(editor, path)["text"] == "\n"


def untouched(editor, path, text, modified=False):
    after = read(editor, path)
    assert (after["text"], after["modified"]) == (text, modified)


@pytest.mark.parametrize("option", ["nomodifiable", "readonly"])
def test_a_locked_buffer_is_left_alone(editor, file, option):
    path = file(b"a\n")
    editor.command(f"setlocal {option}")
    answer = write(editor, path, "b\n")
    assert "error" in answer
    assert "changed" not in answer
    untouched(editor, path, "a\n")


def test_unsaved_when_that_is_asked(editor, file):
    path = file(b"a\n")
    write(editor, path, "b\n", save=False)
    assert path.read_bytes() == b"a\n"
    untouched(editor, path, "b\n", modified=True)


def test_a_file_that_others_changed_is_no_question_and_not_overwritten(editor, file):
    path = file(b"a\n")
    editor.keys("Ab<Esc>")
    state = read(editor, path)["state"]
    path.write_bytes(b"theirs, longer\n")
    for _ in range(2):  # the second time Neovim has noticed already
        assert write(editor, path, "agent\n", state=state) == {"changed": True}
        assert read(editor, path)["stale"] == "conflict"
    assert path.read_bytes() == b"theirs, longer\n"
    untouched(editor, path, "ab\n", modified=True)
    assert editor.api("get_mode")["blocking"] is False


@pytest.mark.parametrize("modified", [True, False])
def test_what_cannot_be_saved_is_not_in_the_buffer_either(editor, file, modified):
    path = file(b"a\nb\n")
    if modified:
        editor.keys("Ab<Esc>")
    before = read(editor, path)["text"]
    editor.command("autocmd BufWritePre * throw 'not today'")
    answer = write(editor, path, "\ufeffagent\r\nx")
    assert answer["error"] == "not today"
    untouched(editor, path, before, modified)
    assert path.read_bytes() == b"a\nb\n"
    assert editor.lua("return { vim.bo.fileformat, vim.bo.eol, vim.bo.bomb }") == ["unix", True, False]


def test_an_autocommand_that_fails_after_the_save_does_not_unsay_it(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePost * call NoSuchFunction()")
    assert "error" not in write(editor, path, "b\n")
    assert path.read_bytes() == b"b\n"
    assert "the file was written" in editor.message()


def test_an_autocommand_may_remove_the_buffer(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePre * bwipeout!")
    assert write(editor, path, "b\n") == {"error": "an autocommand removed the buffer"}
    assert path.read_bytes() == b"a\n"


@pytest.mark.parametrize("event", ["BufWritePre", "BufWritePost"])
def test_what_is_formatted_when_it_is_saved_is_told(editor, file, event):
    path = file(b"a\n")
    editor.command(f"autocmd {event} * call setline(1, 'formatted')")
    answer = write(editor, path, "b\n")
    assert answer["text"] == "formatted\n"
    assert path.read_bytes() == (b"formatted\n" if event == "BufWritePre" else b"b\n")
    assert read(editor, path)["state"] == answer["state"]


def test_characters_that_the_encoding_lacks_are_not_lost(editor, file):
    path = file(b"a\n")
    editor.command("setlocal fileencoding=latin1")
    assert "encoding lacks" in write(editor, path, "日本\n")["error"]
    assert path.read_bytes() == b"a\n"
    untouched(editor, path, "a\n", modified=True)  # only the encoding has changed


def test_a_terminal_by_that_name_is_no_file(editor):
    path = editor.project / "t.txt"
    editor.command("terminal cat")
    editor.command(f"file {path}")
    assert read(editor, path) is None
    assert "terminal" in editor.lua('return require("acp_nvim.buffers").unopened(...)', str(path))["obstacle"]


def test_what_could_not_be_saved_is_not_what_undo_brings_back(editor, file):
    path = file(b"a\n")
    editor.keys("Afirst<Esc>Asecond<Esc>")
    editor.command("autocmd BufWritePre * call setline(1, 'formatted') | throw 'not today'")
    assert "not today" in write(editor, path, "agent\n")["error"]
    untouched(editor, path, "afirstsecond\n", modified=True)
    editor.keys("u")
    untouched(editor, path, "afirst\n", modified=True)


def test_a_file_that_was_half_written_is_told(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePre * call writefile(['ag'], expand('%')) | throw 'E514: Write error'")
    assert write(editor, path, "agent\n") == {"error": "E514: Write error", "torn": True}
    untouched(editor, path, "a\n")


def test_nothing_is_formatted_under_the_users_fingers(editor, file):
    path = file(b"a\nb\n")
    editor.command(r"autocmd BufWritePre * %s/\s\+$//e")
    editor.api("input", "Ahello ")
    editor.wait_until("vim.api.nvim_get_current_line() == 'ahello '")
    write(editor, path, "ahello \nB\n")
    editor.keys("world<Esc>")
    assert editor.buffer_text() == "ahello world\nB"
    assert path.read_text() == "ahello \nB\n"


def test_a_selection_whose_lines_go_away_ends_where_the_text_ends(editor, file):
    path = file(b"a\nb\nc\nd\n")
    editor.keys("GVgg")
    assert "error" not in write(editor, path, "a\n", save=False)
    assert editor.api("get_mode")["mode"] == "V"
    editor.keys("<Esc>")
    assert editor.buffer_text() == "a"


def test_what_is_written_while_autocommands_run_is_not_written_over(editor, file):
    path = file(b"a\n")
    editor.command("autocmd BufWritePre * call writefile(['others'], expand('%'))")
    assert write(editor, path, "agent\n") == {"changed": True}
    untouched(editor, path, "a\n")
    assert path.read_text() == "others\n"
    assert read(editor, path)["stale"] == "changed"

"""Buffers of files that others change on disk: told to the host, brought up to the file, and nobody is asked."""

from __future__ import annotations

import os

import pytest

from tests.lua.conftest import LuaEditor

OLD = "one\ntwo\nthree\n"


def buffers(editor, function, *args):
    return editor.lua(f'return require("acp_nvim.buffers").{function}(...)', *args)


def read(editor, path):
    return buffers(editor, "read", str(path), "")


def stamp(editor, path):
    return editor.lua('return require("acp_nvim.buffers.stamp").of(...)', str(path))


@pytest.fixture
def path(editor):
    """A file of a live session, open; others may be written and opened beside it."""
    editor.command("set hidden")
    buffers(editor, "set_roots", 1, [str(editor.project)])
    path = editor.project / "file.txt"
    path.write_text(OLD)
    editor.command(f"edit {path}")
    return path


later = iter(range(1, 10_000))


def by_others(path, text):
    """Write the file as another program, each time with another time."""
    path.write_text(text)
    os.utime(path, (1_700_000_000 + next(later),) * 2)


def follow(editor, path, change=None, text=None):
    found = {"stamp": stamp(editor, path), "encoding": "utf-8"}
    found |= {"change": {"text": change}} if change is not None else {}
    found |= {"text": text} if text is not None else {}
    return buffers(editor, "follow_disk", str(path), read(editor, path)["state"], found)


def told(editor):
    """The paths that the host was told of; each telling once."""
    return [path for params in editor.sent("disk_changed") for path in params["paths"]]


def typed_write(editor):
    """The user writes the buffer, and is asked nothing."""
    editor.keys(":write<CR>")
    assert editor.api("get_mode") == {"mode": "n", "blocking": False}
    assert "W1" not in editor.printed()
    assert "E13" not in editor.printed()


@pytest.mark.parametrize("by", ["checktime", "doautocmd FocusGained | checktime"])
@pytest.mark.parametrize("modified", [False, True])
def test_a_change_on_disk_is_told_and_asks_nothing(editor, path, by, modified):
    if modified:
        editor.keys("Atyped<Esc>")
    before = editor.buffer_text()
    by_others(path, "other\n")
    editor.command(by)
    editor.wait_until(lambda: told(editor))
    assert told(editor) == [str(path)]
    assert editor.buffer_text() == before
    assert editor.api("get_mode")["blocking"] is False
    assert editor.printed() == ""
    assert read(editor, path)["stale"] == ("conflict" if modified else "changed")


def test_a_buffer_follows_and_keeps_what_it_has(editor, path):
    editor.keys("Atyped<Esc>:write<CR>")
    editor.lua(
        """_G.ns = vim.api.nvim_create_namespace("t")
        _G.mark = vim.api.nvim_buf_set_extmark(0, _G.ns, 2, 3, {})
        vim.wo.foldmethod = "manual"
        vim.cmd("2,3fold")
        vim.api.nvim_win_set_cursor(0, { 1, 4 })"""
    )
    by_others(path, "zero\nonetyped\ntwo\nthree\n")
    assert follow(editor, path, "zero\nonetyped\ntwo\nthree\n")["state"]
    assert read(editor, path) | {"stale": None} == read(editor, path) | {"stale": None, "modified": False}
    assert editor.api("win_get_cursor", 0) == [2, 4]
    assert editor.lua("return vim.api.nvim_buf_get_extmark_by_id(0, _G.ns, _G.mark, {})") == [3, 3]
    assert editor.lua("return { vim.fn.foldclosed(3), vim.fn.foldclosedend(3) }") == [3, 4]
    editor.keys("u")
    assert editor.buffer_text() == "onetyped\ntwo\nthree"
    editor.keys("u")
    assert editor.buffer_text() == "one\ntwo\nthree"
    editor.keys("<C-r><C-r>")
    typed_write(editor)
    assert path.read_text() == "zero\nonetyped\ntwo\nthree\n"


def test_a_modified_buffer_stays_modified_and_is_written_without_a_question(editor, path):
    editor.keys("Atyped<Esc>")
    by_others(path, "one\ntwo\n3\n")
    follow(editor, path, "onetyped\ntwo\n3\n", "one\ntwo\n3\n")
    assert read(editor, path)["modified"] is True
    assert "stale" not in read(editor, path)
    assert buffers(editor, "saved_text", str(path)) == "one\ntwo\n3\n"
    typed_write(editor)
    assert path.read_text() == "onetyped\ntwo\n3\n"


def test_nothing_follows_what_has_changed_again(editor, path):
    before = stamp(editor, path)
    by_others(path, "other\n")
    state = read(editor, path)["state"]
    found = {"stamp": before, "encoding": "utf-8", "change": {"text": "x\n"}}
    assert buffers(editor, "follow_disk", str(path), state, found) == {"changed": True}
    editor.keys("x")
    found["stamp"] = stamp(editor, path)
    assert buffers(editor, "follow_disk", str(path), state, found) == {"changed": True}
    assert editor.buffer_text() == "ne\ntwo\nthree"


@pytest.mark.parametrize("option", ["readonly", "nomodifiable"])
def test_a_locked_buffer_follows_too(editor, path, option):
    editor.command(f"setlocal {option}")
    by_others(path, "other\n")
    follow(editor, path, "other\n")
    assert editor.buffer_text() == "other"
    assert option in editor.command("setlocal readonly? modifiable?")


def test_the_encoding_of_the_file_becomes_the_buffers(editor, path):
    path.write_bytes("Grüße\n".encode("latin1"))
    editor.command("edit!")
    assert editor.lua("return vim.bo.fileencoding") == "latin1"
    by_others(path, "Grüße, 日本\n")
    follow(editor, path, "Grüße, 日本\n")
    editor.keys("x")
    typed_write(editor)
    assert path.read_text() == "rüße, 日本\n"


def test_a_touched_file_is_no_news(editor, path):
    os.utime(path, (1_600_000_000, 1_600_000_000))
    editor.command("checktime")
    editor.keys("Atyped<Esc>")
    typed_write(editor)
    assert told(editor) == []
    path.chmod(0o600)
    editor.command("messages clear")
    editor.command("checktime")
    assert (told(editor), editor.printed()) == ([], "")


def test_other_files_keep_what_the_user_has_set(editor, path):
    other = editor.places.directory / "other.txt"
    other.write_text(OLD)
    editor.command(f"edit {other}")
    assert editor.lua('return vim.api.nvim_get_option_value("autoread", {}) or vim.go.autoread') is True
    by_others(other, "others\n")
    editor.command("checktime")
    assert editor.buffer_text() == "others"
    assert told(editor) == []


@pytest.mark.parametrize("own", ["autoread<", "autoread", "noautoread"])
def test_autoread_is_the_users_again_when_no_agent_works(editor, path, own):
    buffers(editor, "set_roots", 1, [])
    editor.command(f"setlocal {own}")
    ask = 'return tostring(vim.api.nvim_get_option_value("autoread", { buf = 0, scope = "local" }))'
    before = editor.lua(ask)
    buffers(editor, "set_roots", 1, [str(editor.project)])
    buffers(editor, "set_roots", 2, ["/"])
    assert editor.lua("return vim.bo.autoread") is False
    buffers(editor, "set_roots", 1, [])
    assert editor.lua("return vim.bo.autoread") is False
    buffers(editor, "set_roots", 2, [])
    assert editor.lua(ask) == before
    by_others(path, "others\n")
    editor.command("silent! checktime")
    assert told(editor) == []


def test_a_new_buffer_hears_of_the_file_that_comes_to_be(editor, path):
    new = editor.project / "new.txt"
    editor.command(f"edit {new}")
    editor.keys("ityped<Esc>")
    by_others(new, "by an agent\n")
    editor.command("doautocmd FocusGained | checktime")
    editor.wait_until(lambda: told(editor))
    assert read(editor, new)["stale"] == "created"
    assert editor.printed() == ""
    follow(editor, new, None, "by an agent\n")
    typed_write(editor)
    assert new.read_text() == "typed\n"


def test_the_buffer_of_a_deleted_file_says_so_until_it_is_written(editor, path):
    path.unlink()
    editor.command("checktime")
    editor.wait_until(lambda: told(editor))
    assert read(editor, path)["stale"] == "deleted"
    buffers(editor, "file_gone", str(path))
    assert read(editor, path)["on_disk"] is False
    assert "stale" not in read(editor, path)
    shown = "return vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, { details = true })[1][4].virt_text[1][1]"
    assert "deleted" in editor.lua(shown)
    assert editor.lua("return vim.b.acp_nvim_deleted") is True
    assert (editor.buffer_text(), editor.printed()) == (OLD.rstrip(), "")
    typed_write(editor)
    assert path.read_text() == OLD
    assert editor.lua("return vim.b.acp_nvim_deleted") is None
    assert editor.lua("return vim.api.nvim_buf_get_extmarks(0, -1, 0, -1, {})") == []


def test_a_deleted_file_that_is_back_is_followed(editor, path):
    path.unlink()
    editor.command("checktime")
    buffers(editor, "file_gone", str(path))
    by_others(path, "back\n")
    assert read(editor, path)["stale"] == "changed"
    follow(editor, path, "back\n")
    assert (editor.buffer_text(), editor.lua("return vim.b.acp_nvim_deleted")) == ("back", None)


def test_the_buffer_of_a_renamed_file_goes_by_the_new_name(editor, path):
    other = editor.project / "other.txt"
    other.write_text("other\n")
    editor.command(f"edit {other} | buffer {path}")
    editor.keys("Atyped<Esc>")
    was = read(editor, path)["stamp"]
    new = editor.project / "new.py"
    path.rename(new)
    assert read(editor, path)["stamp"] == was
    assert buffers(editor, "file_moved", str(path), str(new)) is True
    assert editor.api("buf_get_name", 0) == str(new)
    assert editor.lua("return vim.bo.filetype") == "python"
    assert read(editor, new)["modified"] is True
    assert str(path) not in editor.command("ls!")
    assert editor.lua("return vim.fn.bufname('#')").endswith("other.txt")
    typed_write(editor)
    assert new.read_text() == OLD.replace("one", "onetyped")
    editor.keys("u")
    assert editor.buffer_text() == OLD.rstrip()


def test_a_buffer_does_not_take_a_name_that_another_has(editor, path):
    new = editor.project / "new.txt"
    new.write_text("other\n")
    editor.command(f"edit {new}")
    assert buffers(editor, "file_moved", str(path), str(new)) is False
    assert read(editor, path)["text"] == OLD


def test_the_saved_text_is_what_the_file_had(editor, path):
    def saved():
        return buffers(editor, "saved_text", str(path))

    assert saved() == OLD
    editor.keys("Atyped<Esc>")
    assert saved() == OLD
    editor.command(f"write {editor.project}/copy.txt")
    assert saved() == OLD
    editor.command("write")
    assert saved() == OLD.replace("one", "onetyped")
    editor.keys("x")
    editor.command("edit!")
    assert saved() == OLD.replace("one", "onetyped")
    buffers(editor, "write", str(path), {"text": "agent\r\n"}, read(editor, path)["state"], True)
    editor.keys("x")
    assert saved() == "agent\r\n"


@pytest.mark.parametrize("encoding", ["utf-8", "latin1", "utf-16", "utf-16le", "ucs-4", "ucs-4le"])
def test_the_saved_text_of_a_buffer_that_was_modified_before_is_the_files(editor, encoding):
    python = {"utf-16": "utf-16-be", "ucs-4": "utf-32-be", "ucs-4le": "utf-32-le"}.get(encoding, encoding)
    bom = "" if encoding == "latin1" else "\ufeff"
    path = editor.project / "file.txt"
    path.write_bytes((bom + "Grüße\r\n").encode(python))
    editor.command(f"edit {path}")
    assert editor.lua("return vim.bo.fileencoding") == encoding
    editor.keys("x")
    buffers(editor, "set_roots", 1, [str(editor.project)])
    assert buffers(editor, "saved_text", str(path)) == bom + "Grüße\r\n"


def test_nothing_is_made_up_when_the_file_was_changed_before_too(editor):
    path = editor.project / "file.txt"
    path.write_text(OLD)
    editor.lua('pcall(vim.api.nvim_clear_autocmds, { group = "nvim.autoread" })')  # 0.13 asks before we are there
    editor.command(f"edit {path}")
    editor.keys("x")
    by_others(path, "others\n")
    buffers(editor, "set_roots", 1, [str(editor.project)])
    assert buffers(editor, "saved_text", str(path)) is None


def test_a_host_that_ends_leaves_the_buffers_to_neovim(editor, path):
    editor.lua('require("acp_nvim.host").on_end("python", 1)')
    assert editor.lua('return vim.api.nvim_get_option_value("autoread", { buf = 0, scope = "local" })') is None
    by_others(path, "others\n")
    editor.command("silent! checktime")
    assert editor.buffer_text() == "others"


def test_a_buffer_that_is_wiped_and_opened_again_is_followed(editor, path):
    editor.command("bwipeout!")
    editor.command(f"edit {path}")
    by_others(path, "others\n")
    editor.command("checktime")
    editor.wait_until(lambda: told(editor))
    assert told(editor) == [str(path)]


@pytest.fixture
def second(tmp_path):
    """A second Neovim."""
    (tmp_path / "second").mkdir()
    started = LuaEditor(tmp_path / "second")
    yield started
    started.close()


@pytest.mark.parametrize("directory", ["{}/swap//", "{}/swap", "."])
def test_a_file_that_another_neovim_has_open_is_left_alone(editor, second, directory):
    path = editor.project / "file [1].txt"
    path.write_text(OLD)
    (editor.places.directory / "swap").mkdir()
    for one in (editor, second):
        one.command(f"set swapfile updatecount=1 directory={directory.format(editor.places.directory)}")
    assert "obstacle" not in buffers(editor, "unopened", str(path))
    second.lua("vim.cmd.edit(vim.fn.fnameescape(...))", str(path))
    second.keys("Atyped<Esc>")
    second.command("preserve")
    assert f"process {second.pid}" in buffers(editor, "unopened", str(path))["obstacle"]
    second.kill()
    editor.wait_until(lambda: "recover" in buffers(editor, "unopened", str(path)).get("obstacle", ""))
    (swap,) = [*editor.places.directory.rglob("*file [[]1].txt.sw?")]
    swap.unlink()
    assert "obstacle" not in buffers(editor, "unopened", str(path))


@pytest.mark.parametrize("how", ["cp -p", "eventignore", "q:"])
def test_what_neovim_does_not_look_at_is_seen_all_the_same(editor, path, how):
    before = path.stat()
    path.with_name("new").write_text("others\n")
    if how == "cp -p":
        os.utime(path.with_name("new"), ns=(before.st_atime_ns, before.st_mtime_ns))
    path.with_name("new").replace(path)
    if how == "eventignore":
        editor.command("set eventignore=all")
    elif how == "q:":
        editor.api("input", "q:")
        editor.wait_until("vim.fn.getcmdwintype() == ':'")
    assert read(editor, path)["stale"] == "changed"
    assert editor.api("get_mode")["blocking"] is False
    follow(editor, path, "others\n")
    assert "stale" not in read(editor, path)
    assert path.read_text() == "others\n"
    assert read(editor, path)["text"] == "others\n"


def test_a_write_without_autocommands_is_the_users_own(editor, path):
    editor.keys("Atyped<Esc>")
    editor.keys(":noautocmd write<CR>")
    editor.wait_until(lambda: told(editor))
    follow(editor, path)
    assert read(editor, path)["modified"] is False
    assert buffers(editor, "saved_text", str(path)) == OLD.replace("one", "onetyped")
    editor.keys("u")
    assert read(editor, path)["modified"] is True


def test_undo_to_what_the_file_had_once_is_a_change(editor, path):
    editor.keys("Atyped<Esc>")
    by_others(path, "one\ntwo\n3\n")
    follow(editor, path, "onetyped\ntwo\n3\n", "one\ntwo\n3\n")
    editor.keys("uu")
    assert editor.buffer_text() == OLD.rstrip()
    editor.wait_until("vim.bo.modified")


def test_a_write_that_the_user_has_taken_back_was_none(editor, path):
    editor.api("ui_attach", 80, 24, {})
    by_others(path, "others\n")
    editor.keys("Atyped<Esc>")
    editor.api("input", ":write<CR>")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] == "r?", what="Neovim's own question")
    editor.api("input", "n")
    editor.wait_until(lambda: editor.api("get_mode")["mode"] != "r?", what="the answer")
    editor.keys("<CR>")
    assert read(editor, path)["stale"] == "conflict"
    assert buffers(editor, "saved_text", str(path)) == OLD
    assert path.read_text() == "others\n"


@pytest.mark.parametrize("how", ["edit!", "bunload! | buffer #"])
def test_autoread_is_the_users_own_after_the_buffer_was_read_again(editor, path, how):
    editor.command(f"edit {editor.project}/other.txt | buffer {path}")
    editor.command(how)
    editor.command(f"buffer {path}")
    buffers(editor, "set_roots", 1, [])
    assert editor.lua('return vim.api.nvim_get_option_value("autoread", { buf = 0, scope = "local" })') is None


def test_a_name_that_leads_elsewhere_now_is_followed(editor, path):
    target = editor.project / "target.txt"
    target.write_text("elsewhere\n")
    path.unlink()
    path.symlink_to(target)
    buffers(editor, "refresh")
    assert read(editor, target)["stale"] == "changed"
    follow(editor, target, "elsewhere\n")
    assert editor.buffer_text() == "elsewhere"


def test_a_buffer_that_takes_the_name_of_a_file_has_not_read_it(editor, path):
    other = editor.project / "other.txt"
    other.write_text("precious\n")
    editor.command(f"file {other}")
    assert read(editor, other)["stale"] == "created"
    assert "changed" in buffers(editor, "write", str(other), {"text": "x"}, read(editor, other)["state"], True)
    assert other.read_text() == "precious\n"


def test_who_is_behind_is_told_again(editor, path):
    by_others(path, "others\n")
    for count in (1, 2):
        buffers(editor, "refresh")
        editor.wait_until(lambda count=count: len(told(editor)) == count)


def test_other_buffers_that_are_saved_on_the_way_have_been_saved(editor, path):
    other = editor.project / "other.txt"
    other.write_text("other\n")
    editor.command(f"edit {other}")
    editor.keys("Atyped<Esc>")
    editor.command(f"autocmd BufWritePost {path} ++nested silent! wall")
    buffers(editor, "write", str(path), {"text": "agent\n"}, read(editor, path)["state"], True)
    assert buffers(editor, "saved_text", str(other)) == "othertyped\n"
    assert read(editor, other)["modified"] is False


def test_what_an_agent_did_before_it_ended_is_followed_with_all_that_is_known(editor, path):
    editor.keys("Atyped<Esc>")
    by_others(path, "one\ntwo\n3\n")
    buffers(editor, "set_roots", 1, [])
    editor.wait_until(lambda: told(editor))
    assert read(editor, path)["stale"] == "conflict"
    assert buffers(editor, "saved_text", str(path)) == OLD
    follow(editor, path, "onetyped\ntwo\n3\n", "one\ntwo\n3\n")
    autoread = 'return vim.api.nvim_get_option_value("autoread", { buf = 0, scope = "local" })'
    assert editor.lua(autoread) is None
    assert editor.api("get_autocmds", {"event": "FileChangedShell"}) == []
    read(editor, path)
    assert editor.lua(autoread) is None


def test_a_range_of_lines_that_is_being_typed_means_what_the_user_sees(editor, path):
    editor.api("input", ":2,3d")
    editor.wait_until("vim.fn.getcmdline() == '2,3d'")
    change = {"first": 0, "count": 0, "lines": ["zero"]}
    state = read(editor, path)["state"]
    assert buffers(editor, "write", str(path), change, state, True) == {"busy": True}
    editor.keys("<CR>")
    assert editor.buffer_text() == "one"


def test_what_is_a_bom_depends_on_the_encoding_that_the_file_has_now(editor, path):
    path.write_bytes("\ufeffone\n".encode("utf-16-le"))
    editor.command("edit!")
    assert read(editor, path)["encoding"] == "utf-16le"
    by_others(path, "two\n")
    follow(editor, path, "two\n")
    after = read(editor, path)
    assert (after["text"], after["encoding"], after["modified"]) == ("two\n", "utf-8", False)
    path.write_bytes("Grüße\n".encode("latin1"))
    editor.command("edit!")
    by_others(path, "\ufeffthree\n")
    follow(editor, path, "\ufeffthree\n")
    assert (editor.buffer_text(), read(editor, path)["text"]) == ("three", "\ufeffthree\n")


def test_an_agent_that_comes_back_before_all_is_followed_finds_the_buffer_watched(editor, path):
    by_others(path, "others\n")
    buffers(editor, "set_roots", 1, [])
    buffers(editor, "set_roots", 2, [str(editor.project)])
    follow(editor, path, "others\n")
    assert editor.lua("return vim.bo.autoread") is False
    by_others(path, "again\n")
    assert read(editor, path)["stale"] == "changed"


def test_a_buffer_that_is_read_again_after_the_agent_ended_is_the_users_own(editor, path):
    buffers(editor, "set_roots", 2, [str(editor.places.directory / "elsewhere")])
    by_others(path, "others\n")
    buffers(editor, "set_roots", 1, [])
    editor.command("edit!")
    autoread = 'return vim.api.nvim_get_option_value("autoread", { buf = 0, scope = "local" })'
    assert editor.lua(autoread) is None


def test_a_buffer_that_is_wiped_before_it_followed_is_no_trouble_to_the_next_agent(editor, path):
    path.write_text("changed\n")
    buffers(editor, "set_roots", 1, [])
    editor.command("bwipeout!")
    buffers(editor, "set_roots", 2, [str(editor.project)])
    assert editor.lua("return require('acp_nvim.buffers.tracking').all()") == []


def test_a_buffer_named_by_a_url_is_no_file(editor):
    editor.lua("vim.api.nvim_buf_set_name(0, 'oil:///tmp/') vim.bo.buftype = 'acwrite'")
    assert editor.lua("return require('acp_nvim.buffers.lookup').is_file(0)") is False
    editor.lua("vim.api.nvim_buf_set_name(0, '/tmp/a.txt')")
    assert editor.lua("return require('acp_nvim.buffers.lookup').is_file(0)") is True


def test_files_that_calls_have_named_are_tracked_wherever_they_are(editor, path, tmp_path):
    named, other = tmp_path / "named.txt", tmp_path / "other.txt"
    for one in (named, other):
        one.write_text(OLD)
        editor.command(f"edit {one}")
    assert sorted(buffers(editor, "untracked")) == [str(named), str(other)]
    buffers(editor, "set_roots", 1, [str(editor.project)], [str(named)])
    assert buffers(editor, "untracked") == [str(other)]
    by_others(named, "new\n")
    by_others(other, "new\n")
    assert buffers(editor, "stale") == [str(named)]
    editor.wait_until(lambda: told(editor) == [str(named)])
    follow(editor, named, change="new\n")
    buffers(editor, "set_roots", 1, [str(editor.project)], [])
    assert sorted(buffers(editor, "untracked")) == [str(named), str(other)]
    buffers(editor, "set_roots", 1, [str(editor.project)], [str(named)])
    editor.command(f"bwipeout {named} | edit {named}")  # opened after it was named
    assert buffers(editor, "untracked") == [str(other)]

"""Renamed directories under review: the list, the quickfix list, and the buffers of the files."""

from __future__ import annotations

import pytest

from tests.lua.review_files import hunk, review, tell, written


def moved(editor, old="src", new="core", **more):
    """The rename of a directory, as the host tells it."""
    root = editor.project.resolve()
    (root / new).mkdir(exist_ok=True)
    given = {"old_path": f"{root}/{old}/", "why": f"by `mv {old} {new}`", **more}
    return review(f"{root}/{new}/", "rename", **given)


def lines(editor):
    return [line.rstrip() for line in editor.buffer_text().split("\n")]


@pytest.mark.parametrize(("columns", "rows"), [(80, 24), (120, 40)])
def test_a_directory_is_one_line_of_the_list(screen, columns, rows):
    nvim = screen(columns=columns, rows=rows)
    file = written(nvim.project, "core/a.py")
    tell(nvim, moved(nvim), review(file, added=1, removed=1, why="by `mv src core`"), moved(nvim, "b", "c"))
    nvim.command("AcpReview")
    nvim.wait_for("R src/ → core/")
    shown = [row.rstrip() for row in nvim.rows() if "core/" in row or " → c/" in row]
    assert shown == [
        "  R b/ → c/       by `mv b c`",
        "  R src/ → core/  by `mv src core`",
        "  M core/a.py     +1 −1  by `mv src core`",
    ]


def test_keys_and_commands_name_the_directory(editor):
    tell(editor, moved(editor))
    root = editor.project.resolve()
    editor.command("AcpReview")
    assert lines(editor) == ["  R src/ → core/  by `mv src core`"]
    editor.keys("<CR>")
    assert "src/ → core/: a directory, renamed" in editor.message()
    editor.keys("ghr")
    editor.keys("ghk")
    wanted = {"path": f"{root}/core/"}
    assert editor.sent("review") == [{"action": "reject", **wanted}, {"action": "keep", **wanted}]
    tell(editor, review(f"{root}/core/", "none"))
    assert editor.lua("return require('acp_nvim.review.files').has_any()") is False


def test_a_jump_from_file_to_file_leaves_directories_out(editor):
    paths = [written(editor.project, name) for name in ("a.py", "core/b.py")]
    for path in reversed(paths):
        editor.command(f"edit {path}")
    tell(editor, moved(editor), *(review(path, hunks=[hunk(1, 3, 1, ["old"])]) for path in paths))
    editor.command("AcpReview next")
    editor.command("AcpReview next")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(paths[1])
    editor.command("AcpReview quickfix")
    texts = [(item["valid"], item["text"]) for item in editor.lua("return vim.fn.getqflist()")]
    assert (0, "R  src/ → core/") in texts
    assert editor.messages() == []


def file_moved(editor, old, new):
    root = editor.project.resolve()
    chunk = "return require('acp_nvim.buffers').file_moved(...)"
    return editor.lua(chunk, f"{root}/{old}/", f"{root}/{new}/")


def names(editor):
    chunk = "return vim.tbl_map(vim.api.nvim_buf_get_name, vim.api.nvim_list_bufs())"
    root = f"{editor.project.resolve()}/"
    return sorted(name.removeprefix(root) for name in editor.lua(chunk) if name.startswith(root))


def test_buffers_of_a_directory_get_its_name(editor):
    for name in ("src/a.py", "src/deep/b.py", "srcs/c.py"):
        editor.command(f"edit {written(editor.project, name)}")
    editor.command("set hidden")
    editor.command("buffer a.py")
    editor.api("buf_set_lines", 0, 0, 1, True, ["mine"])
    (editor.project / "src").rename(editor.project / "core")
    assert file_moved(editor, "src", "core") is True
    assert names(editor) == ["core/a.py", "core/deep/b.py", "srcs/c.py"]
    assert editor.lua("return vim.bo.modified") is True
    editor.command("write")
    assert (editor.project / "core/a.py").read_text().startswith("mine\n")
    assert file_moved(editor, "nothing", "other") is False


def test_buffers_stay_when_another_directory_has_the_name(editor):
    for name in ("src/a.py", "lib/a.py"):
        editor.command(f"edit {written(editor.project, name)}")
    assert file_moved(editor, "src", "lib") is False
    assert names(editor) == ["lib/a.py", "src/a.py"]

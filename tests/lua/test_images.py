"""Images from the clipboard: which program gives them, where they are kept, and what the prompt gets."""

from __future__ import annotations

import base64
import re
import shutil

import pytest

from tests.lua.conftest import STATUS

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4
TAKES = {"image": True, "audio": False, "embedded_context": True}


def takes(editor, key, **abilities):
    status = {**STATUS, "state": "idle", "takes": {**TAKES, **abilities}}
    editor.apply({"type": "status", "session": key, "status": status})


@pytest.fixture
def programs(editor, tmp_path):
    """A PATH with nothing but the programs that a test makes."""
    directory = tmp_path / "programs"
    directory.mkdir()
    editor.lua("vim.env.PATH, vim.env.WAYLAND_DISPLAY, vim.env.DISPLAY = ..., nil, nil", str(directory))
    shell = shutil.which("sh")
    cat = shutil.which("cat")

    def make(name, output=b"", code=0):
        (directory / f"{name}.out").write_bytes(output)
        program = directory / name
        program.write_text(
            f'#!{shell}\necho "$@" > "{directory}/{name}.args"\n{cat} "{directory}/{name}.out"\nexit {code}\n'
        )
        program.chmod(0o755)
        return directory / f"{name}.args"

    return make


@pytest.fixture
def key(editor):
    return editor.chat()


def pasted(editor, key):
    """The path that the prompt mentions once it does."""
    pattern = r"@(~|/)\S*\.png"
    editor.wait_until(lambda: re.search(pattern, editor.prompt_lines(key)[0]), what="the mention")
    mention = re.search(pattern, editor.prompt_lines(key)[0])[0]
    return editor.lua("return vim.fn.expand(...)", mention[1:])


def read(path):
    with open(path, "rb") as file:
        return file.read()


@pytest.mark.parametrize(
    ("name", "variable", "output"),
    [
        ("wl-paste", "WAYLAND_DISPLAY", PNG),
        ("xclip", "DISPLAY", PNG),
        ("pngpaste", None, PNG),
        ("osascript", None, b"\xc2\xabdata PNGf" + PNG.hex().upper().encode() + b"\xc2\xbb\n"),
        ("powershell.exe", None, base64.b64encode(PNG) + b"\r\n"),
    ],
)
def test_an_image_goes_into_a_file_and_its_mention_into_the_prompt(editor, key, programs, name, variable, output):
    arguments = programs(name, output)
    if variable:
        editor.lua("vim.env[...] = 'x'", variable)
    editor.command("AcpPaste")
    assert read(pasted(editor, key)) == PNG
    assert arguments.exists()


def test_at_the_cursor_with_blanks_around_it(editor, key, programs):
    programs("pngpaste", PNG)
    takes(editor, key)
    editor.keys("isee and go<Esc>0e<M-v>")
    path = pasted(editor, key)
    short = editor.lua("return vim.fn.fnamemodify(..., ':~')", path)
    assert editor.prompt_lines(key) == [f"see @{short}  and go"]


def test_in_insert_mode_one_types_on(editor, key, programs):
    programs("pngpaste", PNG)
    editor.keys("isee <M-v>")
    pasted(editor, key)
    editor.keys("well<Esc>")
    assert re.fullmatch(r"see @\S+\.png well", editor.prompt_lines(key)[0])


def test_an_agent_that_takes_none_is_not_even_asked_for(editor, key, programs):
    arguments = programs("pngpaste", PNG)
    takes(editor, key, image=False)
    editor.command("AcpPaste")
    assert "demo takes no images" in editor.message()
    assert not arguments.exists()
    assert editor.prompt_lines(key) == [""]


def test_no_program_is_named(editor, key, programs):
    editor.command("AcpPaste")
    assert "wl-paste, xclip, pngpaste" in editor.message()


@pytest.mark.parametrize(("output", "code"), [(b"", 1), (b"", 0), (b"plain text", 0), (PNG, 1)])
def test_a_clipboard_without_an_image(editor, key, programs, output, code):
    programs("pngpaste", output, code)
    editor.command("AcpPaste")
    assert "the clipboard has no image" in editor.message()
    assert editor.prompt_lines(key) == [""]


def test_the_next_program_is_asked_when_the_first_has_none(editor, key, programs):
    programs("pngpaste", b"")
    programs("powershell.exe", base64.b64encode(PNG))
    editor.command("AcpPaste")
    assert read(pasted(editor, key)) == PNG


def test_an_image_that_is_too_large(editor, key, programs):
    editor.lua('require("acp_nvim.limits").image_bytes = 100')
    programs("pngpaste", PNG)
    editor.command("AcpPaste")
    assert "the image is too large for agents" in editor.message()


def test_a_cache_that_cannot_be_written(editor, key, programs, tmp_path):
    programs("pngpaste", PNG)
    (tmp_path / "file").write_text("")
    editor.lua("local file = ... vim.fn.stdpath = function() return file end", str(tmp_path / "file"))
    editor.command("AcpPaste")
    assert "the image could not be stored" in editor.message()


def test_old_images_are_removed_and_new_ones_kept(editor, key, programs):
    programs("pngpaste", PNG)
    editor.command("AcpPaste")
    first = pasted(editor, key)
    editor.lua("local past = os.time() - 31 * 24 * 3600 vim.uv.fs_utime(..., past, past)", first)
    editor.api("buf_set_lines", editor.session(key, "prompt_bufnr"), 0, -1, True, [""])
    editor.command("AcpPaste")
    second = pasted(editor, key)
    assert editor.lua("return { vim.uv.fs_stat(...) == nil }", first) == [True]
    assert read(second) == PNG
    assert editor.lua("return vim.uv.fs_stat(...).mode % 512", second) == 0o600

"""Names of files are shown as they are: only what the user typed or configured is expanded."""

from __future__ import annotations

from tests.support.cases import case

ODD = (
    "`touch MARK`",
    "$HOME",
    "$(touch MARK)",
    "~",
    "~root",
    "%",
    "#1",
    "a*",
    "{a,b}",
    "a\\b",
    " a ",
    "a\nb",
    "+cmd",
    "-",
)

IN_NEOVIM = """
local path = ...
return { vim.fn.fnamemodify(path, ":~:."), vim.fn.fnamemodify(path, ":~") }
"""
OURS = "local path, names = ..., require('acp_nvim.names') return { names.short(path), names.below_home(path) }"
CALL = "local name, path = ... return require('acp_nvim.names')[name](path)"


def test_they_are_shown_as_neovim_does_it(editor):
    project, home = str(editor.project), str(editor.places.home)
    names = [
        f"{directory}/{name}" for directory in (project, f"{project}/x", home, f"{home}/x", "/", "/x") for name in ODD
    ]
    for path in (*names, project, f"{project}x", home, f"{home}x", "/"):
        with case(path):
            assert editor.lua(OURS, path) == editor.lua(IN_NEOVIM, path)


def test_only_the_home_directory_is_expanded(editor):
    home = str(editor.places.home)
    for name in ODD:
        with case(name):
            assert editor.lua(CALL, "from_home", f"/x/{name}") == f"/x/{name}"
            assert editor.lua(CALL, "from_home", f"~/{name}") == f"{home}/{name}"
            assert editor.lua(CALL, "from_home", name) == (home if name == "~" else name)
            assert editor.lua(CALL, "normalized", f"/x//y/.././{name}/") == f"/x/{name}"
    assert editor.lua(CALL, "normalized", "~/a/../b") == f"{home}/b"
    assert editor.lua(CALL, "configured", "$HOME/a") == f"{home}/a"


def test_a_directory_and_a_file_are_entered_exactly(editor):
    before = editor.lua("return vim.uv.cwd()")
    for name in ("`touch MARK`", "%", "#1", "a*", "{a,b}", "a\\b", " a ", "a\nb", "+cmd", "a|b"):
        with case(name):
            directory = editor.project / name
            directory.mkdir()
            (directory / name).write_text(f"text of {name!r}")
            editor.lua("require('acp_nvim.names').set_directory('tcd', ...)", str(directory))
            assert editor.lua("return vim.uv.cwd()") == str(directory)
            editor.lua(CALL, "view", str(directory / name))
            assert editor.buffer_text() == f"text of {name!r}"
            editor.lua("require('acp_nvim.names').set_directory('tcd', ...)", before)
    assert not list(editor.project.glob("**/MARK"))

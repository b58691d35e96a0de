"""Names of files are shown as they are: only what the user configured is expanded."""

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

COMPLETE = "return require('acp_nvim.sessions.arguments').complete_chat(..., {})"


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


def test_completed_names_are_not_expanded(editor):
    """Keys that complete a name of the project, and use it, or complete what is below it."""
    names = ["`touch MARK`", "a`touch MARK`b", "$(touch MARK)", "`=writefile([],'MARK')`"]
    key = editor.chat()
    editor.lua("require('acp_nvim.host.sessions').get(...).host = 1", key)
    editor.command("cd " + str(editor.project))
    for name in names:
        with case(name):
            place = editor.project / name
            (place / "below").mkdir(parents=True)
            assert editor.lua(COMPLETE, "++dir=") == [f"++dir={name}/"]
            assert editor.lua(COMPLETE, f"++dir={name}") == [f"++dir={name}/"]
            assert editor.lua(COMPLETE, f"++dir={name}/") == [f"++dir={name}/below/"]
            editor.rpc.notify("nvim_input", ":AcpExport \t.md<CR>")
            editor.wait_until(lambda: editor.sent("export"), what="the export")
            assert editor.sent("export")[-1]["path"] == f"{place}/.md"
            (place / "below").rmdir()
            place.rmdir()
            assert not list(editor.project.rglob("MARK"))
            editor.lua("_G.sent = {}")


def test_directories_are_completed(editor):
    for name in ("one/deep", "only", ".hidden"):
        (editor.project / name).mkdir(parents=True)
    (editor.project / "over").write_text("")
    (editor.project / "on").symlink_to("one")
    (editor.places.home / "of").mkdir()
    editor.command("cd " + str(editor.project))
    found = {
        lead: editor.lua("return require('acp_nvim.names').complete_directory(...)", lead)
        for lead in ("o", "", ".", "one/", "./one/d", "~/o", "none/x", f"{editor.project}/onl")
    }
    assert found == {
        "o": ["on/", "one/", "only/"],
        "": ["on/", "one/", "only/"],
        ".": [".hidden/"],
        "one/": ["one/deep/"],
        "./one/d": ["./one/deep/"],
        "~/o": ["~/of/"],
        "none/x": [],
        f"{editor.project}/onl": [f"{editor.project}/only/"],
    }


LOOK = """
local path = ...
local match, seen = vim.filetype.match, {}
vim.filetype.match = function(args)
  table.insert(seen, args.filename)
  return match(args)
end
require("acp_nvim.windows.shadow").make("acp://x", path)
require("acp_nvim.names").filetype(path, 0)
vim.filetype.match = match
return seen
"""


def test_looking_for_a_filetype_expands_nothing(editor):
    """Neovim expands some of the names that it is given to find their filetypes."""
    for name in ("/x/`y`.py", "/x/$HOME/*.py", "/x/{a,b}[c]?.py"):
        with case(name):
            seen = editor.lua(LOOK, name)
            assert len(seen) == 2
            assert not [one for one in seen if set(one) & set("`$*?{[") or not one.endswith(".py")]
    assert editor.lua("return require('acp_nvim.names').filetype('/`x`/a.py')") == "python"


LOAD = """
local path = ...
local match, seen = vim.filetype.match, {}
vim.filetype.match = function(args)
  seen[#seen + 1] = args.filename
  return match(args)
end
local bufnr = require("acp_nvim.buffers.file_buffer").load(path, 1000)
vim.filetype.match = match
return { seen, vim.bo[bufnr].filetype, vim.api.nvim_buf_get_lines(bufnr, 0, -1, true), vim.o.eventignore }
"""


def test_loading_a_file_does_not_give_its_name_to_the_detection(editor):
    editor.command("filetype on")
    for name in ("`x`/a.py", "x`y`.py", "plain.py"):
        with case(name):
            path = editor.project / name
            path.parent.mkdir(exist_ok=True)
            path.write_text("text\n")
            seen, filetype, lines, ignored = editor.lua(LOAD, str(path))
            assert seen
            assert not [one for one in seen if "`" in one]
            assert (filetype, lines, ignored) == ("python", ["text"], "")

"""The official client, over the real relay, in a real Neovim with real language servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.nvim.agent_tools import MODULE, SERVERS, USER, Tools, shared_tools, tools
from tests.support.editor import HeadlessEditor
from tests.support.language_server import CONNECT


@pytest.fixture
def here(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Tools:
    return tools(editor, tmp_path, SERVERS)


@pytest.fixture
def ruff(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Tools:
    """With the language server that starts at once, for what jedi says nothing about."""
    return tools(editor, tmp_path, ["ruff"])


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    """For tests after which the files are as they were, and none of them is open in a window."""
    with shared_tools(tmp_path_factory.mktemp("unchanged"), SERVERS) as here:
        yield here


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_symbols_are_found_where_they_are(unchanged: Tools, mode: str) -> None:
    here, at = unchanged, {"path": "main.py", "line": 3, "symbol": "+ area"}
    assert here.call("definition", mode, **at) == "shapes.py:4:5: def area(width, height):"
    assert here.call("references", mode, path="shapes.py", line=4, symbol="area").splitlines() == [
        "main.py:1:20: from shapes import area",
        "main.py:3:9: TOTAL = area(3, 4) + area(5, 6)",
        "main.py:3:22: TOTAL = area(3, 4) + area(5, 6)",
        "shapes.py:4:5: def area(width, height):",
        "shapes.py:8:7: print(area(1, 2))",
    ]
    assert "def area(width, height)" in here.call("hover", mode, **at)
    assert here.call("symbols", mode, path="shapes.py").splitlines()[-1] == "shapes.py:4:5: function area"
    assert "shapes.py:4:5: function area" in here.call("symbols", mode, query="area")


def test_what_cannot_be_found_is_told_with_what_to_try(unchanged: Tools) -> None:
    here = unchanged
    many = here.error("definition", path="main.py", line=3, symbol="area")
    assert "`area` stands 2 times in line 3 of main.py: TOTAL = area(3, 4) + area(5, 6)" in many
    assert "Give it with the text before it" in many
    elsewhere = here.error("definition", path="shapes.py", line=2, symbol="area")
    assert "`area` is not in line 2 of shapes.py, which is: \nIt is in line 4, 8." in elsewhere
    assert "nowhere in the file" in here.error("definition", path="shapes.py", line=2, symbol="nonesuch")
    assert "shapes.py has only 8 lines. It is in line 4, 8." in here.error(
        "hover", path="shapes.py", line=99, symbol="area"
    )
    assert "cannot find implementations" in here.error("implementations", path="shapes.py", line=4, symbol="area")
    (here.nvim.project / "notes.txt").write_text("area\n")
    none = here.error("definition", path="notes.txt", line=1, symbol="area")
    assert "No language server runs for notes.txt (filetype text)." in none


AREA = {"path": "shapes.py", "line": 4, "symbol": "area"}


def test_a_name_is_changed_in_both_files_one_of_which_is_not_saved(here: Tools) -> None:
    nvim, project = here.nvim, here.nvim.project
    here.open("main.py")
    nvim.api("buf_set_lines", 0, 0, 0, True, ["# mine"])
    text, is_error = here.answered("allow", "rename", "legacy", **AREA, new_name="surface")
    assert (text, is_error) == ("Rename area to surface: changed main.py (not saved), shapes.py.", False)
    renamed = "# mine\nfrom shapes import surface\n\nTOTAL = surface(3, 4) + surface(5, 6)"
    assert nvim.buffer_text() == renamed
    assert "mine" not in (project / "main.py").read_text()
    assert (project / "shapes.py").read_text() == MODULE.replace("area", "surface")

    review = 'return vim.tbl_map(function(one) return { one.path, one.by } end, require("acp_nvim").review())'
    by_agent = [[str(project / name), "agent"] for name in ("main.py", "shapes.py")]
    nvim.wait_until(lambda: sorted(nvim.lua(review)) == by_agent, what="both files under review")
    assert nvim.lua("return vim.bo.modified") is True

    nvim.command("undo")  # one for the whole file
    assert nvim.buffer_text() == "# mine\nfrom shapes import area\n\nTOTAL = area(3, 4) + area(5, 6)"
    nvim.command("redo")
    assert nvim.buffer_text() == renamed


def test_one_undo_takes_it_back_in_a_file_that_was_not_open(here: Tools) -> None:
    nvim, project = here.nvim, here.nvim.project
    here.open("main.py")
    is_open = "return vim.fn.bufloaded(...) == 1"
    assert nvim.lua(is_open, str(project / "shapes.py")) is False
    here.answered("allow", "rename", path="main.py", line=1, symbol="area", new_name="surface")
    renamed = MODULE.replace("area", "surface")
    assert (project / "shapes.py").read_text() == renamed
    for name, before, after in (("shapes.py", MODULE, renamed), ("main.py", USER, USER.replace("area", "surface"))):
        here.open(name)
        assert nvim.buffer_text() + "\n" == after
        nvim.command("undo")
        assert nvim.buffer_text() + "\n" == before
        assert "Already at oldest change" in nvim.command("undo")


HUNKS = 'return #require("acp_nvim.review.files").hunks(vim.api.nvim_get_current_buf())'


def reject(here: Tools, name: str, line: int, hunks: int) -> None:
    """Reject the hunk in that line of a file that has so many, as a user does."""
    here.open(name)
    here.nvim.wait_until(lambda: here.nvim.lua(HUNKS) == hunks, what=f"{hunks} hunks in {name}")
    here.nvim.command(f"{line}AcpReview reject")
    here.nvim.wait_until(lambda: here.nvim.lua(HUNKS) == hunks - 1, what=f"one hunk less in {name}")


def test_a_renaming_is_rejected_hunk_by_hunk_in_both_files(here: Tools) -> None:
    nvim, project = here.nvim, here.nvim.project
    here.open("main.py")
    here.answered("allow", "rename", **AREA, new_name="surface")
    reject(here, "main.py", 1, 2)
    assert nvim.buffer_text() == "from shapes import area\n\nTOTAL = surface(3, 4) + surface(5, 6)"
    reject(here, "main.py", 3, 1)
    assert (project / "main.py").read_text() == USER
    reject(here, "shapes.py", 4, 2)
    assert nvim.buffer_text() == MODULE.replace("print(area", "print(surface").removesuffix("\n")
    reject(here, "shapes.py", 8, 1)
    assert (project / "shapes.py").read_text() == MODULE


def test_nothing_is_renamed_that_is_not_allowed(unchanged: Tools) -> None:
    here, asked = unchanged, len(unchanged.nvim.events("AcpPermissionRequest"))
    text, is_error = here.answered("reject", "rename", **AREA, new_name="x")
    assert is_error
    assert text == "Rename area to x: nothing was changed, the user did not allow it."
    assert (here.nvim.project / "shapes.py").read_text() == MODULE
    request = here.nvim.events("AcpPermissionRequest")[asked]["request"]
    assert (request["kind"], request["title"]) == ("edit", "Rename area to x")
    assert [Path(one["path"]).name for one in request["locations"]] == ["main.py", "shapes.py"]


def test_rules_decide_about_edits(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    rules = [
        {"kind": "edit", "path": "**/shapes.py", "action": "allow"},
        {"kind": "edit", "path": "**/main.py", "action": "reject"},
    ]
    here = tools(editor, tmp_path, ["ruff"], permissions={"rules": rules})
    (here.nvim.project / "shapes.py").write_text("import os\nimport sys\nprint( sys.path )\n")
    assert here.call("format", path="shapes.py") == "Format shapes.py: changed shapes.py."
    assert (here.nvim.project / "shapes.py").read_text() == "import os\nimport sys\n\nprint(sys.path)\n"
    (here.nvim.project / "main.py").write_text("print( 1 )\n")
    assert "the user did not allow it" in here.error("format", path="main.py")


def test_diagnostics_are_of_the_text_that_is_not_saved(ruff: Tools) -> None:
    here, nvim = ruff, ruff.nvim
    unused = "shapes.py:1:8: warning: `os` imported but unused help: Remove unused import: `os` [F401] (Ruff)"
    assert unused in here.call("diagnostics", path="shapes.py", wait_ms=20000)
    assert here.call("diagnostics", path="shapes.py", severity="error") == "No diagnostics."
    here.open("shapes.py")
    nvim.api("buf_set_lines", 0, 4, 5, True, ["    return width * depth"])
    after = here.call("diagnostics", path="shapes.py", severity="error", wait_ms=20000)
    assert after == "shapes.py:5:20: error: Undefined name `depth` [F821] (Ruff)"
    assert (nvim.project / "shapes.py").read_text() == MODULE
    assert "Undefined name `depth`" in here.call("diagnostics", wait_ms=20000)


def test_what_a_turn_broke_is_told_apart(ruff: Tools) -> None:
    here, nvim = ruff, ruff.nvim
    here.open("shapes.py")
    before = here.call("diagnostics", path="shapes.py", wait_ms=20000)
    assert "new" not in before
    nvim.command("AcpPrompt write main.py")
    nvim.wait_until(lambda: "broken" in (nvim.project / "main.py").read_text(), what="the agent's edit")
    nvim.wait_until(
        lambda: [one["call"]["status"] for one in nvim.events("AcpToolCall")][-1:] == ["completed"], what="its end"
    )
    new = here.call("diagnostics", since_turn=True, wait_ms=20000)
    words = "main.py:2:12: error: Undefined name `missing` [F821] (Ruff) - new, or from before the file was open"
    assert words in new
    assert "shapes.py" not in new
    (nvim.project / "go on").touch()


def test_an_action_is_listed_and_done(ruff: Tools) -> None:
    here = ruff
    listed = here.call("code_action", path="shapes.py", line=1).splitlines()
    assert any("Remove unused import: `os`" in one for one in listed)
    none = here.error("code_action", path="shapes.py", line=1, title="nonesuch")
    assert none.splitlines()[0] == "No action has such a title. There are:"
    text, is_error = here.answered("allow", "code_action", path="shapes.py", line=1, title="Remove unused import")
    assert not is_error, text
    assert (here.nvim.project / "shapes.py").read_text() == MODULE.removeprefix("import os\n")


def test_a_file_that_changed_meanwhile_is_left_alone(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    here = tools(editor, tmp_path)
    nvim = here.nvim
    nvim.lua(
        CONNECT
        + """
        local cmd = connect({ documentFormattingProvider = true }, function(_, _, reply)
          vim.api.nvim_buf_set_lines(0, 0, 0, true, { "# typed meanwhile" })
          local range = { start = { line = 0, character = 0 }, ["end"] = { line = 1, character = 0 } }
          reply(nil, { { range = range, newText = "" } })
        end)
        vim.lsp.config("slow", { filetypes = { "python" }, cmd = cmd })
        vim.lsp.enable("slow")
        """
    )
    here.open("main.py")
    nvim.wait_until('#vim.lsp.get_clients({ bufnr = 0, name = "slow" }) == 1')
    assert here.error("format", path="main.py") == "main.py was changed meanwhile. Nothing was done; try again."
    assert nvim.buffer_text().startswith("# typed meanwhile\nfrom shapes import area")
    assert nvim.events("AcpPermissionRequest") == []

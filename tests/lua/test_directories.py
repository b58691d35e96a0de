"""Directories: which session a window gets, where a new one works, what a mention may be relative to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lua.test_winbar import status

SENT = "local s = require('acp_nvim.host.sessions').get(...) require('acp_nvim.prompt.buffer').send(s)"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another directory with a file `b.py`, in a directory of its own."""
    directory = tmp_path / "other"
    (directory / "sub").mkdir(parents=True)
    (directory / "b.py").write_text("other\n")
    return directory


def shown(editor) -> int:
    """The session that `:AcpChat` shows in a code window of the current tab page."""
    editor.command("wincmd t")
    editor.command("AcpChat")
    return int(editor.lua("return vim.b.acp_nvim_session"))


def send(editor, key: int, text: str) -> list[str]:
    """Sends a prompt; the names of what is attached."""
    before = len(editor.sent("prompt"))
    editor.api("buf_set_lines", editor.session(key, "prompt_bufnr"), 0, -1, True, text.split("\n"))
    editor.lua(SENT, key)
    editor.wait_until(lambda: len(editor.sent("prompt")) > before, what="the prompt")
    return [one["name"] for one in editor.sent("prompt")[-1]["context"]]


def test_a_tab_page_gets_the_session_of_its_directory(editor, other):
    first = editor.chat()
    editor.command("tabnew")
    editor.command(f"tcd {other}")
    second = editor.chat()
    editor.apply(status(first, "idle"), status(second, "idle"))
    assert shown(editor) == second
    editor.command("tabfirst")
    assert shown(editor) == first
    editor.command("tablast")
    assert shown(editor) == second
    editor.command(f"tcd {other / 'sub'}")  # the nearest directory around it
    assert shown(editor) == second
    editor.command("wincmd t")
    editor.command("AcpCancel")
    assert editor.sent("cancel")[-1]["session"] == second
    assert len(editor.sent("open")) == 2


def test_where_none_fits_it_is_the_last_one_which_says_where_it_works(editor, other):
    first = editor.chat()
    second = editor.chat()
    editor.apply(status(first, "idle"), status(second, "idle"))
    editor.command("tabnew")
    editor.command(f"tcd {other}")
    assert shown(editor) == second
    assert f"this session works in {editor.project} (:AcpChat! starts one in {other})" in editor.message()
    count = len(editor.messages())
    assert shown(editor) == second
    assert len(editor.messages()) == count  # the message was shown before


def test_a_session_in_a_worktree_belongs_to_its_project(editor, other):
    plain = editor.chat()
    isolated = editor.chat()
    editor.apply(status(plain, "idle"), status(isolated, "idle", worktree=str(other), cwd=str(other)))
    assert editor.session(isolated, "cwd") == str(other)
    assert shown(editor) == isolated


NEAR = """
local places, place = ...
local sessions = require("acp_nvim.host.sessions")
for _, one in ipairs(sessions.all()) do sessions.remove(one) end
for key, cwd in ipairs(places) do sessions.add(key, "demo", cwd) end
local found = sessions.usable("demo", place)
return found and found.key or vim.NIL
"""
PATHS = st.lists(st.sampled_from("ab"), max_size=3).map(lambda parts: "/" + "/".join(parts))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(places=st.lists(PATHS, min_size=1, max_size=5), place=PATHS)
def test_of_any_directories_the_nearest_one_counts(editor, places, place):
    def around(path: str) -> bool:
        return Path(place).is_relative_to(path)

    def near(key: int) -> tuple[int, int]:
        path = places[key - 1]
        rank = len(path) + 1 if around(path) else int(Path(path).is_relative_to(place))
        return rank, key  # the later one was used last

    assert editor.lua(NEAR, places, place) == max(range(1, len(places) + 1), key=near)


class TestRoot:
    """The option `root` decides where sessions begin."""

    def begin(self, editor, value: str) -> str:
        """The directory of a session that begins with that option."""
        editor.lua(f'require("acp_nvim").setup({{ root = {value} }})')
        editor.command("wincmd t")
        editor.chat()
        return str(editor.sent("open")[-1]["cwd"])

    def test_it_is_the_working_directory_without_it(self, editor, other):
        (other / ".git").mkdir()
        editor.command(f"edit {other / 'b.py'}")
        assert self.begin(editor, "nil") == self.begin(editor, "'cwd'") == str(editor.project)

    def test_git_is_the_top_of_the_files_repository(self, editor, other):
        (other / ".git").mkdir()
        (other / "sub" / "c.py").write_text("")
        editor.command("set autochdir")
        editor.command(f"edit {other / 'sub' / 'c.py'}")
        assert self.begin(editor, "'git'") == str(other)
        assert shown(editor) == int(editor.lua("return vim.b.acp_nvim_session"))
        assert len(editor.sent("open")) == 1

    def test_git_without_a_repository_is_the_working_directory(self, editor, other):
        editor.command(f"edit {other / 'b.py'}")
        assert self.begin(editor, "'git'") == str(editor.project)

    def test_a_function_gets_the_buffer_of_the_code(self, editor, other):
        editor.command(f"edit {other / 'b.py'}")
        choose = "function(bufnr) return vim.fs.dirname(vim.api.nvim_buf_get_name(bufnr)) .. '/' end"
        assert self.begin(editor, choose) == str(other)
        assert editor.messages() == []
        editor.focus(editor.session(1, "prompt_bufnr"))
        editor.command("AcpChat! demo")  # from a prompt, too, it is about the code
        assert editor.sent("open")[-1]["cwd"] == str(other)

    @pytest.mark.parametrize(
        ("choose", "words"),
        [
            ("function() error('no idea') end", "your function for `root` failed: "),
            ("function() error() end", "your function for `root` failed: nil"),
            ("function() end", "your function for `root` has to return a directory, not nil"),
            ("function() return { 1 } end", "your function for `root` has to return a directory, not { 1 }"),
            ("function() return '' end", "your function for `root` has to return a directory"),
            (
                "function() return '/no/such' end",
                "your function for `root` has returned /no/such, which is no directory",
            ),
        ],
    )
    def test_a_function_that_fails_is_said_plainly_and_does_not_stop_anything(self, editor, choose, words):
        assert self.begin(editor, choose) == str(editor.project)
        assert words in editor.message()
        assert "is used instead" in editor.message()

    @pytest.mark.parametrize("value", ["'gti'", "3", "{}"])
    def test_anything_else_is_refused(self, editor, value):
        assert self.begin(editor, value) == str(editor.project)
        assert "root: must be" in editor.message()


def test_a_mention_is_found_from_the_directory_of_the_window(editor, other):
    key = editor.chat()
    editor.apply(status(key, "idle"))
    editor.command(f"tcd {other}")
    [name] = send(editor, key, "look at @b.py, please")
    assert name == str(other / "b.py")
    (editor.project / "b.py").write_text("here\n")  # what the session has comes first
    assert send(editor, key, "look at @b.py") == ["b.py"]


def test_a_mention_names_a_loaded_buffer(editor, other):
    key = editor.chat()
    editor.apply(status(key, "idle"))
    editor.command("wincmd t")
    editor.command(f"edit {other / 'b.py'}")
    editor.focus(editor.session(key, "prompt_bufnr"))
    assert send(editor, key, "@b.py:1") == [f"{other / 'b.py'}:1-1"]
    assert send(editor, key, "@other/b.py") == [str(other / "b.py")]
    assert send(editor, key, "@her/b.py") == []


@pytest.mark.parametrize(
    "text",
    ["@none.py", "@src/none.lua:3-5", '@"no ne.py"', "@./none", "@~/none/x", "@selection", "@buffer:999", "(@none.py)"],
)
def test_what_looks_like_a_mention_and_names_nothing_is_reported(editor, text):
    key = editor.chat()
    assert send(editor, key, f"see {text}") == []
    assert f"{text.strip('()')}: sent as plain text, nothing of that name is here" in editor.message()


def test_what_completion_has_offered_is_reported_when_it_is_gone(editor):
    (editor.project / "Procfile").write_text("x\n")
    key = editor.chat()
    assert send(editor, key, "see @Procfila") == []
    editor.lua("require('acp_nvim.host.sessions').get(...).offered = { ['@Procfile'] = true }", key)
    (editor.project / "Procfile").unlink()
    assert send(editor, key, "see @Procfile") == []
    assert "@Procfile: sent as plain text" in editor.message()
    assert len(editor.messages()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "@dataclass", "@app.route('/x')", "@pytest.fixture", "@x.setter", "me@none.py", "@types/node", "ask @somebody.",
        "import x from '@/components/none.vue'", '@property.py(1)', "`@none.py`", "@Override",
    ],
)  # fmt: skip
def test_what_is_no_mention_is_not_reported(editor, text):
    key = editor.chat()
    assert send(editor, key, text) == []
    editor.lua("vim.schedule(function() _G.later = true end)")
    editor.wait_until("_G.later")
    assert editor.messages() == []


def test_an_attachment_from_elsewhere_is_pointed_out_once(editor, other):
    key = editor.chat()
    editor.apply(status(key, "idle"))
    (editor.project / "a.py").write_text("")
    send(editor, key, "@a.py")
    assert editor.messages() == []
    send(editor, key, f"@{other / 'b.py'}")
    words = f"{other / 'b.py'} is outside of {editor.project}, where this session works"
    assert words in editor.message()
    count = len(editor.messages())
    send(editor, key, f"@{other / 'b.py'} @diff")
    assert [one for one in editor.messages()[count:] if "outside" in one] == []


def test_what_lies_in_further_directories_of_the_session_is_not_elsewhere(editor, other):
    editor.lua('require("acp_nvim").setup({ additional_directories = { ... } })', str(other))
    key = editor.chat()
    send(editor, key, f"@{other / 'b.py'}")
    assert editor.messages() == []

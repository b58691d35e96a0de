"""Keys that are typed behind one that moves the focus reach no text of the user's; those of who has seen it do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.keys import WINDOWS, Keys, play_keys

SEQUENCES = 60  # `make soak` plays more, and longer ones
STEPS = 2
PLACES = [(window, key) for window, keys in WINDOWS.items() for key in keys]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keys]:
    keys = Keys(tmp_path_factory.mktemp("keys"))
    yield keys
    keys.close()


def begin(keys: Keys, window: str, *, loaded: bool, code: bool, long: bool = False) -> None:
    """The window is there, and the user in it."""
    keys.begin(loaded=[True, loaded, loaded], modified=[True, False, True], code=code, chat=window == "chat")
    if window == "list":
        keys.writes(1)
    else:
        keys.asks([1, 2], new=not loaded, long=long)
    keys.type_calmly("")
    if window == "preview" and not keys.go(window):
        assert keys.go("float")
        keys.type_calmly("p")
        keys.type_calmly("")
    assert keys.go(window)


@pytest.mark.timeout(300)
def test_no_sequence_of_keys_reaches_a_text(tmp_path: Path) -> None:
    assert play_keys(tmp_path, range(SEQUENCES), STEPS) == SEQUENCES


@pytest.mark.parametrize("code", [True, False], ids=["code", "no code"])
@pytest.mark.parametrize("loaded", [True, False], ids=["loaded", "not loaded"])
@pytest.mark.parametrize(("window", "key"), PLACES)
def test_what_follows_a_key_at_once_reaches_no_text(
    stage: Keys, window: str, key: str, loaded: bool, code: bool
) -> None:
    begin(stage, window, loaded=loaded, code=code)
    stage.type_ahead(key + "ghkghr" + ("" if window == "preview" else key + "xoa"))
    stage.check()
    stage.edit(1)
    stage.end()


@pytest.mark.parametrize("behind", ["a", "q", "x", "r", "dd"])
def test_a_reader_that_closes_takes_what_was_typed_for_it(stage: Keys, behind: str) -> None:
    begin(stage, "float", loaded=True, code=True, long=True)
    stage.type_calmly("a")  # the key opens the reader
    reader = stage.nvim.lua("return vim.api.nvim_win_get_config(0).zindex")
    assert reader == 46
    stage.type_ahead("q" + behind)
    stage.check()
    stage.end()


@pytest.mark.parametrize("loaded", [True, False], ids=["loaded", "not loaded"])
@pytest.mark.parametrize("window", ["chat", "list"])
def test_the_keys_of_a_file_are_mapped_when_the_focus_is_there(stage: Keys, window: str, loaded: bool) -> None:
    begin(stage, window, loaded=loaded, code=True)
    key = {"chat": "p", "list": "<CR>"}[window]
    mapped = stage.nvim.lua(
        """
        vim.api.nvim_feedkeys(vim.keycode(...), "xt", false) -- nothing that the host sends can arrive meanwhile
        return { vim.fn.fnamemodify(vim.fn.bufname(), ":t"), vim.fn.maparg("ghk", "n", false, true).desc }
        """,
        key,
    )
    action = {"chat": "acp: preview allow", "list": "acp: review keep"}[window]
    assert mapped == ["file1.txt", action]
    stage.end()


@pytest.mark.parametrize(("window", "key"), [("list", "q"), ("float", "q"), ("float", "r"), ("chat", "q")])
def test_keys_of_who_has_seen_the_change_work(stage: Keys, window: str, key: str) -> None:
    begin(stage, window, loaded=True, code=True)
    before = stage.nvim.api("get_current_buf")
    stage.type_ahead(key)
    stage.nvim.wait_until(lambda: stage.nvim.api("get_current_buf") != before, what="the focus to leave")
    stage.nvim.keys("ggOseen<Esc>")
    assert stage.nvim.api("get_current_line") == "seen"
    number = [path.name for path in stage.paths].index(stage.nvim.lua('return vim.fn.expand("%:t")'))
    stage.user[number].insert(0, "seen")
    stage.check()
    stage.end()


def test_a_held_key_is_dropped_after_the_window_has_closed(stage: Keys) -> None:
    begin(stage, "list", loaded=True, code=True)
    stage.nvim.lua('require("acp_nvim.limits").seen_ms = 60000')
    stage.nvim.keys("q")
    stage.nvim.keys("q")  # Neovim has drawn the screen in between
    assert stage.nvim.lua("return vim.fn.reg_recording()") == ""
    stage.nvim.lua('require("acp_nvim.limits").seen_ms = 15')
    mapped = "vim.fn.maparg('q', 'n', false, true).desc == 'acp_nvim: typed ahead'"
    assert stage.nvim.lua(f"return {mapped}")
    stage.nvim.lua("vim.api.nvim_buf_del_keymap(0, 'n', 'q')")  # what happens after a minute
    stage.end()

"""Those who do not use the plugin pay nothing: no process, no module, until the first command."""

from __future__ import annotations

from collections.abc import Callable

from tests.support.editor import HeadlessEditor


def test_loading_starts_nothing(editor: Callable[..., HeadlessEditor]) -> None:
    nvim = editor(agents={"some": {"command": ["some-agent"]}})
    assert nvim.lua("return vim.fn.exists(':AcpChat')") == 2
    assert nvim.children() == []
    loaded = nvim.lua(
        'return vim.tbl_filter(function(n) return n:match("^acp_nvim") end, vim.tbl_keys(package.loaded))'
    )
    assert loaded == []


def test_asking_for_the_status_starts_nothing(editor: Callable[..., HeadlessEditor]) -> None:
    nvim = editor(agents={})
    status = nvim.lua('return require("acp_nvim").status()')
    assert status == {"state": "stopped", "pending_permissions": 0, "queue": 0, "unread": 0, "subagents": []}
    assert nvim.children() == []


def test_no_key_is_mapped_outside_of_our_buffers(editor: Callable[..., HeadlessEditor]) -> None:
    nvim = editor(agents={})
    maps = nvim.lua(
        """
        local found = {}
        for _, mode in ipairs({ "n", "x", "i", "o", "c", "t" }) do
          for _, map in ipairs(vim.api.nvim_get_keymap(mode)) do
            table.insert(found, { lhs = map.lhs, rhs = map.rhs or "" })
          end
        end
        return found
        """
    )
    ours = [one["lhs"] for one in maps if "Acp" in one["rhs"]]
    assert ours
    assert all(lhs.startswith("<Plug>(Acp") for lhs in ours)


def test_the_first_command_loads_nothing_of_neovim_that_it_can_do_without(
    editor: Callable[..., HeadlessEditor],
) -> None:
    """Each of these modules takes as long as three of ours, before the prompt can be seen."""
    nvim = editor(agents={"some": {"command": ["some-agent"]}})
    loaded = nvim.lua(
        """
        local rare = { "editorconfig", "vim.iter", "vim.lsp", "vim.treesitter" }
        rare = vim.tbl_filter(function(name) return package.loaded[name] == nil end, rare)
        vim.cmd("AcpChat some")
        return { rare, vim.tbl_filter(function(name) return package.loaded[name] ~= nil end, rare) }
        """
    )
    assert "editorconfig" in loaded[0]
    assert loaded[1] == []

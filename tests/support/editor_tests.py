"""Which tests CI runs again with another version of Neovim: those that it may break, as many as fit into 6 minutes."""

from __future__ import annotations

from typing import Final

EDITOR: Final = (
    "tests/lua/",  # each module, with Neovim's own windows, messages, options and events
    *(
        f"tests/{name}.py"
        for name in (
            # keys, windows and messages of the whole plugin, most of them on a screen
            "nvim/test_conversation",
            "nvim/test_demo",
            "nvim/test_failures",
            "nvim/test_follow",
            "nvim/test_forms",
            "nvim/test_login",
            "nvim/test_permission_float",
            "nvim/test_permission_visibility",
            "nvim/test_preview",
            "nvim/test_screen_harness",
            "nvim/test_start_up",
            "nvim/test_status",
            "nvim/test_terminals",
            # files: what Neovim reads, writes, asks and undoes
            "nvim/test_files_on_disk",
            "nvim/test_review_undo",
            "workspace/test_dialogs",
        )
    ),
)
"""Folders and files. What is left out tests the host, or what these test already with more agents and more files."""


def is_about_the_editor(name: str) -> bool:
    """Whether another version of Neovim may break the tests of a file; `name` is its path from the repository."""
    return name.startswith(EDITOR)

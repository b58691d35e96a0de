"""The question how to sign in."""

from __future__ import annotations

import pytest

PROMPT = """
local need, prompt = ..., nil
vim.ui.select = function(_, opts, choose) prompt = opts.prompt choose(nil) end
require("acp_nvim.login.choice").open(need, function() end)
return prompt
"""


@pytest.mark.parametrize(
    ("account", "prompt"),
    [
        (None, "Sign in to demo:"),
        ("A key\nand more", "Sign in to demo (now: A key):"),
        ("not signed in", "Sign in to demo (now: not signed in):"),
    ],
)
def test_the_account_is_named_on_one_line(editor, account, prompt):
    method = {"id": "a", "name": "A", "kind": "agent", "variables": []}
    need = {
        "agent": "demo",
        "cwd": "/p",
        "methods": [method],
        "asked": True,
        **({"account": account} if account else {}),
    }
    assert editor.lua(PROMPT, need) == prompt

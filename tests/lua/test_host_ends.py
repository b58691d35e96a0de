"""The host ends at once when Neovim goes: as long as it has not, Neovim does not go either."""

from __future__ import annotations

import subprocess
import sys

import pytest

# a thread that waits for work, as Python's own pools have them; Neovim has ended what the host writes its errors to
STUB = """
import os, sys, threading, types
def start_host():
    threading.Thread(target=threading.Event().wait).start()
    os.close(2)
    {end}
sys.modules["pynvim"] = types.SimpleNamespace(start_host=start_host)
"""


@pytest.mark.parametrize(
    ("end", "code"),
    [("return", 0), ("raise EOFError", 0), ("raise OSError", 0), ("raise Exception('Received signal SIGTERM')", 1)],
)
def test_idle_threads_do_not_keep_it(editor, end, code):
    program, *arguments = editor.lua("return vim.list_slice(require('acp_nvim.host.python').argv('python'), 5)")
    command = [sys.executable, "-c", STUB.format(end=end) + program, *arguments]
    ended = subprocess.run(command, timeout=60, check=False)
    assert ended.returncode == code

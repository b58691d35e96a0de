"""The host has one heap, where the C library would give one to each thread."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

HEAP_BYTES = 64 * 1024 * 1024
"""Where glibc places a further heap: at a multiple of that, and the rest up to the next one is reserved."""
AGENT = """
    def turn(agent, prompt):
        pass
"""


def further_heaps(pid: int) -> list[str]:
    """The address ranges of a process that look like that."""
    maps = re.findall(r"^(\w+)-(\w+) (\S+) \S+ 00:00 0 *$", Path(f"/proc/{pid}/maps").read_text(), re.MULTILINE)
    reserved = {start for start, _, access in maps if access == "---p"}
    return [
        f"{start}-{end}"
        for start, end, access in maps
        if access == "rw-p" and int(start, 16) % HEAP_BYTES == 0 and end in reserved
    ]


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_the_threads_of_the_host_share_its_heap(tmp_path: Path) -> None:
    nvim = HeadlessEditor(tmp_path, agents={"it": {"command": agent_script(tmp_path, AGENT).argv}})
    try:
        nvim.lua(
            'vim.api.nvim_create_autocmd("User", { pattern = "AcpTurnEnd", callback = function() _G.ended = true end })'
        )
        nvim.lua('require("acp_nvim").prompt("hi")')
        nvim.wait_until("_G.ended", what="the end of the turn")
        host = nvim.host()
        assert host is not None
        assert further_heaps(host.pid) == []
    finally:
        nvim.close()

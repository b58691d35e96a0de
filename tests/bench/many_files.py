"""How the editor feels while a command of an agent changes thousands of files, and all of that is rejected at once."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from tests.bench import snapshots
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping, Report

FILES = 3000
LIMIT = 300.0
CHANGER = """
    def turn(agent, prompt):
        call = {"toolCallId": "c", "kind": "execute", "title": "make", "rawInput": {"command": "make"}}
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call", "status": "in_progress", **call})
        for number in range(FILES):
            with open(f"part{number % 30}/file{number}.py", "a") as file:
                file.write("changed\\n")
        agent.update(prompt.session_id, {"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed"})
"""
STARTED = """
_G.bench_ended, _G.bench_known, _G.bench_judged = false, false, nil
vim.api.nvim_create_autocmd("User", { pattern = "AcpTurnEnd", callback = function() _G.bench_ended = true end })
vim.api.nvim_create_autocmd("User", { pattern = "AcpFileChanged", callback = function() _G.bench_known = true end })
local notify = vim.notify
vim.notify = function(text, ...)
  _G.bench_judged = text:match("rejected: (%d+) files") or _G.bench_judged
  return notify(text, ...)
end
"""


@dataclass(frozen=True)
class Rejected:
    """Seconds from the end of the turn until all is rejected; how the editor felt meanwhile."""

    seconds: float
    pings: Report


def run(directory: Path, *, listed: bool) -> Rejected:
    """`listed`: the list of the files is on the screen meanwhile."""
    script = agent_script(directory, CHANGER.replace("FILES", str(FILES)))
    editor = HeadlessEditor(directory, agents={"it": {"command": script.argv}})
    try:
        for number in range(30):
            (editor.project / f"part{number}").mkdir()
        for number in range(FILES):
            (editor.project / f"part{number % 30}" / f"file{number}.py").write_text(f"{number}\nsecond\nthird\n")
        for words in (["init", "-q"], ["add", "-A"]):
            snapshots.git(editor.project, *words)
        snapshots.git(
            editor.project, "-c", "user.name=b", "-c", "user.email=b@example.org", "commit", "-q", "-m", "all"
        )
        editor.command(f"cd {editor.project}")
        editor.command("AcpChat it")
        editor.wait_until('require("acp_nvim").status().state == "idle"', LIMIT)
        editor.lua(STARTED)
        editor.lua('require("acp_nvim").prompt("go")')
        editor.wait_until("_G.bench_ended", LIMIT)
        began = time.perf_counter()
        with Ping(editor.places.socket) as pings:
            if listed:
                editor.wait_until("_G.bench_known", LIMIT)
                editor.command("AcpReview")
                editor.wait_until("vim.bo.filetype == 'acp_review'", LIMIT)
            editor.command("AcpReview rejectall")
            editor.wait_until("_G.bench_judged", LIMIT, "the rejection")
        seconds = time.perf_counter() - began
        assert editor.lua("return _G.bench_judged") == str(FILES)
        changed = subprocess.run(["git", "status", "--short"], cwd=editor.project, stdout=subprocess.PIPE, check=True)
        assert changed.stdout == b""
        return Rejected(seconds, pings.report)
    finally:
        editor.close()

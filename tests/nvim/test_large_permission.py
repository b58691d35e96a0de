"""A permission to change thousands of lines: its beginning is shown, all of it comes on demand, nobody waits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

TURN = """
    import os
    def turn(agent, prompt):
        old = "".join(f"line {n} of the text\\n" for n in range(20000))
        new = old.replace("line ", "LINE ")
        diff = {"type": "diff", "path": os.path.join(os.getcwd(), "big.txt"), "oldText": old, "newText": new}
        prompt.say(str(prompt.ask("c", title="Rewrite it", kind="edit", content=[diff])))
"""

PREVIEWS = "return #require('acp_nvim.review.previews').of_request(...) > 0"


def test_the_beginning_is_shown_and_all_of_it_on_demand(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
    (nvim.project / "big.txt").write_text("".join(f"line {n} of the text\n" for n in range(20000)))
    nvim.command("AcpPrompt go")
    nvim.wait_until(lambda: nvim.events("AcpPermissionRequest"), what="the request")
    [item] = nvim.events("AcpPermissionRequest")[0]["request"]["content"]
    assert len(item["new_text"]) + len(item["old_text"]) < 16 * 1024
    assert item["lines"] > 19_000
    text = nvim.chat_text()
    assert "-line 0 of the text" in text
    assert "more lines" in text
    assert len(text.split("\n")) < 200
    nvim.lua("require('acp_nvim.actions.targets.details').open(require('acp_nvim.host.sessions').get(1), 2)")
    nvim.wait_until("vim.bo.filetype == 'acp_call'", what="the details")
    lines = nvim.lua("return vim.api.nvim_buf_get_lines(0, 0, -1, true)")
    assert sum(line.startswith("+LINE ") for line in lines) == 20_000
    nvim.command("quit")
    request_id = nvim.events("AcpPermissionRequest")[0]["request"]["id"]
    nvim.wait_until(lambda: nvim.lua(PREVIEWS, request_id), what="the preview to be computed")
    nvim.lua("require('acp_nvim.review.previews.view').open(...)", request_id)
    shown = "#require('acp_nvim.review.previews.view').previews(vim.fn.bufnr('big.txt')) > 0"
    nvim.wait_until(shown, what="its preview")

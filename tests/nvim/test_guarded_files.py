"""Files that make programs run: the user sees the question and its reason, although a rule would allow the write."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

RULES = [
    {"command": "git status *", "action": "allow"},
    {"path": "**", "kind": "edit", "action": "allow"},
    {"action": "allow", "kind": "edit"},
]


def test_gits_configuration_is_not_written_unasked_although_it_is_open(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    project, proof = tmp_path / "repository", tmp_path / "ran"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    config = project / ".git" / "config"
    before = config.read_text()
    script = agent_script(
        tmp_path,
        f"""
        def turn(agent, prompt):
            try:
                prompt.write({str(config)!r}, {f"[core]{chr(10)}fsmonitor = touch {proof}{chr(10)}"!r})
            except Error as error:
                prompt.say("<" + error.message + ">")
            prompt.say("<" + prompt.run("git status")["output"] + ">")
        """,
    )
    nvim = editor(agents={"it": {"command": script.argv}}, config={"permissions": {"rules": RULES}})
    nvim.command(f"cd {project}")
    nvim.command(f"edit {config}")
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until('#require("acp_nvim").permissions() > 0')
    assert f"Permission needed  edit  Write {config}" in nvim.chat_text()
    assert "git runs hooks and programs that its directory names" in " ".join(nvim.chat_text().split())
    nvim.keys("<C-w>kr")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "and the user did not allow it>" in nvim.chat_text()
    assert "No commits yet" in nvim.chat_text()
    assert config.read_text() == before
    assert not proof.exists()

"""A project directory is data: opening it and chatting in it runs none of its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.editor import HeadlessEditor

HOSTILE = (
    "pynvim",
    "anyio",
    "msgspec",
    "msgpack",
    "greenlet",
    "acp_nvim",
    "acp_nvim_host",
    "json",
    "logging",
    "asyncio",
)


@pytest.mark.parametrize("variable", [None, "PYTHONPATH"], ids=["plain", "on the path of Python"])
def test_none_of_its_modules_is_run(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, variable: str | None
) -> None:
    project = tmp_path / "hostile"
    project.mkdir()
    proof = tmp_path / "executed"
    # Neovim itself runs a Python when a Python file is opened, which reads these from PYTHONPATH: not ours to prevent
    names = HOSTILE if variable else (*HOSTILE, "sitecustomize", "usercustomize")
    for name in names:
        (project / f"{name}.py").write_text(f"open({str(proof)!r}, 'a').write({name!r} + '\\n')\n")
    (project / "greeting.py").write_text("print('hello')\n")
    nvim = editor(env={"ACP_NVIM_DEMO_SPEED": "0", **({variable: str(project)} if variable else {})})

    nvim.command(f"cd {project}")
    nvim.command("edit greeting.py")
    nvim.command("AcpChat demo")
    nvim.lua('require("acp_nvim").prompt("have a look at greeting.py")')
    for count in (1, 2):
        nvim.wait_until('#require("acp_nvim").permissions() > 0')
        nvim.lua(
            'local p = require("acp_nvim").permissions()[1]; require("acp_nvim").answer(p.id, p.options[1].option_id)'
        )
        nvim.wait_until(lambda count=count: len(nvim.events("AcpPermissionDone")) == count)
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))

    assert not proof.exists(), proof.read_text()
    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "end_turn"

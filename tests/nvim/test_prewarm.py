"""The option `prewarm`: the agent runs before the first command; without the option nothing is loaded for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.screen import ScreenEditor

HOST = 3
"""Processes of the host: itself, its guard, and the one that Neovim has started."""
LATER = "vim.defer_fn(function() _G.is_later = true end, 1500)"


def given(script: AgentScript, **config: Any) -> dict[str, Any]:
    """Return the settings of a Neovim with that agent."""
    return {"agents": {"it": {"command": script.argv}}, "config": config}


def test_the_agent_runs_before_the_first_command_and_serves_it(
    screen: Callable[..., ScreenEditor], tmp_path: Path
) -> None:
    script = agent_script(tmp_path, "")
    nvim = screen(**given(script, prewarm=True))
    script.wait_received("initialize")
    assert script.received("session/new") == []
    nvim.command("AcpChat")
    nvim.lua('require("acp_nvim").prompt("hello")')
    nvim.wait_until(lambda: "You said: hello" in nvim.chat_text(), what="the answer")
    assert len(script.notes("started")) == 1
    assert nvim.messages() == []


@pytest.mark.parametrize("agents", [{}, {"it": {"command": ["no-such-agent"]}}], ids=["none", "missing"])
def test_nothing_is_said_of_an_agent_that_cannot_be_started(
    screen: Callable[..., ScreenEditor], agents: dict[str, Any]
) -> None:
    nvim = screen(agents=agents, config={"prewarm": True}, env={"PATH": "/nonexistent"})
    nvim.lua(LATER)
    nvim.wait_until("_G.is_later")
    assert nvim.messages() == []
    assert (nvim.host() is not None) == bool(agents)


def test_without_a_ui_nothing_is_started(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = editor(**given(script, prewarm=True))
    nvim.lua(LATER)
    nvim.wait_until("_G.is_later")
    assert nvim.children() == []
    assert script.traffic() == []


@pytest.mark.parametrize("value", [False, None])
def test_without_the_option_nothing_is_loaded_or_started(
    screen: Callable[..., ScreenEditor], tmp_path: Path, value: bool | None
) -> None:
    script = agent_script(tmp_path, "")
    nvim = screen(**given(script, **({} if value is None else {"prewarm": value})))
    nvim.lua(LATER)
    nvim.wait_until("_G.is_later")
    assert nvim.host() is None
    assert nvim.lua('return package.loaded["acp_nvim.prewarm"] == nil')


def test_setup_has_the_option_too_also_later(screen: Callable[..., ScreenEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = screen(**given(script))
    nvim.lua('require("acp_nvim").setup({ prewarm = true })')
    nvim.lua('require("acp_nvim").setup({ prewarm = true })')
    script.wait_received("initialize")
    assert len(script.notes("started")) == 1


def test_a_chat_that_was_opened_before_makes_it_unnecessary(
    screen: Callable[..., ScreenEditor], tmp_path: Path
) -> None:
    script = agent_script(tmp_path, "")
    nvim = screen(**given(script, prewarm=True))
    nvim.command("AcpChat")
    nvim.lua(LATER)
    nvim.wait_until("_G.is_later")
    nvim.command("AcpStop")
    nvim.wait_until('require("acp_nvim").status().state == "stopped"')
    nvim.wait_until(lambda: len(nvim.children()) <= HOST, what="the end of the agent")
    assert len(script.notes("started")) == 1

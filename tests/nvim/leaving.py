"""Neovims that are killed at some moment after the first prompt, one after the other: none leaves a process."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.processes import wait_gone
from tests.support.waiting import LIMIT

SCRIPTS = {
    "polite": """
        def turn(agent, prompt):
            agent.spawn(["sleep", "1000"], setsid=True)
            for number in range(1000):
                prompt.say(f"{number} ")
                prompt.pause(0.01)
    """,
    "stubborn": """
        IGNORE_EOF = IGNORE_SIGTERM = True

        def turn(agent, prompt):
            agent.spawn(STUBBORN)
            agent.spawn(STUBBORN, setsid=True)
            prompt.say("both are running")
            return NO_ANSWER
    """,
    "slow to start": "def initialize(agent, request): return NO_ANSWER",
}

MOMENTS = ("at once", "when the host is there", "when the agent is there", "when it speaks")


def rounds(directory: Path, count: int, told: Callable[[str], None], seconds: float = LIMIT) -> None:
    """Kill so many Neovims, with random agents and moments; raise `AssertionError` if a process stays for longer."""
    chance = random.Random("killing Neovim")
    for number in range(count):
        kind, moment = chance.choice(sorted(SCRIPTS)), chance.choice(MOMENTS)
        if kind == "slow to start" and moment == "when it speaks":
            moment = "when the agent is there"
        told(f"{number}: {kind}, {moment}")
        one_round(directory / str(number), kind, moment, seconds)


def one_round(directory: Path, kind: str, moment: str, seconds: float) -> None:
    """Start Neovim, send a prompt, kill it at the moment, and look for processes."""
    directory.mkdir()
    script = agent_script(directory, SCRIPTS[kind])
    nvim = HeadlessEditor(directory, agents={"it": {"command": script.argv}})
    try:
        nvim.lua('require("acp_nvim").prompt("go")')
        wait_for(nvim, script, moment)
        os.kill(nvim.pid, signal.SIGKILL)
        wait_gone(nvim.family, seconds, f"all that was started to end: {kind}, {moment}")
    finally:
        nvim.close()


def wait_for(nvim: HeadlessEditor, script: AgentScript, moment: str) -> None:
    """Wait for the moment."""
    if moment == "when the host is there":
        nvim.wait_until(nvim.host, what="the host")
    elif moment == "when the agent is there":
        nvim.wait_until(lambda: script.notes("started"), what="the agent")
    elif moment == "when it speaks":
        nvim.wait_until(lambda: script.sent("session/update"), what="the agent to speak")

"""The table agent x step, as the run has it."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

from tests.interop.agent_file import AgentFile
from tests.interop.offers import Offers
from tests.interop.steps import STEPS, Step
from tests.support.places import ROOT

PAGE = ROOT / "doc/interop.md"
HEAD = """# Agents that were tried

Written by `make interop`: each agent is brought from its registry, started by a headless Neovim, and asked to do what a
script says; the model is a server on loopback that plays the script. Nothing of a step is taken for granted: the chat,
the files and what went over the wire are looked at. `doc/development/testing.md` says more.
"""


class Results:
    """The results of all steps."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, str]] = {}
        self._agents: dict[str, AgentFile] = {}
        self._versions: dict[str, str] = {}

    def add(self, agent: AgentFile, step: Step, words: str) -> None:
        """Note the result of a step."""
        self._agents[agent.name] = agent
        self._cells.setdefault(agent.name, {})[step.name] = words

    def about(self, agent: AgentFile, offers: Offers) -> None:
        """Notes what the agent says of itself."""
        self._versions[agent.name] = offers.version

    @property
    def whole(self) -> bool:
        """Whether there are agents, and each of them was asked for every step."""
        return bool(self._cells) and all(len(cells) == len(STEPS) for cells in self._cells.values())

    def text(self) -> str:
        """Return the page."""
        return (
            "\n".join([HEAD, f"Last run: {date.today().isoformat()}.", "", *self._table(), "", *self._notes()]) + "\n"
        )

    def _table(self) -> list[str]:
        rows = [["agent", "package", *(step.name for step in STEPS[1:])]]
        for name, cells in self._cells.items():
            agent = self._agents[name]
            package = f"`{agent.package}` {agent.version}" + (f" + {' + '.join(agent.also)}" if agent.also else "")
            rows.append([agent.title, package, *(cells.get(step.name, "") for step in STEPS[1:])])
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return [lines[0], "|" + "---|" * len(rows[0]), *lines[1:]]

    def _notes(self) -> list[str]:
        lines = ["## What is special about them", ""]
        for name, agent in self._agents.items():
            told = json.dumps(self._versions.get(name) or "nothing")
            notes = "; ".join(agent.notes) or "nothing"
            lines.append(f"- **{agent.title}** (`{name}`, it calls itself {told}): {notes}.")
        return lines


def write(results: Results, path: Path = PAGE) -> None:
    """Puts the page where it belongs."""
    path.write_text(results.text(), encoding="utf-8")

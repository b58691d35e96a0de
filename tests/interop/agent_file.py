"""The agents that are tried: one TOML file each in `agents/`, which says how it is installed, started and set up."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

FOLDER = Path(__file__).with_name("agents")
NAMES = "AGENTS"
"""The environment variable that chooses some of them: names with blanks between."""


class AgentFile(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """One agent.

    `from_` is npm, pypi, pypi-source (with the files of its source) or here (an agent of tests/peers); `python` is the
    oldest that it runs with; `needs_scripts` says that npm has to run scripts to install it. In `command`, `env` and
    `files` (by path below its home) stand `@port@` of the model server, `@home@`, `@installed@` (a directory),
    `@node@`, `@bin@` (an npm package's program) and `@root@`. With `listens` it is not started by Neovim, which reaches
    it at the TCP port `@listens@`. `offers` names the steps beyond the first ones that it is
    known to offer; `sign_in` a method that works without an account, `choose` the mode and the model to change to.
    `answers` is what an example says, by scene (or `prompts`, by scene, where it wants other words), with `|` between
    texts; `reads_buffers` says that it reads through the editor, `edits_disk` that its edits find what is on disk only,
    though it reads through the editor, `forgets` that its sessions end with it, `background` that it goes on when a
    command ends after its turn, `asks_in` is a mode in which it asks before it changes a file, where it does not at
    first, `records` are the directories and files in a project in which it keeps its own records, `settings` what a
    user adds to its entry in `agents`. `whole_answers` says that it sends an answer when all of it is there,
    `next_minute` that a session cannot be loaded in the minute in which it began, `loads_once` that one process cannot
    load it twice. `broken` are steps that it says it offers and cannot do, with the reason: who can do them after all
    fails. `no_tools` says why its model cannot call the editor's tools. `notes` are deviations.
    """

    name: str = ""
    title: str
    kind: str = "agent"
    from_: str = msgspec.field(name="from")
    package: str
    version: str
    also: list[str] = []
    python: str | None = None
    needs_scripts: bool = False
    command: list[str]
    env: dict[str, str] = {}
    files: dict[str, str] = {}
    protocol: int = 1
    offers: list[str] = []
    answers: dict[str, str] = {}
    prompts: dict[str, str] = {}
    choose: dict[str, str] = {}
    reads_buffers: bool = False
    edits_disk: bool = False
    forgets: bool = False
    background: bool = False
    asks_in: str | None = None
    listens: bool = False
    records: list[str] = []
    settings: dict[str, Any] = {}
    whole_answers: bool = False
    next_minute: bool = False
    loads_once: bool = False
    broken: dict[str, str] = {}
    no_tools: str = ""
    sign_in: str | None = None
    notes: list[str] = []

    @property
    def is_example(self) -> bool:
        """Whether it is an example agent, which asks no model."""
        return self.kind != "agent"


def agents() -> list[AgentFile]:
    """Return the agents that are asked for, by name; the examples come last."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        agent = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), AgentFile)
        agent.name = path.stem
        found.append(agent)
    wanted = os.environ.get(NAMES, "").split()
    unknown = set(wanted) - {agent.name for agent in found}
    if unknown:
        raise SystemExit(f"no agents of these names: {', '.join(sorted(unknown))} (see {FOLDER})")
    chosen = [agent for agent in found if not wanted or agent.name in wanted]
    return sorted(chosen, key=lambda agent: agent.is_example)


def filled(value: Any, places: Mapping[str, str]) -> Any:
    """A value with each `@name@` replaced, in lists and tables too."""
    if isinstance(value, dict):
        return {filled(key, places): filled(one, places) for key, one in value.items()}
    if isinstance(value, list):
        return [filled(one, places) for one in value]
    for name, text in places.items():
        value = value.replace(f"@{name}@", text)
    return value

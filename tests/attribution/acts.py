"""The steps: what the agent, the user and git do, and what must be known of it later."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

from tests.attribution.files import Files, Tree, tokens
from tests.attribution.stage import Stage, now, wait_past

BEFORE_NS, AFTER_NS = 300_000_000, 150_000_000
"""Time between what the user does with programs that nobody watches and a command of the agent: the clock tells them
apart then. They are more than the slack of `acp_nvim/limits.py`."""


class Acts:
    """Carries out steps; each method returns what was done, for a report, or None if it cannot be done now."""

    def __init__(self, stage: Stage, files: Files) -> None:
        self.stage = stage
        self.files = files
        self.in_turn = False
        self.command = False
        """A command of the agent runs, and goes on."""
        self.unwatched_tokens: set[bytes] = set()
        """What nobody saw the user make while the agent worked: nobody can tell it from what the agent made before."""

    # What the agent does

    def agent_fs(self, name: str, rng: random.Random, number: int) -> str | None:
        self._turn()
        path = self.stage.where / name
        before = self.stage.trees()
        text = self.stage.agent.tell("read", path=str(path)) if path.exists() else ""
        self.stage.agent.tell("write", path=str(path), content=_edited(text, rng, self._mark(number)))
        self._changed(name, "fs", before)
        return f"the agent writes {name} through the client"

    def agent_tool(self, name: str, rng: random.Random, number: int, is_background: bool = False) -> str | None:
        if not is_background:
            self._turn()
        path = str(self.stage.where / name)
        self._start_tool("edit", f"Edit {name}", [path])
        words = self._work(name, rng, number, "tool")
        self._end_tool()
        return f"a tool call of the agent that names {name} {words}"

    def agent_command(self, name: str, rng: random.Random, number: int, is_background: bool = False) -> str | None:
        if not is_background:
            self._turn()
        if not self.command:
            wait_past(self.stage.unwatched + BEFORE_NS)
            self._start_tool("execute", f"make step{number}", [])
        words = self._work(name, rng, number, "command")
        if not self.command:
            self._end_command()
        return f"a command of the agent {words}"

    def agent_terminal(self, name: str, rng: random.Random, number: int) -> str | None:
        self._turn()
        wait_past(self.stage.unwatched + BEFORE_NS)
        before = self.stage.trees()
        text = before.get(name, b"").decode()
        self.stage.scratch.write_text(_edited(text, rng, self._mark(number)))
        self.stage.agent.tell("terminal", argv=["cp", str(self.stage.scratch), str(self.stage.where / name)])
        self.stage.command_ended = now()
        self._changed(name, "command", before)
        return f"a command in a terminal of ours writes {name}"

    def agent_background(self, name: str, rng: random.Random, number: int) -> str | None:
        if not self.stage.is_on_stage:
            self._turn()
        self.end_turn()
        if rng.random() < 0.5:
            words = self.agent_tool(name, rng, number, is_background=True)
        else:
            words = self.agent_command(name, rng, number, is_background=True)
        self.stage.command_ended = now()
        return f"after its turn, {words}"

    def begin_command(self, _name: str, _rng: random.Random, number: int) -> str | None:
        if self.command:
            return None
        self._turn()
        wait_past(self.stage.unwatched + BEFORE_NS)
        self._start_tool("execute", f"make step{number}", [])
        self.command = True
        return "a command of the agent begins"

    def end_command(self, _name: str = "", _rng: random.Random | None = None, _number: int = 0) -> str | None:
        if not self.command:
            return None
        self._end_command()
        return "the command of the agent ends"

    def end_turn(self, _name: str = "", _rng: random.Random | None = None, _number: int = 0) -> str | None:
        if not self.in_turn:
            return None
        self.end_command()
        self.stage.end_turn()
        self.stage.command_ended = now()
        self.in_turn = False
        return "the turn ends"

    def _turn(self) -> None:
        if not self.in_turn:
            self.stage.begin_turn()
            self.in_turn = True

    def _start_tool(self, kind: str, title: str, paths: list[str]) -> None:
        self.stage.agent.tell("start_tool", kind=kind, title=title, paths=paths, ask=str(self.stage.project / "README"))

    def _end_tool(self) -> None:
        self.stage.agent.tell("end_tool", ask=str(self.stage.project / "README"))

    def _end_command(self) -> None:
        self._end_tool()
        self.stage.command_ended = now()
        self.command = False

    def _work(self, name: str, rng: random.Random, number: int, way: str) -> str:
        """The agent's own process changes the file, or makes another, or deletes it."""
        before = self.stage.trees()
        how = rng.choice(["edits"] * 8 + ["deletes"] + ["makes"] * (way == "command"))
        if how == "makes":
            name = f"new{number}.txt"
        if how == "deletes" and name in before:
            data = None
            self.files.tokens -= tokens(before[name]) & self.unwatched_tokens
        else:
            data = base64.b64encode(_edited(before.get(name, b"").decode(), rng, self._mark(number)).encode()).decode()
        in_place = rng.random() < 0.5
        self.stage.agent.tell("work", path=str(self.stage.where / name), data=data, in_place=in_place)
        self._changed(name, way, before)
        return f"{how} {name}{' in place' if in_place else ''}"

    def _mark(self, number: int) -> str:
        """What the agent writes in a step. Git has it from no other sequence: it may have made what it has."""
        return f"A{self.stage.sequences}.{number};"

    def _changed(self, name: str, way: str, before: Tree) -> None:
        self.files.agent(name, way, before.get(name))

    # What the user does in Neovim

    def user_types(self, name: str, rng: random.Random, number: int) -> str | None:
        self._open(name)
        self._type(rng, number)
        self.files.of(name).user = True
        return f"the user types into {name}"

    def user_saves(self, name: str, _rng: random.Random, _number: int) -> str | None:
        buffer = self.stage.buffers(self.stage.nvim).get(name)
        if buffer is None:
            return None
        self._open(name)
        self._by_user(self._save)
        self.files.of(name).user = True
        return f"the user saves {name}"

    def user_writes(self, name: str, rng: random.Random, number: int) -> str | None:
        self.user_types(name, rng, number)
        self._by_user(self._save)
        return f"the user types into {name}, and saves it"

    def user_undoes(self, name: str, rng: random.Random, _number: int) -> str | None:
        if name not in self.stage.buffers(self.stage.nvim):
            return None
        self._open(name)
        self.stage.nvim.keys("u")
        self.files.of(name).user = True
        if rng.random() < 0.5:
            self._by_user(self._save)
            return f"the user undoes in {name}, and saves it"
        return f"the user undoes in {name}"

    def second_writes(self, name: str, rng: random.Random, number: int) -> str | None:
        second = self.stage.second
        second.lua("stage.open(...)", str(self.stage.where), name)
        second.command("silent! edit!")

        def write() -> None:
            second.keys(f"{rng.choice(['Go', 'ggO'])}U{number};<Esc>")
            second.command("silent! write!")

        self.files.tokens.add(b"U%d;" % number)
        self._by_user(write)
        self.files.of(name).user = True
        return f"the user saves {name} in the second Neovim"

    def _open(self, name: str) -> None:
        self.stage.nvim.command("silent! checktime")
        self.stage.nvim.lua("stage.open(...)", str(self.stage.where), name)

    def _type(self, rng: random.Random, number: int) -> None:
        self.stage.nvim.keys(f"{rng.choice(['Go', 'ggO'])}U{number};<Esc>")
        self.files.tokens.add(b"U%d;" % number)

    def _save(self) -> None:
        self.stage.nvim.command("silent! write!")

    # What other programs do for the user

    def other_program(self, name: str, rng: random.Random, number: int) -> str | None:
        if self.command:
            return None  # the outcome would not be known
        wait_past(self.stage.command_ended + AFTER_NS)
        path = self.stage.where / name

        def write() -> None:
            text = path.read_text() if path.exists() else ""
            path.write_text(_edited(text, rng, f"U{number};"))

        self.files.tokens.add(b"U%d;" % number)
        self._by_user(write)
        self.stage.unwatched = now()
        if self.in_turn:
            self.unwatched_tokens.add(b"U%d;" % number)
        return f"another program of the user's writes {name}"

    def git_checkout(self, name: str, _rng: random.Random, _number: int) -> str | None:
        return self._git("checkout", "--", f"{self.stage.where.name}/{name}")

    def git_stash(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        return self._git("stash")

    def git_pop(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        return self._merge("stash", "pop")

    def git_reset(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        return self._git("reset", "--hard")

    def git_branch(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        head = self.stage.git("symbolic-ref", "--short", "HEAD").stdout
        return self._git("checkout", "feat" if head == b"main\n" else "main")

    def git_rebase(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        words = self._merge("rebase", "--autostash", "feat")
        self._by_user(lambda: self.stage.git("rebase", "--abort", check=False))
        return words

    def git_commit(self, _name: str, _rng: random.Random, _number: int) -> str | None:
        for file in self.files.all.values():
            file.is_clear &= "command" not in file.agent
        return self._git("commit", "-a", "-q", "-m", "work")

    def _merge(self, *words: str) -> str | None:
        """git merges into a text that it does not have, which looks like the text of a command."""
        if self.command:
            return None
        wait_past(self.stage.command_ended + AFTER_NS)
        done = self._git(*words)
        self.stage.unwatched = now()
        return done

    def _git(self, *words: str) -> str | None:
        done = []
        self._by_user(lambda: done.append(self.stage.git(*words, check=False)))
        return f"git {' '.join(words)}{'' if done[0].returncode == 0 else f': {done[0].stderr.decode()}'}"

    def _by_user(self, act: Callable[[], object]) -> None:
        before, times = self.stage.trees(), self.stage.times()
        act()
        self.files.user(before, self.stage.trees())
        for name, when in self.stage.times().items():
            if name in times and when != times[name]:  # git has taken it away, and brought it back
                self.files.of(name).user = True

    # Ends

    def kill_agent(self, *_: object) -> str | None:
        if not self.stage.is_on_stage:
            return None
        self.stage.kill_agent()
        self.in_turn = self.command = False
        return "the agent is killed"

    def kill_host(self, *_: object) -> str | None:
        self.stage.kill_host()
        self.in_turn = self.command = False
        return "the host is killed"

    def kill_guard(self, *_: object) -> str | None:
        return "the guard is killed" if self.stage.kill_guard() else None

    def kill_git(self, *_: object) -> str | None:
        return "a git of the host is killed" if self.stage.kill_git() else None

    def kill_nvim(self, *_: object) -> str | None:
        return self._leave(self.stage.kill_nvim, "Neovim is killed")

    def restart(self, *_: object) -> str | None:
        return self._leave(self.stage.restart, "the user leaves Neovim")

    def _leave(self, leave: Callable[[], None], words: str) -> str:
        """What was not saved in the first Neovim is lost, as it would be in any."""
        found = set().union(*map(tokens, self.stage.trees().values()))
        self.files.tokens &= found
        leave()
        self.in_turn = self.command = False
        return words


def _edited(text: str, rng: random.Random, token: str) -> str:
    """One line more, at the beginning or at the end."""
    return f"{token}\n{text}" if rng.random() < 0.5 else f"{text}{token}\n"

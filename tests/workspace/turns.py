"""Turns of an agent that writes files which are open, while the user types a prompt: nobody asks the user anything."""

from __future__ import annotations

import contextlib
import random
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.agents.obedient_client import ObedientAgent, RefusedError
from tests.support.editor import HeadlessEditor
from tests.support.processes import kill
from tests.support.sequence_runner import Broken
from tests.workspace.stage import STAGE_LUA

KEYS = "lLoOaAynqe "
"""What the user types: among them the answers to Neovim's questions about files."""
LINES = [f"line {number} of the file" for number in range(1, 41)]
COUNT = 4
KILLS = 30  # every so many turns, one in which the host is killed

LUA = """
local M, api = {}, vim.api
_G.turns = M
M.prompt = ...
function M.scene(paths, shown, modified, autoread, checks, nested)
  vim.o.autoread = autoread
  api.nvim_create_augroup("turns", { clear = true })
  if checks then
    local events = { "FocusGained", "BufEnter", "CursorHold", "CursorHoldI" }
    api.nvim_create_autocmd(events, { group = "turns", command = "checktime", nested = nested })
  end
  for number, path in ipairs(paths) do
    api.nvim_win_call(shown[number] == "window" and M.code or M.other, function()
      vim.cmd("silent edit " .. vim.fn.fnameescape(path))
      if shown[number] == "hidden" then
        vim.cmd("silent enew")
      end
    end)
    local bufnr = vim.fn.bufnr(path)
    if modified[number] then
      api.nvim_buf_set_lines(bufnr, 0, 0, true, { modified[number] })
    end
  end
  vim.v.warningmsg, vim.v.errmsg = "", ""
  vim.cmd("messages clear")
  api.nvim_buf_set_lines(M.prompt, 0, -1, true, { "" })
end
function M.clear(directory)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.startswith(api.nvim_buf_get_name(bufnr), directory) then
      for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
        api.nvim_win_call(win, function() vim.cmd("silent enew!") end)
      end
      vim.cmd("silent bwipeout! " .. bufnr)
    end
  end
end
function M.seen()
  return {
    mode = api.nvim_get_mode(),
    prompt = api.nvim_buf_get_lines(M.prompt, 0, -1, true),
    is_there = api.nvim_get_current_buf() == M.prompt,
    warned = vim.v.warningmsg,
    said = vim.fn.execute("messages"),
  }
end
"""


@dataclass
class Scene:
    """Files of one turn: where they are shown, and the lines in their buffers that the user has not saved."""

    paths: list[Path]
    unsaved: list[str | None]
    words: list[str]


class Turns:
    """One Neovim with a screen and the default configuration, in whose prompt the user types."""

    def __init__(self, directory: Path) -> None:
        self.agent = ObedientAgent()
        agents = {"obedient": {"command": self.agent.argv}}
        self.nvim = HeadlessEditor(directory, agents=agents, config={"default_agent": "obedient"})
        self.played = 0
        self._typed = ""
        self._prepare()

    def _prepare(self) -> None:
        nvim = self.nvim
        nvim.api("ui_attach", 120, 40, {})
        nvim.command("set updatetime=50 | tabnew | let g:other = win_getid() | tabprevious | let g:code = win_getid()")
        nvim.command("AcpChat")
        nvim.wait_until('require("acp_nvim").status().state == "idle"')
        nvim.wait_until("vim.bo.filetype == 'acp_prompt'", what="the focus to be in the prompt")
        nvim.lua(STAGE_LUA.read_text(encoding="utf-8"))
        nvim.lua(LUA, nvim.api("get_current_buf"))
        nvim.lua("turns.code, turns.other = vim.g.code, vim.g.other")
        nvim.api("input", "i")
        self._wait(lambda: nvim.api("get_mode")["mode"] == "i", "Insert mode")

    def close(self) -> None:
        """End all; nothing of it may be left."""
        try:
            self.agent.close()
        finally:
            self.nvim.close()

    def play(self, seed: int, most: int, *, kills: bool = False) -> None:
        """One turn, in which the agent does up to `most` things. Raises `Broken` if anything was asked or lost.

        With `kills`, the host is killed in the middle, and others go on to write the files.
        """
        rng = random.Random(seed)
        scene = self._scene(rng)
        end = "AcpError" if kills else "AcpTurnEnd"
        ended = len(self.nvim.events(end))
        try:
            self.nvim.lua('require("acp_nvim").prompt("go")')
            self.agent.tell("begin_turn")
            for _ in range(rng.randint(1, most)):
                self._act(scene, rng)
            if kills:
                self._kill_host(scene, rng)
            else:
                self.agent.begin("end_turn")
                self._type(rng)
                self.agent.finish()
            self._wait(lambda: len(self.nvim.events(end)) > ended, end)
            self._check(scene)
        except (AssertionError, Broken) as error:
            words = str(error).split("\n---")[0]
            raise Broken("typing", f"seed {seed}, {self.nvim.api('get_mode')}: {scene.words}\n{words}") from None
        self.nvim.lua("turns.clear(...)", str(scene.paths[0].parent))
        self.nvim.lua('require("acp_nvim.host").send("review", { action = "keep" })')

    def _scene(self, rng: random.Random) -> Scene:
        self.played += 1
        self._typed = ""
        directory = self.nvim.project / f"turn{self.played}"
        directory.mkdir()
        paths = [directory / f"file{number}.txt" for number in range(COUNT)]
        for path in paths:
            path.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
        shown = [rng.choice(["window", "window", "hidden", "other"]) for _ in paths]
        unsaved = [f"unsaved {self.played}.{number}" if rng.random() < 0.5 else False for number in range(COUNT)]
        autoread, checks, nested, follows = (rng.random() < part for part in (0.5, 0.3, 0.5, 0.8))
        self.nvim.command("AcpFollow on" if follows else "AcpFollow off")
        self.nvim.lua("turns.scene(...)", [str(path) for path in paths], shown, unsaved, autoread, checks, nested)
        words = [f"autoread={autoread} checks={checks} nested={nested} follows={follows} {shown} {unsaved}"]
        return Scene(paths, [line or None for line in unsaved], words)

    # The agent, and meanwhile the user

    def _act(self, scene: Scene, rng: random.Random) -> None:
        path = rng.choice(scene.paths)
        acts = [self._announced, self._told, self._unannounced, self._written, self._deleted, self._by_others]
        act = rng.choice(acts)
        scene.words.append(f"{act.__name__} {path.name}")
        act(path, rng)

    def _tell(self, rng: random.Random, do: str, **fields: object) -> None:
        """The agent does something; the user types before it has ended."""
        self.agent.begin(do, **fields)
        self._type(rng)
        self.agent.finish()

    def _text(self, rng: random.Random) -> str:
        lines = list(LINES)
        for _ in range(rng.randint(1, 3)):
            lines[rng.randrange(20, len(lines))] = f"by others {rng.random()}"
        return "".join(f"{line}\n" for line in lines)

    def _data(self, rng: random.Random) -> str:
        return b64encode(self._text(rng).encode()).decode()

    def _announced(self, path: Path, rng: random.Random) -> None:
        self._tell(rng, "disk_write", path=str(path), data=self._data(rng), in_place=rng.random() < 0.5)

    def _told(self, path: Path, rng: random.Random) -> None:
        if rng.random() < 0.5:
            self._tell(rng, "told", kind="edit", path=str(path))
        self._tell(rng, "work", path=str(path), data=self._data(rng))
        self._tell(rng, "told", kind="edit", path=str(path))

    def _unannounced(self, path: Path, rng: random.Random) -> None:
        for _ in range(2):
            self._tell(rng, "work", path=str(path), data=self._data(rng), in_place=True)

    def _written(self, path: Path, rng: random.Random) -> None:
        with contextlib.suppress(RefusedError):  # others have changed the same lines
            self._tell(rng, "write", path=str(path), content=self._text(rng))

    def _deleted(self, path: Path, rng: random.Random) -> None:
        if path.exists():
            self._tell(rng, "delete", path=str(path))
        if rng.random() < 0.7:
            self._announced(path, rng)

    def _by_others(self, path: Path, rng: random.Random) -> None:
        path.write_text(self._text(rng), encoding="utf-8")
        self._type(rng)
        self._tell(rng, "told", kind="read", path=str(path))

    def _type(self, rng: random.Random) -> None:
        for _ in range(rng.randint(1, 3)):
            key = rng.choice(KEYS)
            self._typed += key
            self.nvim.api("input", key)
            self._check_mode()

    def _check_mode(self) -> None:
        mode = self.nvim.api("get_mode")
        if mode != {"mode": "i", "blocking": False}:
            raise Broken("asked", f"Neovim is in mode {mode}")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            if self._typed:
                self._check_mode()
            return condition()

        self.nvim.wait_until(holds, what=what)

    def _check(self, scene: Scene) -> None:
        self._check_mode()
        seen = self.nvim.lua("return turns.seen()")
        if seen["prompt"] != [self._typed] or not seen["is_there"]:
            raise Broken("keys", f"typed {self._typed!r}, but the prompt has {seen['prompt']}")
        if seen["warned"]:
            raise Broken("warning", seen["warned"])
        for path, line in zip(scene.paths, scene.unsaved, strict=True):
            if line is not None and not self._has(path, line):
                raise Broken("line", f"{line!r} is lost from {path.name}")

    def _has(self, path: Path, line: str) -> bool:
        """Whether the buffer has the line, or `u` brings it back: others may have removed it after it was saved."""
        texts: list[str] = self.nvim.lua("return stage.undo_texts(vim.fn.bufnr(...))", str(path))
        return any(line in text.splitlines() for text in texts)

    def _kill_host(self, scene: Scene, rng: random.Random) -> None:
        """Kill the host; the next prompt starts another."""
        host = self.nvim.host()
        assert host is not None
        kill([host])
        for path in scene.paths:
            path.write_text(self._text(rng), encoding="utf-8")
            self._type(rng)
        self._wait(lambda: self.nvim.host() is None, "the host to be gone")
        self.agent.lose()


def play_turns(directory: Path, seeds: range, most: int) -> int:
    """Play the turns of these seeds in one Neovim, some with a host that is killed; return how many were played.

    Raises `Broken` if anything was asked or lost.
    """
    turns = Turns(directory)
    try:
        for seed in seeds:
            turns.play(seed, most, kills=seed % KILLS == KILLS - 1)
    finally:
        turns.close()
    return turns.played

"""Keys of the plugin's windows, typed with what follows them in one go: none of them reaches the text of the user."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.agents.obedient_client import ObedientAgent, RefusedError
from tests.support.editor import HeadlessEditor
from tests.support.sequence_runner import Broken

MINE = [f"my line {number}" for number in range(1, 13)]
LAST = ["agent's line"]
OTHER = [f"the agent's own line {number}" for number in range(4)]

ANSWERS = ["a", "A", "r", "R", "1", "2"]
HUNKS = ["ghk", "ghr", "ghn", "ghp", "]h", "[h", "gho"]
TYPED = [
    "x",
    "dd",
    "D",
    "o",
    "J",
    "~",
    "p",
    "q",
    "a",
    "r",
    "i",
    "<CR>",
    "cc",
    "P",
    "s",
    "S",
    "C",
    "u",
    *ANSWERS,
    *HUNKS,
]
"""What is typed behind a key that moves the focus, before the screen can be drawn."""

WINDOWS = {
    "chat": ["p", "q", "<CR>", "a", "r", "A", "R", "K", "gf", "g?", "1", "3"],
    "float": ["p", "q", "<CR>", "a", "r", "A", "R", "1"],
    "list": ["<CR>", "q", "ghk", "ghr", "Q", "ghK", "ghR"],
    "preview": ["ghk", "ghr", "]h", "[h", "ghn"],
}

LUA = """
local M, api = {}, vim.api
_G.keys = M

---Makes files as a user does: it is known whose they are, however short before that a turn has ended.
function M.make(paths, lines)
  vim.cmd("tabnew | tabonly")
  for _, path in ipairs(paths) do
    vim.cmd("silent edit " .. vim.fn.fnameescape(path))
    api.nvim_buf_set_lines(0, 0, -1, true, lines)
    vim.cmd("silent write | bwipeout")
  end
end

---Shows the first of these files, and loads the others that are to be loaded.
function M.scene(paths, loaded, modified, code, chat)
  vim.cmd("tabnew | tabonly")
  for number, path in ipairs(paths) do
    if loaded[number] then
      vim.cmd("silent edit " .. vim.fn.fnameescape(path))
      if modified[number] then
        api.nvim_buf_set_lines(0, 0, 0, true, { modified[number] })
      end
    end
  end
  if chat then
    vim.cmd("AcpChat")
    vim.cmd("stopinsert")
  end
  if not code then
    vim.cmd("wincmd t | silent! close")
  end
  vim.fn.setreg('"', "put\\n")
end

function M.clear(directory)
  vim.cmd("tabnew | tabonly")
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if vim.startswith(api.nvim_buf_get_name(bufnr), directory) then
      api.nvim_buf_delete(bufnr, { force = true })
    end
  end
end

local function go(accept)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if accept(win, api.nvim_win_get_buf(win)) then
      api.nvim_set_current_win(win)
      return true
    end
  end
  return false
end

---@return boolean the user is in that window now, as one who has gone there
function M.go(where)
  vim.cmd("stopinsert")
  if where == "float" then
    return #require("acp_nvim").permissions() > 0 and require("acp_nvim.permission.float").focus()
  elseif where == "list" then
    if not require("acp_nvim.review.files").has_any() then
      return false
    end
    vim.cmd("AcpReview")
    return vim.bo.filetype == "acp_review"
  elseif where == "chat" then
    return go(function(_, bufnr)
      return vim.bo[bufnr].filetype == "acp_chat"
    end)
  end
  return go(function(_, bufnr)
    local maps = api.nvim_buf_get_keymap(bufnr, "n")
    return vim.iter(maps):any(function(map)
      return map.desc == "acp: preview allow"
    end)
  end)
end

---Goes to a file, in a window for code.
function M.open(path)
  local is_there = go(function(win)
    return require("acp_nvim.windows.open").is_code(win)
  end)
  if api.nvim_buf_get_name(0) ~= path then
    vim.cmd((is_there and "edit " or "topleft new ") .. vim.fn.fnameescape(path))
  end
end

function M.seen()
  local lines = {}
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].buftype == "" then
      lines[api.nvim_buf_get_name(bufnr)] = api.nvim_buf_get_lines(bufnr, 0, -1, true)
    end
  end
  return lines
end

local SHIELD = require("acp_nvim.keys.typed_ahead").SHIELD
local calm_since

---@return boolean no key is dropped any more: the user has seen what there is
function M.is_calm()
  local shielded = vim.iter(api.nvim_list_bufs()):any(function(bufnr)
    return vim.iter(api.nvim_buf_get_keymap(bufnr, "n")):any(function(map)
      return map.desc == SHIELD
    end)
  end)
  local mode = api.nvim_get_mode()
  local now = vim.uv.hrtime()
  calm_since = not shielded and calm_since or now
  return mode.mode == "n" and now - calm_since > 3e6 * require("acp_nvim.limits").seen_ms
end

function M.stir()
  calm_since = nil
end
"""


class Keys:
    """One Neovim with a screen, and an agent that asks and writes."""

    def __init__(self, directory: Path) -> None:
        self.agent = ObedientAgent()
        agents = {"obedient": {"command": self.agent.argv}}
        config = {"default_agent": "obedient", "follow": {"enabled": False}}
        self.nvim = HeadlessEditor(directory, agents=agents, config=config)
        self.played = 0
        self.typed = 0
        self.asked = 0
        self.words: list[str] = []
        nvim = self.nvim
        nvim.api("ui_attach", 120, 40, {})
        nvim.command("set hidden noswapfile shortmess+=F")
        nvim.lua('local limits = require("acp_nvim.limits") limits.seen_ms, limits.answer_pause_ms = 15, 0')
        nvim.lua(LUA)
        nvim.lua("vim.ui.select = function(items, _, done) done(items[1]) end")
        nvim.command("AcpChat")
        nvim.wait_until('require("acp_nvim").status().state == "idle"')

    def close(self) -> None:
        """End all; nothing of it may be left."""
        try:
            self.agent.close()
        finally:
            self.nvim.close()

    # The scene

    def begin(self, *, loaded: list[bool], modified: list[bool], code: bool, chat: bool) -> list[Path]:
        """Files of the user's in the first lines, of the agent's in the last; a turn begins."""
        self.played += 1
        self.words = [f"loaded={loaded} modified={modified} code={code} chat={chat}"]
        directory = self.nvim.project / f"scene{self.played}"
        directory.mkdir()
        self.paths = [directory / f"file{number}.txt" for number in range(len(loaded))]
        self.user = [list(MINE) for _ in loaded]
        self.nvim.lua("keys.make(...)", [str(path) for path in self.paths], MINE + OTHER)
        texts = []
        for number, (is_loaded, is_modified) in enumerate(zip(loaded, modified, strict=True)):
            texts.append(f"not saved {number}" if is_loaded and is_modified else False)
            self.user[number][:0] = [texts[-1]] if texts[-1] else []
        self.nvim.lua('require("acp_nvim").prompt("go")')
        self.agent.tell("begin_turn")
        self.nvim.lua("keys.scene(...)", [str(path) for path in self.paths], loaded, texts, code, chat)
        return self.paths

    def end(self) -> None:
        """The turn ends, and all that is asked with it."""
        self.type_calmly("")
        self.nvim.command("AcpCancel")
        self.agent.begin("end_turn")
        for _ in range(self.asked):
            self.agent.finish()
        self.asked = 0
        self.agent.finish()
        self.nvim.wait_until('require("acp_nvim").status().state == "idle"')
        self.check()
        self.nvim.lua("keys.clear(...)", str(self.paths[0].parent))
        self.nvim.lua('require("acp_nvim.host").send("review", { action = "keep" })')

    def asks(self, files: list[int], *, new: bool = False, long: bool = False) -> None:
        """The agent asks to change its own lines in these files; the user has not looked yet."""
        content: list[dict[str, Any]] = [
            {"type": "diff", "path": str(self.paths[one]), "oldText": OTHER[1], "newText": f"changed {self.typed}"}
            for one in files
        ]
        if new:
            path = self.paths[0].with_name(f"new{self.typed}.txt")
            content.append({"type": "diff", "path": str(path), "oldText": None, "newText": "all new\nlines"})
        if long:
            text = "\n".join(f"{number}: read me" for number in range(90))
            content.append({"type": "content", "content": {"type": "text", "text": text}})
        call = {"toolCallId": f"ask-{self.played}-{self.asked}", "title": "Change", "kind": "edit", "content": content}
        kinds = ["allow_once", "allow_always", "reject_once", "reject_always"]
        options = [{"optionId": kind, "name": kind, "kind": kind} for kind in kinds]
        before = self.nvim.lua('return #require("acp_nvim").permissions()')
        self.agent.begin("ask", method="session/request_permission", params={"toolCall": call, "options": options})
        self.asked += 1
        self.nvim.wait_until(f'#require("acp_nvim").permissions() > {before}', what="the question")
        if content:
            self.nvim.wait_until(
                'require("acp_nvim.review.previews").requests()[1] ~= nil', what="the preview of the question"
            )

    def answered(self) -> None:
        """The agent hears the answers to what is not asked any more."""
        waiting = self.nvim.lua('return #require("acp_nvim").permissions()')
        while self.asked > waiting:
            self.agent.finish()
            self.asked -= 1

    def writes(self, number: int) -> None:
        """The agent changes its lines, which are under review then; it is not possible while it asks."""
        assert not self.asked
        text = self.agent.tell("read", path=str(self.paths[number]))
        changed = text.replace(OTHER[2], f"written {self.typed}\n{OTHER[2]}")
        try:
            self.agent.tell("write", path=str(self.paths[number]), content=changed)
        except RefusedError:  # the same lines were rejected meanwhile
            return
        self.nvim.wait_until('require("acp_nvim.review.files").has_any()', what="a file to review")

    # The user

    def go(self, where: str) -> bool:
        """The user goes to that window, and sees it."""
        return bool(self.nvim.lua("return keys.go(...)", where))

    def type_ahead(self, keys: str) -> None:
        """Send the keys in one go."""
        self.typed += 1
        self.words.append(keys)
        self.nvim.api("input", keys)
        self.nvim.wait_until(self._is_ready, what="Neovim to be ready")

    def _is_ready(self) -> bool:
        is_blocked = bool(self.nvim.api("get_mode")["blocking"])  # half a command: it is given up
        if is_blocked:
            self.nvim.api("input", "<Esc>")
        return not is_blocked

    def type_calmly(self, keys: str) -> None:
        """Keys of a user who has seen where the focus is."""
        self.nvim.lua("keys.stir()")
        self.nvim.wait_until(self._is_calm, what="calm")
        self.typed += 1
        self.nvim.keys(keys)

    def _is_calm(self) -> bool:
        if self.nvim.api("get_mode")["mode"] != "n":
            self.nvim.keys("<Esc>")
        return bool(self.nvim.lua("return keys.is_calm()"))

    def edit(self, number: int) -> None:
        """The user types a line into a file; all its keys mean what they always do."""
        self.type_calmly("")
        path = self.paths[number]
        self.nvim.lua("keys.open(...)", str(path))
        words = f"typed {self.typed}"
        self.words.append(f"[{words}]")
        self.type_calmly(f"ggO{words}<Esc>")
        self.user[number].insert(0, words)
        self.check()

    def check(self) -> None:
        """The user's lines are as they were, and what else there is, the agent has written."""
        seen = self.nvim.lua("return keys.seen()")
        for path, user in zip(self.paths, self.user, strict=True):
            lines = seen.get(str(path))
            if lines is None:
                lines = path.read_text(encoding="utf-8").splitlines()
            mine, rest = lines[: len(user)], lines[len(user) :]
            strange = [line for line in rest if not line.startswith(("changed ", "written ", "the agent's own line"))]
            if mine != user or strange:
                raise Broken("text", f"{path.name}: {lines}, not {user} first\n{self.words}")
        for name, lines in seen.items():  # besides the files of earlier scenes, which may be under review
            if not name.startswith(str(self.nvim.project)) and lines != [""]:
                raise Broken("text", f"{name!r}: {lines}\n{self.words}")


def play_keys(directory: Path, seeds: range, steps: int = 5) -> int:
    """Play the sequences of these seeds in one Neovim. Raises `Broken` if a text has changed."""
    keys = Keys(directory)
    try:
        for seed in seeds:
            try:
                play(keys, random.Random(seed), steps)
            except AssertionError as error:
                raise Broken("keys", f"seed {seed}: {keys.words}\n{error}") from error
    finally:
        keys.close()
    return keys.played


def play(keys: Keys, rng: random.Random, steps: int) -> None:
    """One sequence: the agent asks or writes, the user goes somewhere and types more than one key at once."""
    count = 3
    loaded, modified = ([rng.random() < 0.6 for _ in range(count)] for _ in range(2))
    keys.begin(loaded=loaded, modified=modified, code=rng.random() < 0.7, chat=rng.random() < 0.6)
    acts: list[Callable[[], None]] = [
        lambda: asks(keys, rng),
        lambda: writes(keys, rng),
        lambda: keys.edit(rng.randrange(count)),
    ]
    for _ in range(steps):
        rng.choice(acts)()
        for where in rng.sample(list(WINDOWS), 2):
            keys.type_calmly("")
            if keys.go(where):
                key = rng.choice(WINDOWS[where])
                behind = "".join(rng.choice(TYPED if where != "preview" else HUNKS) for _ in range(rng.randint(1, 4)))
                keys.words.append(where)
                keys.type_ahead(key + behind)
                keys.check()
        keys.answered()
    keys.end()


def asks(keys: Keys, rng: random.Random) -> None:
    if not keys.asked:
        files = rng.sample(range(3), rng.randint(0, 2))
        keys.words.append(f"asks {files}")
        keys.asks(files, new=not files or rng.random() < 0.3, long=rng.random() < 0.3)


def writes(keys: Keys, rng: random.Random) -> None:
    if not keys.asked:
        keys.words.append("writes")
        keys.writes(rng.randrange(3))

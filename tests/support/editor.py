"""The real Neovim under test: what tests can ask of it, and the kind without a screen."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.support.below import below
from tests.support.contract import as_sent
from tests.support.find_nvim import find_nvim
from tests.support.places import Places
from tests.support.processes import Process, descendants, kill, marked, wait_gone
from tests.support.rpc import Rpc
from tests.support.waiting import LIMIT, PATIENT, wait_until

BLOCKED_LIMIT = 5.0
"""Seconds until a Neovim is killed that waits for a key; any other writes down what is not to be lost, and leaves."""

CHAT_BUFFER = """
for _, nr in ipairs(vim.api.nvim_list_bufs()) do
  if vim.bo[nr].filetype == "acp_chat" then
    return nr
  end
end
"""


class Editor:
    """One running Neovim and a connection to it. Ends with it: all processes that it started."""

    def __init__(
        self,
        directory: Path,
        *,
        agents: Mapping[str, Any] | None = None,
        config: Mapping[str, Any] | None = None,
        plugin: bool = True,
        arguments: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        given = {"python": sys.executable, **(config or {})}
        given["timeouts"] = {**PATIENT, **given.get("timeouts", {})}
        if agents is not None:
            given["agents"] = dict(agents)
        self.places = Places(directory, given, plugin)
        self.project = self.places.project
        command = [find_nvim(), *self.places.arguments(), *arguments]
        self._process = self._start(command, self.places.environment(dict(env or {})))
        try:
            connection = wait_until(self._connect, what="Neovim to listen", describe=self._last_words)
        except BaseException:
            self._end_process()
            raise
        assert connection is not None
        self.rpc: Rpc = connection
        # Neovim listens before it has read its arguments
        self.wait_until("vim.v.vim_did_enter == 1", what="Neovim to have started")

    def _start(self, command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        raise NotImplementedError

    def _connect(self) -> Rpc | None:
        if self._process.poll() is not None:
            raise AssertionError(f"Neovim ended with {self._process.returncode}\n{self._last_words()}")
        with contextlib.suppress(OSError):
            return self.connect()
        return None

    def connect(self) -> Rpc:
        """One more connection; the caller closes it."""
        return Rpc(self.places.socket)

    # Asking and telling

    def api(self, name: str, *args: Any, limit: float = LIMIT) -> Any:
        """Calls `nvim_<name>`."""
        return self.rpc.request(f"nvim_{name}", *args, limit=limit)

    def lua(self, code: str, *args: Any, limit: float = LIMIT) -> Any:
        """Runs a chunk of Lua (`...` are the arguments); `return` gives an answer."""
        return self.api("exec_lua", code, list(args), limit=limit)

    def apply(self, *events: dict[str, Any]) -> None:
        """Tells Neovim what the host would, as one batch; fails when it is nothing that the host can send."""
        self.lua('require("acp_nvim.events").apply(...)', [as_sent(one) for one in events])

    def apply_unchecked(self, *events: dict[str, Any]) -> None:
        """The same with what only a newer host, or a faulty one, would send."""
        self.lua('require("acp_nvim.events") _G.acp_contract.apply_unchecked(...)', list(events))

    def command(self, command: str) -> str:
        """Runs an Ex command and returns what it printed."""
        return str(self.api("exec2", command, {"output": True})["output"])

    def keys(self, keys: str) -> None:
        """Types keys (`<Esc>` and the like are understood) and lets Neovim work them off."""
        left = keys.encode()
        while left:
            left = left[self.api("input", left) :]
        self.api("eval", "1")
        self.api("eval", "1")

    def interrupt(self, condition: Callable[[], Any]) -> None:
        """Types CTRL-C until the condition holds: Neovim drops it, and what was typed before, while Lua runs."""

        def holds() -> bool:
            if not condition():
                self.keys("<C-c>")
            return bool(condition())

        self.wait_until(holds, what="what CTRL-C does")

    def wait_until(
        self,
        condition: str | Callable[[], Any],
        limit: float = LIMIT,
        what: str | Callable[[], str] = "",
        *args: Any,
    ) -> Any:
        """Waits until a Lua expression (or a chunk with `return`), or a callable, is true; returns what it gave."""
        if callable(condition):
            return wait_until(condition, limit, what or "the condition", self.describe)
        chunk = condition if "return" in condition else f"return {condition}"
        return wait_until(lambda: self.lua(chunk, *args), limit, what or condition, self.describe)

    # Looking

    def buffer_text(self, nr: int = 0) -> str:
        """The text of a buffer (0: the current one)."""
        return "\n".join(self.api("buf_get_lines", nr, 0, -1, False))

    def chat_buffer(self) -> int | None:
        """The first buffer that shows a conversation."""
        found = self.lua(CHAT_BUFFER)
        return None if found is None else int(found)

    def chat_text(self) -> str:
        """The text of the first conversation; empty when there is none."""
        nr = self.chat_buffer()
        return "" if nr is None else self.buffer_text(nr)

    def events(self, name: str | None = None) -> list[Any]:
        """The `data` of each `User` autocommand of that name so far; without a name: all, with their names."""
        records = list(self.lua("return _G.acp_test.events"))
        return records if name is None else [record["data"] for record in records if record["name"] == name]

    def messages(self) -> list[str]:
        """What was said through `vim.notify` so far."""
        return [message["text"] for message in self.lua("return _G.acp_test.messages")]

    def printed(self) -> str:
        """What `:messages` shows."""
        return self.command("messages")

    def describe(self) -> str:
        """The state of things, for the words of a failure."""
        parts = {"chat": self.chat_text()[-3000:], "messages": self.printed(), "events": self.events()}
        for log in [path for path in below(self.places.directory / "state") if path.suffix == ".log"]:
            parts[log.name] = log.read_text(encoding="utf-8", errors="replace")[-3000:]
        return "\n".join(f"--- {name}\n{text}" for name, text in parts.items())

    # Processes

    @property
    def pid(self) -> int:
        """The process that holds the buffers."""
        return int(self.lua("return vim.fn.getpid()"))

    def children(self) -> list[Process]:
        """The live processes below Neovim."""
        return descendants(self.pid)

    def family(self) -> list[Process]:
        """All live processes that were started by this Neovim, adopted ones too, and Neovim itself."""
        return marked(self.places.mark)

    def host(self) -> Process | None:
        """The Python host, if it runs below a guard: the third process with its command line."""
        found = [process for process in self.children() if "acp_nvim.start" in " ".join(process.command)]
        return found[2] if len(found) > 2 else None

    def kill(self) -> None:
        """Kills Neovim with SIGKILL, and waits for its end; `close` ends the rest."""
        os.kill(self.pid, signal.SIGKILL)
        self._process.wait(LIMIT)

    def close(self, limit: float = LIMIT) -> None:
        """Leaves Neovim, and fails when that, or something that it started, is still there after the limit.

        Fails, too, when others may use what the plugin has written, whatever that was. Neovim runs under a umask that
        hides nothing; what tests have made themselves is not for others to write. And it fails when Neovim and the host
        told each other what their contract does not have.
        """
        patience = LIMIT
        is_blocked = False
        try:
            with contextlib.suppress(OSError, AssertionError):
                is_blocked = self.api("get_mode")["blocking"]
                patience = BLOCKED_LIMIT if is_blocked else LIMIT
                if self.lua("return vim.fn.getcmdwintype() ~= ''", limit=patience):
                    self.keys(r"<C-\><C-n>:quit<CR>")
                self.rpc.request("nvim_command", "qall!", limit=patience)
            self.rpc.close()
            assert self._end_process(patience) or is_blocked, f"Neovim could not be left\n{self._last_words()}"
            wait_gone(self.family, limit, "all processes of this Neovim to end")
            assert self.places.open_to_others(0o002) == []
            assert self.places.contract_problems() == []
        finally:
            kill(self.family())
            self.places.remove()

    def _end_process(self, patience: float = BLOCKED_LIMIT) -> bool:
        """Waits for the end of Neovim; False when it had to be killed."""
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(LIMIT)
            return False
        return True

    def _last_words(self) -> str:
        stderr = self.places.stderr
        return stderr.read_text(errors="replace") if stderr.exists() else ""


class HeadlessEditor(Editor):
    """Neovim without a screen. It dies with the tests, because it reads from them."""

    def _start(self, command: list[str], env: dict[str, str]) -> subprocess.Popen[bytes]:
        with self.places.stderr.open("wb") as stderr:
            return subprocess.Popen(
                [command[0], "--embed", "--headless", *command[1:]],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd=self.project,
                env=env,
                umask=0,
            )

    def _end_process(self, patience: float = BLOCKED_LIMIT) -> bool:
        has_ended = super()._end_process(patience)
        if self._process.stdin:
            self._process.stdin.close()
        return has_ended

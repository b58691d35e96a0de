"""Plays the host in a process of its own: starts scripts, says their pids, and waits for its end.

With `DIE STARTING` before it, the host is killed as soon as the next process runs, before it knows its process id. With
`BELOW A GUARD` first, it is forked below a guard, as in Neovim; then it says its own pid, and that of this guard, too.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import anyio

from acp_nvim.process import forked_guard, git
from acp_nvim.process.child import ChildProcesses
from acp_nvim.process.guarding import guard_of_host

real_open_process = anyio.open_process


async def die_starting(*args: Any, **options: Any) -> anyio.abc.Process:
    """Start the process, and die in the same moment."""
    await real_open_process(*args, **options)
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("not reached")


async def main(scripts: list[str]) -> None:
    """Start them all, each once the one before is ready."""
    guard = guard_of_host()
    below = [] if forked_guard.lines is None else [os.getpid(), os.getppid()]
    pids = []
    async with anyio.create_task_group() as tasks:
        for script in scripts:
            if script == "KILL THE GUARD":
                assert guard._process is not None
                guard._process.kill()
                guard._process.wait()
                continue
            if script == "DIE STARTING":
                anyio.open_process = die_starting
                continue
            if script.startswith("GIT "):
                words = ["config", "--file", script.removeprefix("GIT "), "--list"]
                tasks.start_soon(git.run, words, "/", git.environment({}))
                while guard.pid is None:  # noqa: ASYNC110  # told in the step in which it starts, it sets no event
                    await anyio.sleep(0.001)
                continue
            child = await ChildProcesses(guard).start("it", ["sh", "-c", script], "/", {})
            while b"ready" not in await child.source.receive():
                continue
            pids.append(child.pid)
        print(*pids, guard.pid or 0, *below, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    scripts = sys.argv[1:]
    if scripts[0] == "BELOW A GUARD":
        forked_guard.fork_guard()
        del scripts[0]
    anyio.run(main, scripts)

"""Plays the host in a process of its own: starts scripts, says their pids, and waits for its end."""

from __future__ import annotations

import sys

import anyio

from acp_nvim.process import git
from acp_nvim.process.child import Child
from acp_nvim.process.guarding import guard_of_host


async def main(scripts: list[str]) -> None:
    """Start them all, each once the one before is ready."""
    guard = guard_of_host()
    pids = []
    async with anyio.create_task_group() as tasks:
        for script in scripts:
            if script == "KILL THE GUARD":
                assert guard._process is not None
                guard._process.kill()
                guard._process.wait()
                continue
            if script.startswith("GIT "):
                words = ["config", "--file", script.removeprefix("GIT "), "--list"]
                tasks.start_soon(git.run, words, "/", git.environment({}))
                while guard.pid is None:  # noqa: ASYNC110  # told in the step in which it starts, it sets no event
                    await anyio.sleep(0.001)
                continue
            child = await Child.spawn("it", ["sh", "-c", script], "/", {}, guard)
            while b"ready" not in await child.source.receive():
                continue
            pids.append(child.pid)
        print(*pids, guard.pid or 0, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1:])

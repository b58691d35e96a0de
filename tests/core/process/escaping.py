"""Leaves a process behind as a daemon does: `python escaping.py FILE [unlimited]`; FILE gets its process id.

It has an empty environment, a session of its own, no parent, no open files, and another working directory. With
`unlimited` its limit of file locks is another one, too.
"""

from __future__ import annotations

import os
import resource
import sys

LOCKS = 10
"""RLIMIT_LOCKS, see getrlimit(2)."""


def main() -> None:
    """Fork twice, and become `sleep`."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    if sys.argv[2:]:
        resource.setrlimit(LOCKS, (resource.RLIM_INFINITY, resource.getrlimit(LOCKS)[1]))
    with open(f"{sys.argv[1]}.new", "w", encoding="ascii") as file:
        file.write(str(os.getpid()))
    os.chdir("/")
    os.rename(f"{sys.argv[1]}.new", sys.argv[1])
    os.closerange(0, 256)
    os.execve("/bin/sleep", ["sleep", "1000"], {})


if __name__ == "__main__":
    main()

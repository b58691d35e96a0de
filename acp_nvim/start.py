"""The program that Neovim starts as the host; its argument is the plugin's directory."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
import traceback

from acp_nvim.process.forked_guard import fork_guard


def main() -> None:
    """Run the plugin in pynvim's host until Neovim exits.

    Then the host flushes its files and exits at once: Python would wait for idle threads, and Neovim waits up to 2 s
    for Python.
    """
    fork_guard()  # first: what is loaded before is in three processes
    gc.disable()  # until all is loaded: nothing of it is garbage
    [root] = sys.argv[1:]
    sys.path.remove(root)  # our package is found by now: no other module is to be looked for there
    import pynvim

    code = 0
    sys.argv[1:] = [os.path.join(root, "rplugin", "python3", "acp_nvim_host.py")]  # pynvim loads the plugins named here
    try:
        pynvim.start_host()
    except (EOFError, OSError):
        pass
    except BaseException:
        code = 1
        traceback.print_exc()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Neovim sends it while it leaves
        atexit._run_exitfuncs()
        os._exit(code)

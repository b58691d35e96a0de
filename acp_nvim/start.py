"""The program that Neovim starts as the host; its arguments are the plugin's directory and its cache directory."""

from __future__ import annotations

import gc
import os
import sys

from acp_nvim import bytecode


def main() -> None:
    """Run the plugin in pynvim's host until Neovim exits.

    Then the host flushes its files and exits at once: Python would wait for idle threads, and Neovim waits up to 2 s
    for Python.
    """
    gc.disable()  # until all is loaded: nothing of it is garbage
    root, cache = sys.argv[1:]
    bytecode.use(os.path.join(cache, f"host.{sys.implementation.cache_tag}"))
    import atexit  # these after `use`, which loads them faster
    import signal
    import traceback

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

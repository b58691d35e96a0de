"""An ACP agent that does what a script says: `python scripted_agent.py SCRIPT.py [TRAFFIC.jsonl]`.

The script is Python; `Agent`, `Prompt`, `Request`, `Error`, `NO_ANSWER`, `STUBBORN`, `json`, `os`, `signal` and `time`
are known to it. It may define any of these, and nothing else is needed:

- `turn(agent, prompt)`: one prompt, in its own thread. Returns None (end_turn), a stop reason, a whole result, or
  NO_ANSWER; raises Error for an error answer.
- a function named after a method (`initialize`, `session_new`, `session_load`, `session_cancel`, ...) with
  (agent, request): answers it, in its own thread. Returns the result, or NO_ANSWER; raises Error.
- `opened(agent, session_id)`: right after the default answer to session/new.
- `start(agent)`: before anything is read. `at_eof(agent)`: at the end of stdin, instead of leaving.
- `run(agent)`: takes the place of all this, and answers everything itself; see `expect`, `handshake` and `serve`.
- `INITIALIZE`, `SESSION`: dicts, merged into the default results of initialize and session/new.
- `IGNORE_EOF`, `IGNORE_SIGTERM`, `STRING_IDS`: True or False.

A mistake in a script ends the agent with code 70 and a traceback on stderr.
"""

from __future__ import annotations

import os
import sys

# Run as a script, from anywhere: the package `tests` is found from here. All else is in a module: Python keeps no
# compiled form of the file that it is started with.
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tests.agents.scripted import main

if __name__ == "__main__":
    main()

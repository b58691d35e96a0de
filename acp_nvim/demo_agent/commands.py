"""Chooses what a prompt gets: one of the slash commands, or else the tour."""

import re
import sys

from acp_nvim.demo_agent import child, texts, tour
from acp_nvim.demo_agent.turn import ADVERTISED, ToolCall, Turn
from acp_nvim.demo_agent.wire import Json

SLOW_CHUNK_DELAY = 0.05  # seconds; with the length of texts.SLOW about ten seconds in all


def answer(turn: Turn, blocks: list[Json]) -> None:
    """Play the part that fits the prompt."""
    text = "\n".join(str(block.get("text", "")) for block in blocks if block["type"] == "text").strip()
    word = re.match(r"/(\w+)(?:\s|$)", text)
    if word is None:
        tour.play(turn, text, blocks)
    else:
        _COMMANDS.get(word[1], _unknown)(turn)


def _slow(turn: Turn) -> None:
    turn.say(texts.SLOW, SLOW_CHUNK_DELAY)


def _markdown(turn: Turn) -> None:
    turn.say(texts.MARKDOWN)


def _fail(turn: Turn) -> None:
    turn.say("Now a tool call that cannot work:\n\n")
    call = ToolCall(turn, "read", "Read a file that is not there")
    call.start()
    call.fail("There is no such file. (It never existed: this failure is on purpose.)")
    turn.say("It failed, as it should. An agent sees the failure too, and may try another way.\n")


def _crash(turn: Turn) -> None:
    turn.say("I shall crash now; what I wrote to stderr is in the log.\n")
    print("demo agent: crashing, because /crash asked for it", file=sys.stderr, flush=True)
    child.leave(3)


def _unknown(turn: Turn) -> None:
    listed = "\n".join(f"- `/{command['name']}`: {command['description']}" for command in ADVERTISED)
    turn.say(f"The demo agent knows these commands:\n\n{listed}\n\nAny other prompt starts the tour.\n")


_COMMANDS = {"slow": _slow, "markdown": _markdown, "table": _markdown, "fail": _fail, "crash": _crash}

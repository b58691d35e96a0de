"""What the demo agent does for a prompt: its commands and the tour."""

from __future__ import annotations

import re
import sys

from acp_nvim.demo_agent import child, files, texts
from acp_nvim.demo_agent.files import FileTrouble, Improvement, improve
from acp_nvim.demo_agent.turn import ADVERTISED, STEP_DELAY, ToolCall, Turn
from acp_nvim.demo_agent.wire import Json

STEPS = ("Read a file of the project", "Tell what is in it", "Propose a small improvement", "Offer to run a command")


class Plan:
    """The plan that the client shows; `next` ends one step and begins another."""

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._at = -1

    def next(self) -> None:
        """End the step that is in progress, begin the one after it, and send the plan (`plan`) to the client."""
        self._at += 1
        self._turn.update("plan", entries=[self._entry(index, step) for index, step in enumerate(STEPS)])

    def _entry(self, index: int, step: str) -> Json:
        status = "completed" if index < self._at else "in_progress" if index == self._at else "pending"
        return {"content": step, "priority": "low" if step is STEPS[-1] else "medium", "status": status}


def play(turn: Turn, text: str, blocks: list[Json]) -> None:
    """Play the tour, all of one turn: `text` and `blocks` of the prompt may name the file that it is about."""
    turn.think(texts.THOUGHT)
    plan = Plan(turn)
    plan.next()
    turn.pause(STEP_DELAY)
    path = files.pick(turn.session.cwd, text, blocks)
    content = _read(turn, path) if path is not None else None
    plan.next()
    if path is None:
        turn.say(texts.NO_FILE)
    elif content is not None:
        turn.say(texts.about(files.shown(turn.session.cwd, path), content))
    plan.next()
    if path is not None and content is not None:
        _improve(turn, path, content)
    plan.next()
    _command(turn, path if content is not None else None)
    plan.next()
    turn.say(texts.CLOSING)


def _read(turn: Turn, path: str) -> str | None:
    """The file's text; None when it cannot be read, which the user is told."""
    name = files.shown(turn.session.cwd, path)
    call = ToolCall(turn, "read", f"Read {name}", locations=[{"path": path, "line": 1}], rawInput={"path": path})
    call.start()
    try:
        content = files.read(turn, path)
    except FileTrouble as trouble:
        call.fail(str(trouble))
        turn.say(f"I could not read `{name}`. {trouble}\n\n")
        return None
    call.complete(f"{len(content.splitlines())} lines")
    return content


def _improve(turn: Turn, path: str, content: str) -> None:
    name = files.shown(turn.session.cwd, path)
    change = improve(name, content)
    if change is None:
        turn.say(f"I leave `{name}` as it is: I know of no change that could do no harm there.\n\n")
        return
    turn.say(f"{change.why}\n\n")
    diff = {"type": "diff", "path": path, "oldText": content, "newText": change.new_text}
    call = ToolCall(turn, "edit", change.title, content=[diff], locations=[{"path": path, "line": change.line}])
    if not call.allowed():
        call.fail()
        turn.say(f"You did not allow the edit, so I left `{name}` alone.\n\n")
        return
    call.start()
    try:
        _write(turn, path, content, change)
    except FileTrouble as trouble:
        call.fail(str(trouble))
        turn.say(f"I could not write `{name}`. {trouble}\n\n")
    else:
        call.complete()
        turn.say(f"`{name}` is changed.\n\n")


def _write(turn: Turn, path: str, content: str, change: Improvement) -> None:
    """Write, unless somebody else did while the user was asked."""
    if files.read(turn, path) != content:
        raise FileTrouble("The file has changed since I read it.")
    files.write(turn, path, change.new_text)


def _command(turn: Turn, path: str | None) -> None:
    """Offer a command that changes nothing, and show what it writes."""
    argv = ["ls", "-1"] if path is None else ["wc", "-l", "--", files.shown(turn.session.cwd, path)]
    line = " ".join(word for word in argv if word != "--")
    call = ToolCall(turn, "execute", f"`{line}`", rawInput={"command": line, "cwd": turn.session.cwd})
    if not call.allowed():
        call.fail()
        turn.say("You did not allow the command, so it did not run.\n\n")
        return
    call.start()
    try:
        code, output = turn.run(argv)
    except OSError as error:
        call.fail(f"{argv[0]}: {error.strerror or error}")
        turn.say(f"`{argv[0]}` could not be started here.\n\n")
        return
    if code == 0:
        call.complete(output)
    else:
        call.fail(f"{output}\n(exit code {code})")


SLOW_CHUNK_DELAY = 0.05  # seconds; with the length of texts.SLOW about ten seconds in all


def answer(turn: Turn, blocks: list[Json]) -> None:
    """Play the part that fits the prompt."""
    text = "\n".join(str(block.get("text", "")) for block in blocks if block["type"] == "text").strip()
    word = re.match(r"/(\w+)(?:\s|$)", text)
    if word is None:
        play(turn, text, blocks)
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

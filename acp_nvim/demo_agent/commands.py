"""The commands of the demo agent, and the tour that any other prompt starts."""

from __future__ import annotations

import re
import sys

from acp_nvim.demo_agent import child, features, files, texts
from acp_nvim.demo_agent.files import FileTrouble, improve
from acp_nvim.demo_agent.turn import ADVERTISED, STEP_DELAY, ToolCall, Turn
from acp_nvim.demo_agent.wire import Json

STEPS = ("Read a file of the project", "Tell what is in it", "Propose a small improvement", "Offer to run a command")


def _tour(turn: Turn, text: str, blocks: list[Json]) -> None:
    """Play the tour; `text` and `blocks` of the prompt may name the file that it shows."""
    turn.say(texts.THOUGHT, kind="agent_thought_chunk")
    _show_plan(turn, 0)
    turn.pause(STEP_DELAY)
    path = files.pick(turn.session.cwd, text, blocks)
    content = _read(turn, path) if path is not None else None
    _show_plan(turn, 1)
    if path is None:
        turn.say(texts.NO_FILE)
    elif content is not None:
        turn.say(texts.about(files.shown(turn.session.cwd, path), content))
    _show_plan(turn, 2)
    if turn.session.mode == "plan":
        turn.say(texts.PLAN_MODE)
        return
    if path is not None and content is not None:
        _improve(turn, path, content)
    _show_plan(turn, 3)
    _command(turn, path if content is not None else None)
    _show_plan(turn, 4)
    turn.say(texts.CLOSING)


def _show_plan(turn: Turn, current: int) -> None:
    """Send the plan with step `current` in progress, counted from 0."""
    entries = []
    for index, step in enumerate(STEPS):
        status = "completed" if index < current else "in_progress" if index == current else "pending"
        entries.append({"content": step, "priority": "low" if step is STEPS[-1] else "medium", "status": status})
    turn.update("plan", entries=entries)


def _read(turn: Turn, path: str) -> str | None:
    """Return the file's text; tell the user and return None when it cannot be read."""
    name = files.shown(turn.session.cwd, path)
    call = ToolCall(turn, "read", f"Read {name}", locations=[{"path": path, "line": 1}], rawInput={"path": path})
    call.start()
    try:
        content = files.read(turn, path)
    except FileTrouble as trouble:
        call.end("failed", str(trouble))
        turn.say(f"I could not read `{name}`. {trouble}\n\n")
        return None
    call.end("completed", f"{len(content.splitlines())} lines")
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
        call.end("failed")
        turn.say(f"You did not allow the edit, so I left `{name}` alone.\n\n")
        return
    call.start()
    try:
        if files.read(turn, path) != content:
            raise FileTrouble("The file has changed since I read it.")
        files.write(turn, path, change.new_text)
    except FileTrouble as trouble:
        call.end("failed", str(trouble))
        turn.say(f"I could not write `{name}`. {trouble}\n\n")
    else:
        call.end("completed")
        turn.say(f"`{name}` is changed.\n\n")


def _command(turn: Turn, path: str | None) -> None:
    """Offer to run a command that changes nothing, and show its output."""
    argv = ["ls", "-1"] if path is None else ["wc", "-l", "--", files.shown(turn.session.cwd, path)]
    line = " ".join(word for word in argv if word != "--")
    call = ToolCall(turn, "execute", f"`{line}`", rawInput={"command": line, "cwd": turn.session.cwd})
    if not call.allowed():
        call.end("failed")
        turn.say("You did not allow the command, so it did not run.\n\n")
        return
    call.start()
    try:
        code, output = turn.run(argv)
    except OSError as error:
        call.end("failed", f"{argv[0]}: {error.strerror or error}")
        turn.say(f"`{argv[0]}` could not be started here.\n\n")
        return
    if code == 0:
        call.end("completed", output)
    else:
        call.end("failed", f"{output}\n(exit code {code})")


SLOW_CHUNK_DELAY = 0.05  # seconds; with the length of texts.SLOW about ten seconds in all


def answer(turn: Turn, blocks: list[Json]) -> None:
    """Run the slash command of the prompt, or the tour if it has none."""
    text = "\n".join(str(block.get("text", "")) for block in blocks if block["type"] == "text").strip()
    word = re.match(r"/(\w+)(?:\s|$)", text)
    if word is None:
        _tour(turn, text, blocks)
    elif word[1] == "slow":
        turn.say(texts.SLOW, SLOW_CHUNK_DELAY)
    elif word[1] in ("markdown", "table"):
        turn.say(texts.MARKDOWN)
    elif word[1] == "edits":
        features.edits(turn, text, blocks)
    else:
        SIMPLE.get(word[1], _unknown)(turn)


def _fail(turn: Turn) -> None:
    turn.say("Now a tool call that cannot work:\n\n")
    call = ToolCall(turn, "read", "Read a file that is not there")
    call.start()
    call.end("failed", "There is no such file. (It never existed: this failure is on purpose.)")
    turn.say("It failed, as it should. An agent sees the failure too, and may try another way.\n")


def _crash(turn: Turn) -> None:
    turn.say("I shall crash now; what I wrote to stderr is in the log.\n")
    print("demo agent: crashing, because /crash asked for it", file=sys.stderr, flush=True)
    child.leave(3)


def _unknown(turn: Turn) -> None:
    listed = "\n".join(f"- `/{command['name']}`: {command['description']}" for command in ADVERTISED)
    turn.say(f"The demo agent knows these commands:\n\n{listed}\n\nAny other prompt starts the tour.\n")


SIMPLE = {"fail": _fail, "crash": _crash, "form": features.form, "image": features.image, "terminal": features.terminal}

"""What the model does: a prompt names a scene and a directory, `scene:edit in:/path`, and words, `word:plum`."""

from __future__ import annotations

import re
from urllib.parse import unquote

from tests.interop.model.reply import Asked, Part, Reply, Say, Think
from tests.interop.model.tools import Work, call, is_searched

SCENE = re.compile(r"scene:(\w+) in:(\S+)")
WORD = re.compile(r"word:(\w+)")
ABOVE = re.compile(r"above:(\S+)")
"""What stands above the line that is edited, quoted as in an URL: for who can only write whole files."""
OLD, NEW = 'print("hello")', 'print("hello, world")'
ADDED = "# sums"
LATE, BEHIND = "late=1", "behind"
"""What commands append that outlive a cancel, and a turn."""
LATE_COMMAND, BEHIND_COMMAND = (
    f"timeout {time} tail -f /dev/null; echo {word}" for time, word in ((5, LATE), (3, BEHIND))
)
MODULE = "shapes.py"
DELEGATED = "look into it"
CHILD_FILE = "CHILD.md"
AWAITED = "task-notification"
"""In what an agent says in the user's name when a command in the background has ended."""
GREETING = (
    "Here is what I **found**.\n\n1. `main.py` prints\n2. `util.py` adds\n\n"
    "```python\ndef add(a, b):\n    return a + b\n```\n\nUnicode: héllo 世界 😀 café. That is all of it.\n"
)
SLOW = "".join(f"word number {number}, " for number in range(1500))
SIDE = Reply([Say("A short title", 1)])
"""The answer to what an agent asks on its own account, such as a title for the conversation."""


def delegating(task: str, subagent: str) -> list[tuple[list[Part], Work | None]]:
    """The steps of who has a subagent do the task, and waits for it."""
    work = Work("delegate", title=DELEGATED, task=task, who="general-purpose", behind="no")
    waits: list[tuple[list[Part], Work | None]] = [([], Work("wait", subagent=subagent))] if subagent else []
    return [([Say("I delegate it.\n", 1)], work), *waits, ([Say("The subagent is over.\n")], None)]


def scene(name: str, directory: str, above: str = "", subagent: str = "") -> list[tuple[list[Part], Work | None]]:
    """The steps: what is said, and then the work for a tool, if any."""
    main, notes = f"{directory}/main.py", f"{directory}/NOTES.md"
    read = Work("read", path=main)
    edit = Work("edit", path=main, old=OLD, new=NEW, whole=f"{above}{NEW}\n")
    add = Work("edit", path=f"{directory}/util.py", old="def add", new=f"{ADDED}\ndef add")
    behind = Work("run", command="sleep 2; echo done", behind="yes")
    waits = [([], Work("read", path=f"{directory}/util.py")), ([], behind), ([Say("Waiting for it.\n")], None)]
    steps: dict[str, list[tuple[list[Part], Work | None]]] = {
        "greet": [([Think("They greet me. I answer."), Say(GREETING, 30)], None)],
        "edit": [([Say("Reading.\n", 2)], read), ([Say("Editing.\n", 2)], edit), ([Say("Edited it.\n")], None)],
        "work": [
            ([Think("I look first."), Say("Reading.\n", 2)], read),
            ([], edit),
            ([], Work("write", path=notes, content="# Notes\n\nmade by a script\n")),
            ([], Work("run", command="echo out-1; echo err-1 >&2; ls; python3 main.py")),
            ([Say("All of it is done.\n")], None),
        ],
        "run": [([], Work("run", command="echo out-1; echo err-1 >&2; exit 3")), ([Say("It ended with 3.\n")], None)],
        "outlive": [
            ([], Work("run", command=f"{LATE_COMMAND} >> {directory}/util.py")),
            ([Say("It is over.\n")], None),
        ],
        "leave": [
            ([], Work("run", command=f"{BEHIND_COMMAND} >> {directory}/notes.txt", behind="yes")),
            ([Say("It runs in the background.\n")], None),
        ],
        "tools": [
            ([Say("Looking.\n", 2)], Work("diagnostics", path=f"{directory}/{MODULE}")),
            ([], Work("rename", path=f"{directory}/{MODULE}", line="4", symbol="area", new_name="surface")),
            ([Say("Renamed it.\n")], None),
        ],
        "search_tools": [([], Work("search", query="select:mcp__nvim__diagnostics,mcp__nvim__rename"))],
        "slow": [([Say(SLOW, 1500)], None)],
        "later": [*waits, ([], add), ([Say("Added it.\n")], None)],
        "later_slow": [*waits, ([Say(SLOW, 1500)], None)],
        "delegate": delegating(f"scene:child in:{directory}", subagent),
        "delegate_slow": delegating(f"scene:slow in:{directory}", subagent),
        "child": [
            ([Say("The child reads.\n", 2)], read),
            ([], Work("write", path=f"{directory}/{CHILD_FILE}", content="made by a child\n")),
            ([Say("The child is done.\n", 2)], None),
        ],
    }
    return steps.get(name, [([Say(f"There is no scene {name}.\n")], None)])


def reply(asked: Asked) -> tuple[str, Reply]:
    """The name of the scene, and what comes next in it."""
    found = [match for text in asked.said for match in SCENE.finditer(text)]
    if not found or not asked.tools:
        return "", SIDE
    name, directory = found[-1].groups()
    if name == "recall":
        words = list(dict.fromkeys(word for text in asked.said for word in WORD.findall(text)))
        return name, Reply([Say(f"You told me: {', '.join(words) or 'nothing'}.\n")])
    above = ABOVE.findall(found[-1].string)
    steps = scene(name, directory, f"{unquote(above[-1])}\n" if above else "", asked.subagent)
    if name == "tools" and is_searched(asked.tools):
        steps = [*scene("search_tools", directory), *steps]
    heard = any(AWAITED in text for text in asked.said[asked.scene :])
    said, work = steps[min(asked.results + heard, len(steps) - 1)]
    parts = [*said, call(work, asked.tools)] if work else said
    return name, Reply(parts, 0.05 if name.endswith("slow") else 0.002)

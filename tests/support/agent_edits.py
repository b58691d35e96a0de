"""The same work on files, done in each way that an agent has: what is there before and after, and the agent."""

from __future__ import annotations

import json
import os
import stat
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

WAYS = ("fs/write", "a tool with a diff", "a tool with locations", "a command", "a terminal")
NAMING = WAYS[:3]
"""Those that tell which files they are about."""

# The prompt is what is to be done, as JSON.
AGENT = """
import subprocess
OPTIONS = [{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]

def turn(agent, prompt):
    work = json.loads(prompt.text)
    DO[work["way"]](prompt, work)
    agent.note(done=True)

def by_fs(prompt, work):
    for path, old, new in work["texts"]:
        prompt.write(path, new)

def by_tool(prompt, work):
    places = [{"path": path} for path in work["names"]]
    diffs = [{"type": "diff", "path": path, "oldText": old, "newText": new} for path, old, new in work["texts"]]
    more = {"content": diffs} if work["way"] == "a tool with a diff" else {}
    fields = {"title": "Edit", "kind": "edit", "locations": places, "status": "pending", **more}
    prompt.update("tool_call", toolCallId="1", **fields)
    if work["asks"]:
        prompt.ask("1", OPTIONS, **fields)
    prompt.update("tool_call_update", toolCallId="1", status="in_progress")
    prompt.until_heard()  # what a busy host hears late would be nobody's
    subprocess.run(work["shell"], shell=True, check=True, cwd=work["cwd"])
    prompt.update("tool_call_update", toolCallId="1", status="completed")

def by_command(prompt, work):
    fields = {"title": work["shell"], "kind": "execute", "rawInput": {"command": work["shell"]}}
    prompt.update("tool_call", toolCallId="1", status="in_progress", **fields)
    prompt.until_heard()
    subprocess.run(work["shell"], shell=True, check=True, cwd=work["cwd"])
    prompt.update("tool_call_update", toolCallId="1", status="completed")

def by_terminal(prompt, work):
    answer = prompt.run("sh", "-ec", work["shell"])
    assert answer["exitStatus"]["exitCode"] == 0, answer

DO = {"fs/write": by_fs, "a tool with a diff": by_tool, "a tool with locations": by_tool, "a command": by_command,
      "a terminal": by_terminal}
"""

Tree = dict[str, bytes]
"""What files there are: a name that ends with * is that of an executable one."""


@dataclass(frozen=True)
class Work:
    """`shell` makes `after` of `before`, and of nothing else.

    `shown` is what a list says: operation, lines added and removed, the old name; `hunks` are first row, number of
    rows, and old lines.
    """

    before: Tree
    after: Tree
    shell: str
    shown: dict[str, tuple[str, int, int, str | None]]
    hunks: dict[str, list[tuple[int, int, list[str]]]] = field(default_factory=dict)

    @property
    def is_written(self) -> bool:
        """Whether who can only write texts can do it."""
        trees = self.before | self.after
        return self.before.keys() <= self.after.keys() and not any(
            name.endswith("*") or b"\0" in data for name, data in trees.items()
        )

    def prompt(self, way: str, cwd: Path, asks: bool = False) -> str:
        """Return the prompt that tells the agent what to do."""
        names = sorted(self.before.keys() ^ self.after.keys()) + [
            name for name in self.before if name in self.after and self.before[name] != self.after[name]
        ]
        texts = [
            [
                str(cwd / name),
                None if name not in self.before else self.before[name].decode(),
                self.after[name].decode(),
            ]
            for name in names
            if name in self.after and b"\0" not in self.after[name]
        ]
        return json.dumps(
            {
                "way": way,
                "cwd": str(cwd),
                "shell": self.shell,
                "names": [str(cwd / name.rstrip("*")) for name in names],
                "texts": texts,
                "asks": asks,
            }
        )


def lay_out(directory: Path, tree: Tree) -> None:
    """Write these files."""
    for name, data in tree.items():
        path = directory / name.rstrip("*")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755 if name.endswith("*") else 0o644)


def look(directory: Path, *, git: bool = False) -> Tree:
    """The files that are there, or (`git`) what is in `.git`."""
    found = {}
    for where, directories, names in os.walk(directory):
        if not git and ".git" in directories:
            directories.remove(".git")
        for name in names:
            path = Path(where, name)
            try:
                mark = "*" if path.stat().st_mode & stat.S_IXUSR else ""
                if name != ".git":
                    found[f"{path.relative_to(directory)}{mark}"] = path.read_bytes()
            except FileNotFoundError:  # it was there for a moment, while another was written
                if os.path.lexists(path):
                    raise
    return found


def git(directory: Path, *words: str) -> str:
    """What the user's git does there."""
    user = ["-c", "user.name=User", "-c", "user.email=user@example.org"]
    answer = subprocess.run(["git", *user, *words], cwd=directory, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, (words, answer.stderr)
    return answer.stdout


OLD = b"one\ntwo\nthree\nfour\nfive\n"
NEW = b"one\nTWO\nthree\nfour\nfive\nsix\n"
OTHER = b"".join(b"line %d of another file\n" % number for number in range(20))
BINARY = bytes(range(256))

WORKS = {
    "edits": Work(
        {"f": OLD, "d/g": OTHER},
        {"f": NEW, "d/g": OTHER.replace(b"line 7 of another file\n", b""), "e/new": b"new\n"},
        "sed -i -e s/two/TWO/ -e '$ a six' f; sed -i '/line 7 /d' d/g; mkdir e; echo new >e/new",
        {"f": ("modify", 2, 1, None), "d/g": ("modify", 0, 1, None), "e/new": ("add", 1, 0, None)},
        {
            "f": [(1, 1, ["two"]), (5, 1, [])],
            "d/g": [(7, 0, ["line 7 of another file"])],
            "e/new": [(0, 1, [])],
        },
    ),
    "a deletion": Work({"f": OLD, "g": OTHER}, {"g": OTHER}, "rm f", {"f": ("delete", 0, 5, None)}),
    "a new name": Work({"g": OTHER}, {"d/h": OTHER}, "mkdir d; mv g d/h", {"d/h": ("rename", 0, 0, "g")}, {"d/h": []}),
    "a new name and an edit": Work(
        {"g": OTHER},
        {"h": OTHER.replace(b"line 3 of", b"LINE 3 of")},
        "sed -i 's/line 3 of/LINE 3 of/' g; mv g h",
        {"h": ("rename", 1, 1, "g")},
        {"h": [(3, 1, ["line 3 of another file"])]},
    ),
    "modes": Work(
        {"f": OLD, "x*": OLD},
        {"f*": OLD, "x": OLD},
        "chmod +x f; chmod a-x x",
        {"f": ("mode", 0, 0, None), "x": ("mode", 0, 0, None)},
        {"f": [], "x": []},
    ),
    "bytes": Work(
        {"b": BINARY, "c": BINARY * 2},
        {"b": BINARY[::-1], "new": BINARY},
        'cp b new; rm c; : >b; i=255; while [ $i -ge 0 ]; do printf "\\\\$(printf %o $i)" >>b; i=$((i-1)); done',
        {"b": ("binary", 0, 0, None), "new": ("add", 0, 0, None), "c": ("delete", 0, 0, None)},
    ),
    "line ends": Work(
        {"f": OLD, "g": OLD[:-1]},
        {"f": OLD.replace(b"\n", b"\r\n"), "g": OLD},
        "sed -i 's/$/\\r/' f; echo >>g",
        {"f": ("modify", 0, 0, None), "g": ("modify", 0, 0, None)},
        {"f": [], "g": []},
    ),
}

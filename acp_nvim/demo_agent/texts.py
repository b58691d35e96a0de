"""The fixed texts of the demo agent, and its description of a file."""

import re

THOUGHT = (
    "I am a demonstration: there is no model behind me, and these thoughts are fixed text. "
    "What follows is real, though: a plan, a file of this project, an edit that I have to ask for, and a command. "
)

NO_FILE = (
    "## No file to show\n\n"
    "I found no small text file in this directory, so I have nothing to read or to change. "
    "Name a file in your prompt, or give one as context, and ask again.\n\n"
)

CLOSING = (
    "---\n\n"
    "**That was the tour.** The file, the diff, the permissions and the command were real; only the words were fixed, "
    "because the demo agent has no model. "
    "Any agent that speaks the Agent Client Protocol works here in the same way.\n\n"
    "Try next:\n\n"
    "- `:AcpReview` lists the changes, to keep or reject them; `:AcpRestore` takes back a whole turn.\n"
    "- `/edits` changes a file in two places, `/form` asks you something, `/image` shows a picture, "
    "`/terminal` runs a command in the editor.\n"
    "- `/slow` talks for ten seconds: cancel it, or send another prompt, which is queued.\n"
    "- `:AcpConfig mode` sets what I ask for: `Accept edits` asks for no edit, `Plan` changes nothing.\n"
    "- `:AcpFork` starts another session from here, `:AcpChat! demo` a new one; `:AcpSessions` lists all.\n\n"
    "`:AcpTutor` shows all of this step by step, in five minutes.\n"
)

PLAN_MODE = (
    "In the mode *Plan* I change nothing and run nothing. `:AcpConfig mode` sets another one; "
    "then I fix what I have found.\n"
)

MARKDOWN = """\
# A heading

Some *emphasis*, **more of it**, `code in a line`, and a [link](https://agentclientprotocol.com).

## Lists

1. First
2. Second
   - a point below it
   - another one

- [x] done
- [ ] not done

> A quotation, which
> goes on in a second line.

## Code

```python
def greet(name: str) -> str:
    return f"Hello, {name}!"
```

```diff
- an old line
+ a new line
```

## A table

| Command     | What it does               | Time |
|-------------|----------------------------|-----:|
| `/slow`     | streams text               | 10 s |
| `/edits`    | changes a file twice       |  1 s |
| `/markdown` | shows this                 |  2 s |
| `/fail`     | lets a tool call fail      |  1 s |
| `/crash`    | ends the agent's process   |  0 s |

Wide characters: 日本語, emoji 🎉, combining e\u0301.
"""

_SENTENCES = (
    "This text is slow on purpose. ",
    "Cancel the turn whenever you like: the agent stops at once, and the session goes on. ",
    "Meanwhile the editor stays free; move around, edit, open another session. ",
)

SLOW = "".join(f"\n\n**Part {part} of 5.** " + "".join(_SENTENCES) for part in range(1, 6)) + "\n\nDone.\n"

_LANGUAGES = {
    "py": "python", "js": "javascript", "ts": "typescript", "rs": "rust", "sh": "bash", "md": "markdown", "rb": "ruby",
}  # fmt: skip
_DEFINITION = re.compile(r"^[ \t]*(?:async |local )?(?:def|class|fn|func|function) +([\w.:]+)", re.MULTILINE)
_HEAD_LINES = 8
_HEAD_COLUMNS = 120


def about(name: str, content: str) -> str:
    """Describe a file by its definitions, its first lines and its size."""
    lines = content.splitlines()
    names = _DEFINITION.findall(content)
    defined = ", ".join(f"`{name}`" for name in names[:5]) or "nothing that I recognise"
    return (
        f"## What is in `{name}`\n\n"
        f"- It defines {defined}.\n"
        f"- Its longest line has **{max(map(len, lines), default=0)}** characters.\n\n"
        f"It begins like this:\n\n{_head(name, lines)}\n\n"
        f"| lines | empty | words | characters |\n|------:|------:|------:|-----------:|\n"
        f"| {len(lines)} | {sum(not line.strip() for line in lines)} | {len(content.split())} | {len(content)} |\n\n"
    )


def _head(name: str, lines: list[str]) -> str:
    """Return the first lines as a code block, with a fence that is longer than any in them."""
    ending = name.rpartition(".")[2] if "." in name else ""
    head = "\n".join(line[:_HEAD_COLUMNS] for line in lines[:_HEAD_LINES])
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", head)), default=0))
    return f"{fence}{_LANGUAGES.get(ending, ending)}\n{head}\n{fence}"

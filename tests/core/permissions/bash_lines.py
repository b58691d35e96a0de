"""Lines of bash that run `acp_marker` in some way, or seem to: a grammar of what can be around a command.

Everything that a line can do is harmless: it runs the marker and programs that run others, and writes files into its
directory. The forms are in `bash_lines.txt`: §C is a command, §Q a quiet one, §W a word, §S a substitution, §P a part
of a word, and §X what follows the name in `${name...}`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

MARKER: Final = "acp_marker"
PROGRAMS: Final = ("bash", "cat", "env", "find", "nice", "nohup", "sh", "timeout", "xargs")
"""Besides the marker, the only programs that a line can run."""

Pick = Callable[[Sequence[str]], str]
_ESCAPES = {r"\n": "\n", r"\t": "\t", r"\s": " ", "\\\\": "\\"}
_PLACE = re.compile(r"(['`]?)§([CQWSPX])(\1)")


def _forms() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for section in Path(__file__).with_suffix(".txt").read_text().removeprefix("=== ").split("\n=== "):
        name, *forms = section.removesuffix("\n").split("\n")
        found[name] = [re.sub(r"\\[nts\\]", lambda escape: _ESCAPES[escape[0]], form) for form in forms]
    return found


FORMS: Final = _forms()
_QUIET_LINES = [*FORMS["quiet"], "echo §P", "echo §P§P"]
_LEAVES = {
    "C": FORMS["commands"],
    "Q": FORMS["quiet"],
    "W": FORMS["parts"],
    "S": ["$(acp_marker)", "`acp_marker`"],
    "P": FORMS["parts"],
    "X": [":-a"],
}
_ANY = [*FORMS["simple"], *FORMS["compound"], *FORMS["wrapped"], *FORMS["simple"], *FORMS["compound"]]
_BRANCHES = {
    "C": [*FORMS["commands"], *_ANY],
    "Q": _QUIET_LINES,
    "W": [*FORMS["words"], "§S", "§P"],
    "S": FORMS["substitutions"],
    "P": FORMS["parts"],
    "X": FORMS["expansions"],
}


def line(pick: Pick, depth: int = 3) -> str:
    """A line, made of forms that `pick` chooses; often with some noise in it."""
    text = _filled(pick(_ANY), pick, depth)
    for _ in range(int(pick("0000112"))):
        at = int(pick([str(number) for number in range(len(text) + 1)]))
        text = text[:at] + pick(FORMS["noise"]) + text[at:]
    return text


def _filled(form: str, pick: Pick, depth: int) -> str:
    """The form with all places filled, so that its quotes and backquotes hold."""

    def fill(place: re.Match[str]) -> str:
        quote, kind, _ = place.groups()
        text = _filled(pick((_BRANCHES if depth > 0 else _LEAVES)[kind]), pick, depth - 1)
        if quote == "'" and kind == "C":
            return shlex.quote(text)
        if quote == "`":
            text = re.sub(r"([\\`$])", r"\\\1", text) if "`" in text else text
        return f"{quote}{text}{quote}"

    return _PLACE.sub(fill, form)

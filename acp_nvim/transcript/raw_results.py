"""Finds what people can read in the raw output of a tool call, which has the shape of the agent's own tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp.diff import Diff
from acp_nvim.acp.schema_common import EmbeddedResource, TextContent
from acp_nvim.acp.terminal import Terminal
from acp_nvim.acp.tool_call import Item, Shown, TerminalShown, ToolCall
from acp_nvim.lazy import pattern

DEPTH: Final = 6
"""Depth of nested values that is searched: agents use up to three."""
WORDS_CHARS: Final = 4096
"""Length of a text that may be an error beside other content; a longer one is output."""

_OUTPUTS: Final = (
    "formatted_output", "formattedOutput", "aggregated_output", "aggregatedOutput", "output", "stdout", "content",
    "contents", "text", "result", "results", "resource", "data",
)  # fmt: skip
"""Members with what a tool has printed or found; a later one is taken only if the ones before are missing or blank."""
_MORE: Final = ("stderr", "error", "errors", "message", "reason", "detail", "details")
"""Members with what went wrong, shown with the output."""
_CODES: Final = (
    "exit_code", "exitCode", "exit_status", "exitStatus", "exit", "return_code", "returnCode", "returncode",
)  # fmt: skip
_SIGNALS: Final = ("signal", "termination_signal", "terminationSignal", "signalName")
_INSIDE: Final = ("metadata", "result", "output", "error", "data")
"""Members that may have the exit code inside."""
_MEDIA: Final = ("image", "audio")
"""Types of content blocks whose data is no text."""
_EXIT: Final = pattern(r"(?i)\b(?:exit|exited|code|status|returned)\b\D{0,20}(\d+)")


class Result(msgspec.Struct, frozen=True):
    """What the raw output says beyond the content: a text, and how the command ended if it failed."""

    text: str = ""
    exit_code: int | None = None
    signal: str | None = None


NOTHING: Final = Result()


def raw_result(call: ToolCall, items: Iterable[Item], terminals: Mapping[str, Terminal]) -> Result:
    """Return what is to be shown of the call's raw output beside its `items`; nothing that they show already.

    All of it if the items have no words, except that a change says enough of a call that has not failed. Beside other
    words only the error of a failed call is shown, and the exit code of a command.
    """
    raw = call.raw_output
    if raw is None or raw == "":
        return NOTHING
    failed = call.status == "failed"
    words, says_enough, has_exit = _said(items, terminals, failed)
    code, signal = (None, None) if has_exit else _ending(raw)
    if says_enough or not _is_blank(words):
        text = _unknown(_error(raw), words) if failed else ""
        if call.kind != "execute" or _names(words, code):
            code = signal = None
        return Result(text, code, signal)
    text = readable(raw)
    if not text and failed and code is None and signal is None and isinstance(raw, dict | list) and raw:
        text = json.dumps(raw, ensure_ascii=False, indent=2)
    return Result("" if _is_blank(text) else text, None if _names(text, code) else code, signal)


def _said(items: Iterable[Item], terminals: Mapping[str, Terminal], failed: bool) -> tuple[str, bool, bool]:
    """Return the words of the items, whether there is enough besides, and whether a command's end is shown."""
    words, says_enough, has_exit = [], False, False
    for one in items:
        match one:
            case Shown(TextContent(text=text)):
                words.append(text)
            case Shown(EmbeddedResource(resource=resource)) if resource.text is not UNSET:
                words.append(resource.text)
                says_enough = True
            case TerminalShown(terminal_id):
                if (terminal := terminals.get(terminal_id)) is not None:
                    first, _, last = terminal.ends()
                    words += [*first, *last]
                    has_exit = has_exit or terminal.exit is not None
            case Diff():
                says_enough = says_enough or not failed
            case _:
                says_enough = True
    return "\n".join(words), says_enough, has_exit


def readable(raw: Any, depth: int = 0) -> str:
    """Return the texts of a raw output, in order; "" if it has none of a known kind.

    `depth` is the number of values around it.
    """
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool) or raw is None or depth > DEPTH:
        return ""
    if isinstance(raw, int | float):
        return str(raw)
    if isinstance(raw, list):
        return _joined(readable(one, depth + 1) for one in raw)
    if not isinstance(raw, dict) or raw.get("type") in _MEDIA:
        return ""
    found = [next((text for name in _OUTPUTS if (text := _member(raw, name, depth)).strip()), "")]
    for name in _MORE:
        text = _member(raw, name, depth)
        found.append(_unknown(text, "\n".join(found)))
    return _joined(found)


def _member(raw: Mapping[str, Any], name: str, depth: int) -> str:
    value = raw.get(name)
    return "" if isinstance(value, int | float) else readable(value, depth + 1)


def _error(raw: Any) -> str:
    """Return the error of a raw output; a short text is one."""
    if isinstance(raw, str):
        text = raw
    elif isinstance(raw, dict):
        inside = [raw, *(one for name in ("result", "output") if isinstance(one := raw.get(name), dict))]
        text = _joined(_member(one, name, 0) for one in inside for name in _MORE)
    else:
        text = readable(raw)
    return text if len(text) <= WORDS_CHARS else ""


def _ending(raw: Any) -> tuple[int | None, str | None]:
    """Return the exit code, if it is not 0, and the signal of a command."""
    if not isinstance(raw, dict):
        return None, None
    for one in (raw, *(inside for name in _INSIDE if isinstance(inside := raw.get(name), dict))):
        codes = [one[name] for name in _CODES if type(one.get(name)) is int]
        signals = [one[name] for name in _SIGNALS if one.get(name) and isinstance(one[name], str)]
        if codes or signals:
            return (codes[0] or None) if codes else None, signals[0] if signals else None
    return None, None


def _names(text: str, code: int | None) -> bool:
    """Return whether a text names an exit code, at its beginning or its end."""
    return code is not None and str(code) in (*_EXIT.findall(text[:200]), *_EXIT.findall(text[-200:]))


def _unknown(text: str, known: str) -> str:
    """Return the lines of a text that `known` does not have; "" if it has all words of it."""
    if _is_blank(text) or _is_blank(known):
        return "" if _is_blank(text) else text
    if " ".join(text.split()) in " ".join(known.split()):
        return ""
    lines = {line.strip() for line in known.split("\n")}
    return "\n".join(line for line in text.split("\n") if line.strip() not in lines).strip("\n")


def _is_blank(text: str) -> bool:
    return not text or text.isspace()


def _joined(texts: Iterable[str]) -> str:
    """Return the texts that are not blank, each on lines of its own."""
    kept: Sequence[str] = [text for text in texts if text.strip()]
    return "\n".join([*(text.rstrip("\n") for text in kept[:-1]), *kept[-1:]])

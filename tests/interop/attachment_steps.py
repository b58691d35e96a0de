"""The step about what a prompt attaches: unsaved text and links reach the model, with their names and lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from tests.interop.stage import NotOfferedError, Stage

WHOLE, PART, ODD = "whole.py", "part.py", "odd #1.py"
FOLDERS, BINARIES = ["folder #2", "plain_folder"], ["data #3.bin", "plain_data.bin"]
TEXTS = {WHOLE: ["# all of it, unsaved"], PART: ["# one", "# two, unsaved", "# three"], ODD: ["# odd, unsaved"]}
SAVED = "# saved\n"
LINES = re.compile(r"part\.py(?:#L|:)2(?:-3)?\b")
"""Some agents tell their model only where a text begins."""
ATTACH = """
local context, buffers = require("acp_nvim.mentions.context"), {}
local cwd, text, texts, whole, part, odd, folders, binaries = ...
for name, lines in pairs(texts) do
  buffers[name] = vim.fn.bufadd(cwd .. "/" .. name)
  vim.fn.bufload(buffers[name])
  vim.bo[buffers[name]].buflisted = true
  vim.api.nvim_buf_set_lines(buffers[name], 0, -1, true, lines)
end
local items = {
  context.buffer(buffers[whole], cwd, false), context.lines(buffers[part], 2, 3, cwd),
  context.buffer(buffers[odd], cwd, false),
}
for _, folder in ipairs(folders) do
  table.insert(items, context.link(cwd .. "/" .. folder, cwd))
end
for _, binary in ipairs(binaries) do
  table.insert(items, context.file(cwd .. "/" .. binary, cwd))
end
return { require("acp_nvim").prompt(text, { context = items }) }
"""
DISCARD = """
for _, name in ipairs({ ... }) do
  vim.api.nvim_buf_delete(vim.fn.bufnr(name), { force = true })
end
"""


def attachments(stage: Stage) -> str:
    """Texts that are only in buffers, directories and binary files; the text of the prompt names none of them."""
    if stage.agent.is_example:
        raise NotOfferedError
    for name in TEXTS:
        (stage.project / name).write_text(SAVED)
    for name in FOLDERS:
        (stage.project / name).mkdir()
    for name in BINARIES:
        (stage.project / name).write_bytes(b"a\0b")
    before = len(stage.ends())
    text = f"scene:recall in:{stage.project} attached"
    sent = stage.nvim.lua(ATTACH, str(stage.project), text, TEXTS, WHOLE, PART, ODD, FOLDERS, BINARIES)
    assert sent == [True], sent
    stage.wait(lambda: len(stage.ends()) > before, "the end of the turn")
    assert stage.ends()[-1]["stop_reason"] == "end_turn", stage.describe()
    told = "\n".join(strings(json.loads(stage.model.last_body)))
    for name, lines in TEXTS.items():
        assert lines[-1] in told, f"the text of {name} did not arrive: {told.rpartition(text)[2][:4000]}"
        assert is_named(stage, name, told), f"{name} is not named: {told.rpartition(text)[2][:4000]}"
    assert TEXTS[PART][0] not in told, told.rpartition(text)[2][:4000]
    assert LINES.search(told.replace(text, "")), f"the lines are not named: {told.rpartition(text)[2][:4000]}"
    for name in (*FOLDERS, *BINARIES):
        assert is_named(stage, name, told), f"the link to {name} did not arrive: {told.rpartition(text)[2][:4000]}"
    paths = [str(stage.project / name) for name in TEXTS]
    stage.nvim.lua(DISCARD, *paths)
    return "in words" if any("Attached: " in one for one in said(stage)) else "as they are"


def is_named(stage: Stage, name: str, told: str) -> bool:
    """Whether the model can find a file: by its name, or by its URI."""
    return name in told or f"file://{quote(str(stage.project / name))}" in told


def said(stage: Stage) -> list[str]:
    """The texts that the agent got with its last prompt."""
    sent = [one for way, one in stage.wire.messages() if way == "sent" and one.get("method") == "session/prompt"]
    return [block.get("text", "") for block in sent[-1]["params"]["prompt"]]


def strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value, in their order."""
    if isinstance(value, str):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    for one in inner:
        yield from strings(one)

"""A whole turn with every secret of the table, in everything that may be stored: none of them is on disk afterwards."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

from tests.support.agent_scripts import agent_script
from tests.support.cases import case
from tests.support.editor import HeadlessEditor
from tests.support.git_objects import contents
from tests.support.secret_table import READABLE, SECRETS, shown

LEAK = 7
TEXTS = [one.text for one in SECRETS]
HARMLESS = "\n\n".join(READABLE)

SCRIPT = """
import sys

TEXTS = TEXTS_OF_SECRETS
HARMLESS = HARMLESS_TEXTS

def turn(agent, prompt):
    if "again" in prompt.text:
        prompt.say("You said: " + prompt.text)
        return
    for number, text in enumerate(TEXTS):
        middle = len(text) * 2 // 3
        for piece in ("Look:" + chr(10) + text[:middle], text[middle:] + chr(10), "and more words." + chr(10)):
            prompt.say(piece)
        name = "c" + str(number)
        prompt.tool(name, "run " + text[:80], kind="execute", status="in_progress", rawInput={"command": text})
        for end in (middle, len(text)):
            output = [{"type": "content", "content": {"type": "text", "text": text[:end]}}]
            prompt.tool_update(name, content=output, rawOutput={"output": text[:end]})
        prompt.tool_update(name, status="completed")
        agent.stderr(text + chr(10) + "and more words" + chr(10))
        thought = {"sessionUpdate": "agent_thought_chunk", "content": {"type": "text", "text": text}}
        agent.update(prompt.session_id, thought)
    entries = [{"content": text, "priority": "low", "status": "pending"} for text in TEXTS]
    agent.update(prompt.session_id, {"sessionUpdate": "plan", "entries": entries})
    agent.update(prompt.session_id, {"sessionUpdate": "session_info_update", "title": TEXTS[0]})
    agent.raw(("no JSON: " + TEXTS[1] + chr(10)).encode())
    prompt.ask("c1", rawInput={"command": TEXTS[-1]})
    prompt.say(chr(10) + HARMLESS + chr(10) + "That is all.")
"""


def stored(nvim: HeadlessEditor, *more: Path) -> str:
    """The text of all files that the plugin has written, with the escapes of JSON undone, and of `more`."""
    found = []
    for path in [*nvim.places.ours(), *more]:
        if path.is_file() and "drafts" not in path.parts and "objects" not in path.parts:
            found.append(path.read_bytes().decode("utf-8", "replace"))
        if path.name == "objects":
            found.append(contents(path).decode("utf-8", "replace"))
    text = "\n".join(found)
    return text.replace("\\n", "\n").replace("\\r", "\r").replace('\\"', '"').replace("\\\\", "\\")


def exported(nvim: HeadlessEditor, path: Path, bang: str = "") -> str:
    before = len(nvim.messages())
    nvim.command(f"AcpExport{bang} {path}")
    nvim.wait_until(lambda: any("conversation is in" in one for one in nvim.messages()[before:]), what=f"{path}")
    return path.read_text()


def say(nvim: HeadlessEditor, text: str) -> None:
    before = len(nvim.events("AcpTurnEnd"))
    nvim.lua('require("acp_nvim").prompt(...)', text)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > before, what="the end of the turn")


def test_no_secret_of_a_turn_is_on_disk(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    source = SCRIPT.replace("TEXTS_OF_SECRETS", repr(TEXTS)).replace("HARMLESS_TEXTS", repr(HARMLESS))
    script = agent_script(tmp_path, source)
    rules = [{"command": "*", "action": "reject"}]
    nvim = editor(
        agents={"it": {"command": script.argv}},
        config={"log": {"traffic": True}, "permissions": {"rules": rules}},
    )
    nvim.command("AcpChat it")
    say(nvim, "go")
    say(nvim, "again: " + "\n\n".join(TEXTS))
    nvim.lua("require('acp_nvim.kernel.log').write(...)", "of Lua: " + "\n".join(TEXTS))
    nvim.wait_until(lambda: "of Lua: " in stored(nvim), what="the log")
    assert "That is all." in nvim.chat_text()
    masked, exact = nvim.places.directory / "masked.md", nvim.places.directory / "exact.md"
    with case("an export"):
        text = exported(nvim, masked)
        assert "That is all." in text
        assert all(one in text for one in READABLE)
        assert "with secrets masked; :AcpExport! for the exact text" in "\n".join(nvim.messages())
        assert stat.S_IMODE(masked.stat().st_mode) == 0o600
    with case("an export into a window"):
        nvim.command("AcpExport")
        nvim.wait_until(lambda: nvim.lua("return vim.bo.filetype") == "markdown", what="the buffer")
        assert nvim.buffer_text() + "\n" == text
        nvim.command("bwipeout!")
    with case("the exact text, over a file and through a link"):
        exact.write_text("mine")
        exact.chmod(0o666)
        link = nvim.places.directory / "link.md"
        link.symlink_to(exact)
        whole = exported(nvim, link, "!")
        assert "with all secrets in it" in nvim.messages()[-1]
        assert link.is_symlink()
        assert stat.S_IMODE(exact.stat().st_mode) == 0o600
        assert all(one.secret in whole for one in SECRETS if "\n" not in one.secret)
    with case("a kept conversation"):
        nvim.close()
        everything = stored(nvim, masked)
        assert "That is all." in everything
        for one in SECRETS:
            at = everything.find(one.secret)
            assert len(one.secret) < 8 or shown(one.secret, everything) <= LEAK, (
                one.kind,
                everything[max(0, at - 100) : at + 40],
            )
        lost = [one for one in READABLE if one not in everything]
        assert lost == []

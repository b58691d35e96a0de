"""What we write down: readable by the user alone, whatever the umask is, and without secrets."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor
from tests.support.git_objects import contents

SECRET = "correct-horse-battery-staple"
TYPED = "sk-abcdef0123456789abcdef"

SCRIPT = """
ROOT = os.getcwd()

def turn(agent, prompt):
    number = prompt.text.split()[-1]
    line = {"command": "secrets.sh --token TYPED"}
    prompt.tool("c" + number, "secrets.sh --token TYPED", kind="execute", status="in_progress", rawInput=line)
    prompt.until_heard()
    for name in (".env", "config/id_rsa", "private", "plain.txt"):
        with open(os.path.join(ROOT, name), "a") as file:
            file.write("of the agent " + number + chr(10))
    text = prompt.read(os.path.join(ROOT, "server.pem"))
    prompt.write(os.path.join(ROOT, "server.pem"), text + "of the agent" + chr(10))
    prompt.write(os.path.join(ROOT, "new", "made.txt"), "new" + chr(10))
    with open(os.path.join(ROOT, "by itself"), "w") as file:
        file.write("x")
    prompt.tool_update("c" + number, status="completed")
    prompt.say("done")
"""


SCRIPT = SCRIPT.replace("TYPED", TYPED)


def with_text(nvim: HeadlessEditor, text: str) -> list[Path]:
    """Return the files and objects of the plugin that have this text."""
    found = []
    for path in nvim.places.ours():
        with contextlib.suppress(FileNotFoundError):  # the file was replaced just now
            if path.is_file() and text.encode() in path.read_bytes():
                found.append(path)
        if path.name == "objects" and text.encode() in contents(path):
            found.append(path)
    return found


@pytest.fixture
def nvim(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Iterator[HeadlessEditor]:
    """With a project that has secrets, under a umask that hides nothing; older files are open to all."""
    script = agent_script(tmp_path, SCRIPT)
    before = os.umask(0)
    try:
        nvim = editor(agents={"it": {"command": script.argv}}, config={"log": {"traffic": True}})
        root = nvim.project
        subprocess.run(["git", "init", "-q", str(root)], check=True)
        (root / "config").mkdir()
        for name in (".env", "config/id_rsa", "private", "server.pem"):
            (root / name).write_text(f"{SECRET}\n")
        (root / "private").chmod(0o600)
        (root / "plain.txt").write_text("plain\n")
        older = nvim.places.directory / "state" / "nvim" / "acp_nvim" / "transcripts"
        older.mkdir(parents=True)
        (older / "older.txt").write_text("of an older version\n")
        nvim.command(f"cd {root}")
        nvim.command("edit plain.txt")
        nvim.command("AcpChat it")
        yield nvim
    finally:
        os.umask(before)


def say(nvim: HeadlessEditor, text: str) -> None:
    before = len(nvim.events("AcpTurnEnd"))
    nvim.lua('require("acp_nvim").prompt(...)', text)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > before)


def test_files_and_secrets(nvim: HeadlessEditor) -> None:
    root = nvim.project
    exported = nvim.places.directory / "exported.md"  # a snapshot would have it, if it were in the project
    say(nvim, f"use {TYPED} 1")
    say(nvim, f"a prompt of the user {TYPED} 2")
    nvim.wait_until("#vim.fn.glob(vim.fn.stdpath('state') .. '/acp_nvim/*/checkpoints.jsonl', 0, 1) > 0 or "
                    "#vim.fn.glob(vim.fn.stdpath('state') .. '/acp_nvim/**/checkpoints.jsonl', 0, 1) > 0")  # fmt: skip
    reviewed = [
        str(Path(one).relative_to(root))
        for one in nvim.lua(
            "return vim.tbl_map(function(one) return one.path end, require('acp_nvim.review.files').all())"
        )
    ]
    assert set(reviewed) >= {".env", "config/id_rsa", "private", "server.pem", "plain.txt", "new/made.txt"}
    nvim.lua(
        "require('acp_nvim.kernel.log').write('a line') require('acp_nvim.chat.windows.sizes').keep('right', 30, 100)"
    )
    nvim.lua("require('acp_nvim.chat.windows.sizes').write()")
    nvim.command(f"AcpExport {exported}")
    nvim.wait_until(lambda: exported.exists())
    nvim.wait_until(lambda: "the conversation is in" in "\n".join(nvim.messages()), what="the whole file")
    assert SECRET not in exported.read_text()
    assert TYPED not in exported.read_text()
    nvim.command("AcpReview rejectall")
    nvim.wait_until(lambda: (root / ".env").read_text() == f"{SECRET}\n")
    for name in ("config/id_rsa", "private", "server.pem"):
        nvim.wait_until(lambda name=name: (root / name).read_text() == f"{SECRET}\n", what=name)
    nvim.wait_until(lambda: not nvim.places.open_to_others(0o077), what="the files to be narrowed")
    # a recording of the traffic, which the user has asked for, has the texts of files
    assert [path for path in with_text(nvim, SECRET) if "traffic" not in path.parts] == []
    assert [path for path in with_text(nvim, TYPED) if "drafts" not in path.parts] == []
    assert with_text(nvim, "a prompt of the user")
    assert stat.S_IMODE(exported.stat().st_mode) == 0o600
    # what is the user's has the permissions that their umask gives
    assert stat.S_IMODE((root / "by itself").stat().st_mode if (root / "by itself").exists() else 0o666) == 0o666
    assert nvim.lua("return require('acp_nvim.prompt.history').texts(vim.fn.getcwd())").count(f"use {TYPED} 1") == 1


def test_a_prompt_with_a_secret_is_remembered_whole_and_written_without_it(
    editor: Callable[..., HeadlessEditor],
) -> None:
    nvim = editor(agents={})
    for text in (f"use {TYPED}", "and nothing else"):
        nvim.lua("require('acp_nvim.prompt.history').add({ cwd = vim.fn.getcwd() }, ...)", text)
    nvim.wait_until(lambda: with_text(nvim, "and nothing else"), what="the prompts to be written")
    assert with_text(nvim, TYPED) == []
    known = nvim.lua("return require('acp_nvim.prompt.history').texts(vim.fn.getcwd())")
    assert sorted(known) == ["and nothing else", "use [masked]", f"use {TYPED}"]


def test_what_the_agent_makes_through_us_is_the_user_s(nvim: HeadlessEditor) -> None:
    say(nvim, "1")
    assert stat.S_IMODE((nvim.project / "new" / "made.txt").stat().st_mode) == 0o666
    assert stat.S_IMODE((nvim.project / "new").stat().st_mode) == 0o777
    assert stat.S_IMODE((nvim.project / "by itself").stat().st_mode) == 0o666

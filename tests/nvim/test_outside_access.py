"""Files outside of the session's directories: the user is asked in the chat, as for any permission."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside of the session's directories."""
    path = tmp_path / "secret"
    path.write_text("on disk\n")
    return path


def reading(directory: Path, path: Path) -> AgentScript:
    """An agent that reads that file twice, and says what it got."""
    return agent_script(
        directory,
        f"""
        def turn(agent, prompt):
            for _ in range(2):
                try:
                    prompt.say("<" + prompt.read({str(path)!r}) + ">")
                except Error as error:
                    prompt.say("<" + error.message + ">")
        """,
    )


def asked(start: Callable[..., HeadlessEditor], script: AgentScript) -> HeadlessEditor:
    """An editor in whose chat the question stands."""
    nvim = start(agents={"it": {"command": script.argv}}, config={"fs": {"outside": "ask"}})
    nvim.command("AcpChat")
    nvim.keys("igo<Esc><CR>")
    nvim.wait_until('#require("acp_nvim").permissions() > 0')
    return nvim


def test_the_key_allows_it_for_the_session(editor: Callable[..., HeadlessEditor], tmp_path: Path, secret: Path) -> None:
    nvim = asked(editor, reading(tmp_path, secret))
    title = f"Read {secret}, which is outside of the session's directories"
    assert f"Permission needed  read  {title}" in nvim.chat_text()
    assert "A Allow reading this file in this session" in nvim.chat_text()
    (request,) = nvim.lua('return require("acp_nvim").permissions()')
    assert (request["title"], request["kind"]) == (title, "read")
    assert [event["request"]["title"] for event in nvim.events("AcpPermissionRequest")] == [title]
    assert nvim.lua('return require("acp_nvim").status().state') == "waiting"

    nvim.keys("<C-w>kA")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.chat_text().count("<on disk\n>") == 2
    assert "✓ Allow reading this file in this session" in nvim.chat_text()
    assert [event["option_id"] for event in nvim.events("AcpPermissionDone")] == ["allow_always"]
    assert len(nvim.events("AcpPermissionRequest")) == 1


def test_the_function_rejects_it_for_the_session(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, secret: Path
) -> None:
    nvim = asked(editor, reading(tmp_path, secret))
    assert nvim.lua('local id = ... return require("acp_nvim").answer(id, "reject_always")', 1) is True
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.chat_text().count("and the user did not allow it>") == 2
    assert "✗ Reject reading this file in this session" in nvim.chat_text()
    assert not nvim.events("AcpError")


def test_what_the_user_has_not_saved_is_read_there_too(
    editor: Callable[..., HeadlessEditor], tmp_path: Path, secret: Path
) -> None:
    nvim = asked(editor, reading(tmp_path, secret))
    nvim.command(f"topleft split {secret}")
    nvim.api("buf_set_lines", 0, 0, -1, True, ["typed"])
    nvim.lua('require("acp_nvim").answer(1, "allow_always")')
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.chat_text().count("<typed\n>") == 2


def test_an_additional_directory_is_the_sessions(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "file").write_text("in the library")
    script = reading(tmp_path, library / "file")
    nvim = editor(
        agents={"it": {"command": script.argv}},
        config={"additional_directories": [str(library), "~/nowhere"], "fs": {"outside": "ask"}},
    )
    nvim.lua('require("acp_nvim").prompt("go")')
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.chat_text().count("<in the library>") == 2
    assert nvim.chat_text().count("~/nowhere") == 1
    assert not nvim.events("AcpPermissionRequest")

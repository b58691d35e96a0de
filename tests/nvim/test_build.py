"""The first command without a Python environment: it asks, builds in the background, and loses nothing."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.installation import copy_plugin, pretend_python
from tests.support.screen import ScreenEditor
from tests.support.waiting import LIMIT

QUESTION = "Download them now"


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A copy of the plugin, below a name with a blank."""
    root = tmp_path / "the plugin"
    copy_plugin(root)
    return root


@pytest.fixture
def start(tmp_path: Path, plugin: Path) -> Iterator[Callable[..., ScreenEditor]]:
    """Starts Neovim with that copy, where a build needs the gate if one is asked for. Ends one that runs."""
    path = pretend_python(tmp_path / "bin")
    running = contextlib.ExitStack()

    def run(*, gate: bool = False, fails: str = "") -> ScreenEditor:
        fifo = tmp_path / "gate"
        if gate and not fifo.exists():
            os.mkfifo(fifo)
        load = (
            f"lua vim.o.rtp = vim.fn.escape('{plugin}', ' ,') .. ',' .. vim.o.rtp "
            f"vim.g.acp_nvim = {{ timeouts = {{ snapshot = {LIMIT * 1000:.0f} }} }}"
        )
        running.close()
        env = {"PATH": path, "BUILD_GATE": str(fifo) if gate else "", "BUILD_FAILS": fails}
        nvim = ScreenEditor(tmp_path, plugin=False, arguments=["--cmd", load], env=env, columns=120)
        running.callback(nvim.close)
        return nvim

    with running:
        yield run


def open_gate(tmp_path: Path) -> None:
    """Let the build end."""
    (tmp_path / "gate").write_text("go\n")


def test_the_chat_is_open_meanwhile_and_what_is_sent_goes_out(start, tmp_path):
    nvim = start(gate=True)
    nvim.type(":AcpChat demo\r")
    nvim.wait_for(QUESTION)
    nvim.type("y")
    nvim.wait_for("one step")
    nvim.type("i/markdown\x1b\r")
    nvim.wait_for("1 queued")
    assert "demo one step" in nvim.rows()[0]
    assert nvim.host() is None
    open_gate(tmp_path)
    nvim.wait_until(lambda: "/markdown" in nvim.chat_text(), what="the prompt in the chat")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert "1 queued" not in nvim.screen_text()


def test_who_declines_can_build_later(start, plugin):
    nvim = start()
    nvim.type(":AcpPrompt /markdown\r")
    nvim.wait_for(QUESTION)
    nvim.type("n")
    nvim.wait_until(lambda: "Type :AcpBuild" in nvim.chat_text(), what="the advice in the chat")
    assert not (plugin / ".venv").exists()
    nvim.type(":AcpBuild\r")
    nvim.wait_for("the Python environment is ready")
    nvim.type(":AcpChat\r")
    nvim.wait_for("/markdown")
    assert nvim.buffer_text() == "/markdown"  # it is back in the prompt
    nvim.type("\r")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    assert "started again" not in nvim.chat_text()


def test_a_chat_that_could_not_start_goes_on_after_the_build(start, tmp_path):
    nvim = start(gate=True)
    nvim.type(":AcpChat demo\r")
    nvim.wait_for(QUESTION)
    nvim.type("n")
    nvim.wait_for("demo failed")
    nvim.type(":AcpBuild\r")
    nvim.wait_for("one step")
    assert "demo one step" in nvim.rows()[0]
    assert not nvim.find("failed")
    open_gate(tmp_path)
    nvim.wait_for("demo idle")


def test_a_chat_that_could_not_start_says_so_again_when_the_build_fails(start):
    nvim = start(fails="no network.")
    nvim.type(":AcpChat demo\r")
    nvim.wait_for(QUESTION)
    nvim.type("n")
    nvim.wait_for("demo failed")
    nvim.type(":AcpBuild\r")
    nvim.wait_until(lambda: any("no network." in text for text in nvim.messages()), what="why")
    nvim.wait_for("demo failed")


def test_a_command_without_a_chat_tells_that_it_cannot_go_on(start):
    nvim = start()
    nvim.type(":AcpReview\r")
    nvim.wait_for(QUESTION)
    nvim.type("\x1b")
    nvim.wait_for("no Python for the host")


def test_the_command_is_an_answer_where_the_question_got_lost(start):
    nvim = start()
    nvim.lua("vim.ui.select = function(_, _, on_choice) _G.answer = on_choice end")
    nvim.command("AcpPrompt /markdown")
    nvim.wait_until("_G.answer ~= nil", what="the question")
    nvim.command("AcpBuild")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    nvim.lua("_G.answer(nil)")  # too late to decline
    assert nvim.host()


def test_a_failure_is_told_and_the_prompt_is_back(start):
    nvim = start(fails="the package index could not be reached. Check the network.")
    nvim.type(":AcpChat demo\r")
    nvim.wait_for(QUESTION)
    nvim.lua("require('acp_nvim').prompt('hello')")
    nvim.type("y")
    nvim.wait_until(lambda: "Then type :AcpBuild" in nvim.chat_text(), what="the failure in the chat")
    assert (
        "the Python environment was not built: the package index could not be reached. Check the network."
        in nvim.chat_text()
    )
    assert nvim.buffer_text() == "hello"
    nvim.type(":AcpChat\r")
    nvim.wait_for(QUESTION)
    nvim.type("\x1b")


def test_leaving_ends_the_build_and_keeps_the_prompt(start, tmp_path):
    nvim = start(gate=True)
    nvim.type(":AcpChat demo\r")
    nvim.wait_for(QUESTION)
    nvim.type("y")
    nvim.wait_for("one step")
    nvim.type("ito be kept\x1b\r")
    nvim.wait_for("1 queued")
    drafts = nvim.places.directory / "state/nvim/acp_nvim/drafts"
    start()  # closing the first one fails if the build is still there
    assert any(b"to be kept" in file.read_bytes() for file in drafts.rglob("*") if file.is_file())


def test_after_an_update_it_asks_once_and_the_old_environment_will_do(start, plugin):
    first = start()
    first.command("AcpBuild")
    first.wait_for("the Python environment is ready")
    with (plugin / "requirements/run.txt").open("a") as lock:
        lock.write("# another version\n")
    nvim = start(fails="no network.")
    nvim.type(":AcpChat demo\r")
    nvim.wait_for("other Python packages than before")
    nvim.type("y")
    nvim.wait_until(nvim.host, what="the host with the old environment")
    assert any("the Python environment was not built: no network." in text for text in nvim.messages())
    nvim.command("checkhealth acp_nvim")
    report = nvim.buffer_text()
    assert "WARNING the plugin needs other Python packages since its environment was built" in report
    assert "Type :AcpBuild" in report


def test_checkhealth_names_the_command(start):
    nvim = start()
    nvim.command("checkhealth acp_nvim")
    report = nvim.buffer_text()
    assert "ERROR no Python for the host: its environment is not built" in report
    assert "Type :AcpBuild" in report

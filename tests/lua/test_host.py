"""Reaching the host: which Python, how it is started, what is said when it cannot be; and the cost of start-up."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.editor import HeadlessEditor
from tests.support.find_nvim import find_nvim

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def started(tmp_path):
    """Starts editors with a Python of a test's choice, and nothing recorded."""
    editors = []

    def start(script):
        python = tmp_path / f"python{len(editors)}"
        python.write_text(f"#!/bin/sh\n{script}\n")
        python.chmod(0o755)
        editors.append(HeadlessEditor(tmp_path, config={"python": str(python)}))
        return editors[-1]

    yield start
    for editor in editors:
        editor.close()


def say(editor):
    editor.command("AcpPrompt hello")
    return editor.wait_until(
        lambda: "\n".join(one for one in editor.messages() if "sent to" not in one), what="a message about a problem"
    )


def test_a_package_that_is_missing_is_named(started):
    editor = started("""echo "ModuleNotFoundError: No module named 'pynvim'" >&2; exit 1""")
    assert "the host needs the Python package" in say(editor)
    assert 'needs the Python package "pynvim"' in editor.chat_text()
    assert "Correct the option `python`, or remove it and type :AcpBuild" in editor.chat_text()
    assert editor.lua('return require("acp_nvim").status().state') == "failed"
    editor.command("AcpChat")
    assert editor.buffer_text() == "hello"


def test_an_old_python_is_said(started):
    editor = started("""echo "unknown option -P" >&2; exit 2""")
    say(editor)
    assert "the host needs Python 3.11" in editor.chat_text()


def test_last_words_are_shown(started):
    editor = started("""echo one >&2; echo "it hurts" >&2; exit 3""")
    say(editor)
    assert "it hurts" in editor.chat_text()
    assert "it hurts" in Path(editor.lua('return require("acp_nvim.kernel.log").path()')).read_text()


def test_no_python_at_all(tmp_path):
    editor = HeadlessEditor(tmp_path, config={"python": "/no/such/python"})
    try:
        assert '"/no/such/python", which cannot be run' in say(editor)
        assert editor.chat_buffer() is None
        assert ["acp_nvim: " + error["text"] for error in editor.events("AcpError")] == editor.messages()
    finally:
        editor.close()


def test_one_that_ends_where_nothing_else_is_loaded_is_told(started):
    editor = started("exit 3")
    editor.lua("require('acp_nvim.early').start = function() end")
    editor.lua("require('acp_nvim.host').send('permission_rules', { cwd = '/' })")
    [error] = editor.wait_until(lambda: editor.events("AcpError"), what="the event")
    assert editor.lua("return package.loaded['acp_nvim.host.sessions'] == nil")
    assert editor.messages() == ["acp_nvim: " + error["text"]]
    assert error["code"] == 3


def test_the_demo_agent_answers(editor_with_host):
    editor_with_host.command("AcpPrompt /markdown")
    editor_with_host.wait_until(lambda: editor_with_host.events("AcpTurnEnd"))
    assert "/markdown" in editor_with_host.chat_text()


@pytest.fixture
def editor_with_host(tmp_path):
    editor = HeadlessEditor(tmp_path)
    yield editor
    editor.close()


def test_start_up_loads_nothing(tmp_path):
    base = [find_nvim(), "--clean", "--headless", "-n", "--cmd", f"set rtp^={ROOT}"]
    code = 'lua print(#vim.tbl_filter(function(n) return n:match("^acp_nvim") end, vim.tbl_keys(package.loaded)))'
    done = subprocess.run([*base, "-c", code, "-c", "qall!"], capture_output=True, text=True, check=True, timeout=30)
    assert (done.stdout + done.stderr).strip() == "0"

"""The harness itself, with a plain Neovim: what later tests trust."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from tests.support.editor import HeadlessEditor
from tests.support.ping import Ping
from tests.support.places import ROOT
from tests.support.processes import look_at, marked, running, wait_gone
from tests.support.rpc import RpcError


@pytest.fixture
def plain(editor):
    return editor(plugin=False)


def test_lua_with_arguments(plain):
    assert plain.lua("return (...) + 1", 41) == 42
    assert plain.lua("vim.g.it = { a = 1 }") is None
    assert plain.lua("return vim.g.it") == {"a": 1}


def test_an_error_of_lua_comes_back(plain):
    with pytest.raises(RpcError, match="on purpose"):
        plain.lua("error('on purpose')")


def test_keys_are_typed(plain):
    plain.keys("ihello <lt> world<Esc>")
    assert plain.buffer_text() == "hello < world"


def test_a_command_returns_what_it_prints(plain):
    assert plain.command("echo 1 + 1") == "2"


def test_wait_until_gives_what_was_waited_for(plain):
    plain.lua("vim.defer_fn(function() vim.g.late = 7 end, 50)")
    assert plain.wait_until("vim.g.late") == 7


def test_wait_until_fails_in_words(plain):
    with pytest.raises(AssertionError, match=r"0\.05 s in vain for a pig that flies"):
        plain.wait_until("false", 0.05, "a pig that flies")


def test_events_and_messages_are_recorded(plain):
    plain.lua("vim.api.nvim_exec_autocmds('User', { pattern = 'AcpTurnEnd', data = { stop_reason = 'end_turn' } })")
    plain.lua("vim.notify('hello there')")
    assert plain.events("AcpTurnEnd") == [{"stop_reason": "end_turn"}]
    assert plain.events("AcpTurnStart") == []
    assert plain.messages() == ["hello there"]


def test_chat_text_is_of_the_buffer_with_the_filetype(plain):
    assert plain.chat_text() == ""
    plain.lua(
        "local nr = vim.api.nvim_create_buf(false, true) vim.bo[nr].filetype = 'acp_chat' "
        "vim.api.nvim_buf_set_lines(nr, 0, -1, false, { 'a', 'b' })"
    )
    assert plain.chat_text() == "a\nb"


def test_nothing_of_the_user_is_seen(plain):
    paths = plain.lua("return { vim.env.HOME, vim.fn.stdpath('state'), vim.fn.stdpath('config') }")
    assert all(path.startswith(str(plain.places.directory)) for path in paths)
    assert str(ROOT) not in plain.lua("return vim.o.runtimepath").split(",")


def test_the_plugin_is_on_the_path_and_configured(editor):
    started = editor(agents={"it": {"command": ["true"]}}, config={"default_agent": "it"})
    assert started.lua("return vim.o.runtimepath").split(",")[0] == str(ROOT)
    assert started.lua("return vim.g.acp_nvim.agents.it.command") == ["true"]


def test_two_editors_live_side_by_side(editor):
    first, second = editor(plugin=False), editor(plugin=False)
    assert first.pid != second.pid
    assert first.project != second.project


def test_close_leaves_no_process(tmp_path):
    started = HeadlessEditor(tmp_path, plugin=False)
    started.lua("vim.system({ 'sleep', '100' })")
    assert running("sleep 100", started.places.mark)
    pid = started.pid
    for child in started.children():
        os.kill(child.pid, signal.SIGKILL)
    started.close()
    assert look_at(pid) is None


def test_close_fails_when_something_is_left_and_ends_it(tmp_path):
    started = HeadlessEditor(tmp_path, plugin=False)
    started.lua("vim.system({ 'sh', '-c', 'sleep 100 & echo' }, { detach = true })")
    wait_gone(lambda: running("sh -c", started.places.mark))
    with pytest.raises(AssertionError, match="sleep 100"):
        started.close(limit=0.2)
    wait_gone(lambda: marked(started.places.mark))


def test_close_after_neovim_was_killed(tmp_path):
    started = HeadlessEditor(tmp_path, plugin=False)
    pid = started.pid
    os.kill(pid, signal.SIGKILL)
    started.close()
    assert look_at(pid) is None


def test_a_neovim_that_cannot_start_says_why(tmp_path, monkeypatch):
    monkeypatch.setattr("tests.support.editor.find_nvim", lambda: "/bin/false")
    with pytest.raises(AssertionError, match="ended with 1"):
        HeadlessEditor(tmp_path)


def test_ping_sees_a_stall(plain):
    with Ping(plain.places.socket) as ping:
        plain.lua("local till = vim.uv.hrtime() + 100e6 while vim.uv.hrtime() < till do end")
        plain.wait_until("true")
    assert ping.report.max > 80
    assert ping.report.count > 15


def test_ping_of_an_idle_neovim_is_quick(plain):
    with Ping(plain.places.socket) as ping:
        plain.lua("vim.defer_fn(function() vim.g.done = true end, 300)")
        plain.wait_until("vim.g.done")
    assert ping.report.count > 40
    assert min(wait for _, wait in ping.waits) < 5  # on a busy machine many take longer


def test_neovim_dies_with_the_tests(tmp_path):
    code = (
        "import os, sys, pathlib\n"
        "from tests.support.editor import HeadlessEditor\n"
        "print(HeadlessEditor(pathlib.Path(sys.argv[1]), plugin=False).pid, flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    pid = int(answer.stdout)
    wait_gone(lambda: [process for process in [look_at(pid)] if process])

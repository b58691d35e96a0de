"""What a person does with sessions: one list of all there are, going on, forks, closing, deleting, worktrees."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

ABLE = """
    ABLE = {"list": {}, "resume": {}, "fork": {}, "close": {}, "delete": {}, "additionalDirectories": {}}
    INITIALIZE = {"agentCapabilities": {"loadSession": True, "sessionCapabilities": ABLE}}
    SLOW = not os.path.exists("quick")
    def turn(agent, prompt):
        agent.update(prompt.session_id, {"sessionUpdate": "session_info_update", "title": f"About {prompt.text}"})
        prompt.say(f"said {prompt.text}.")
        if prompt.text == "hang":
            prompt.wait_cancelled()
            return "cancelled"
    def session_new(agent, request):
        number = len(os.listdir("ids")) if os.path.isdir("ids") else 0
        os.makedirs(f"ids/{number}")
        return {"sessionId": f"s{number}"}
    def session_list(agent, request):
        if os.path.exists("refuse"):
            raise Error(-32050, "the list is broken")
        while os.path.exists("wait"):
            time.sleep(0.01)
        page = int(request.params.get("cursor") or 0)
        cwd = request.params.get("cwd", "/")
        sessions = [[("s0", "About alpha"), ("far", "Theirs")], [("older", "Older")]][page]
        listed = [{"sessionId": one, "cwd": cwd, "title": title} for one, title in sessions]
        return {"sessions": listed, **({} if page else {"nextCursor": "1"})}
    def session_load(agent, request):
        if request.params["sessionId"] == "far":
            raise Error(-32002, "no such session")
        text = {"type": "text", "text": "told anew"}
        agent.update(request.params["sessionId"], {"sessionUpdate": "agent_message_chunk", "content": text})
        return {}
    def session_resume(agent, request): return {}
    def session_fork(agent, request): return {"sessionId": "forked"}
    def session_close(agent, request): return {}
    def session_delete(agent, request): return {}
"""

Start = Callable[..., HeadlessEditor]


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, ABLE)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "shared").mkdir()
    return tmp_path / "shared"


@pytest.fixture
def shared(editor: Start, tmp_path: Path, script: AgentScript, project: Path) -> Start:
    """Neovims that have a project and a state directory together; `select` keeps what it is given."""

    def start(**given: Any) -> HeadlessEditor:
        nvim = editor(agents={"it": {"command": script.argv}}, env={"XDG_STATE_HOME": str(tmp_path / "state")}, **given)
        nvim.command(f"cd {project}")
        nvim.lua("""
            vim.ui.select = function(items, opts, done)
                _G.given = { words = vim.tbl_map(opts.format_item or tostring, items), prompt = opts.prompt }
                _G.done = function(index) done(index and items[index]) end
            end
        """)
        return nvim

    return start


IS_IDLE = "require('acp_nvim').status().state == 'idle'"


def lines(nvim: HeadlessEditor) -> list[str]:
    """What the user may choose from now."""
    nvim.wait_until("_G.given ~= nil", what="a list")
    return list(nvim.lua("return _G.given.words"))


def pick(nvim: HeadlessEditor, words: str) -> None:
    """The line that has these words, in the list that has it."""
    nvim.wait_until(lambda: any(words in line for line in lines(nvim)), what=f"a list with {words!r}")
    [index] = [at for at, line in enumerate(lines(nvim), 1) if words in line]
    nvim.lua("_G.given = nil _G.done(...)", index)


def listed(nvim: HeadlessEditor, arguments: str = "") -> list[str]:
    nvim.lua("_G.given = nil")
    nvim.command(f"AcpSessions{arguments}")
    return lines(nvim)


def pick_listed(nvim: HeadlessEditor, words: str, arguments: str = "") -> None:
    """That line of the list, which is asked for until it is there: an agent, or a file, may be late."""
    nvim.wait_until(lambda: any(words in line for line in listed(nvim, arguments)), what=f"{words!r} to be listed")
    pick(nvim, words)


def text_of(nvim: HeadlessEditor, text: str) -> None:
    """The chat that is seen has that text."""
    code = """
        local text = ...
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
            local nr = vim.api.nvim_win_get_buf(win)
            local all = table.concat(vim.api.nvim_buf_get_lines(nr, 0, -1, true), "\\n")
            if vim.bo[nr].filetype == "acp_chat" and all:find(text, 1, true) then return true end
        end
        return false
    """
    nvim.wait_until(code, 60, f"{text!r} in the chat", text)


def converse(nvim: HeadlessEditor, text: str) -> None:
    count = len(nvim.events("AcpTurnEnd"))
    nvim.lua('require("acp_nvim").prompt(..., { agent = "it" })', text)
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) > count)
    nvim.wait_until(IS_IDLE)  # else `:AcpClose` asks first


def said(nvim: HeadlessEditor, words: str) -> None:
    nvim.wait_until(lambda: any(words in one for one in nvim.messages()), what=words)


def test_one_list_of_what_is_kept_and_what_agents_keep(shared: Start, script: AgentScript, project: Path) -> None:
    first = shared()
    converse(first, "alpha")
    first.close()
    nvim = shared()
    # nobody runs: nobody is asked, and what is kept is there
    [kept, ask] = listed(nvim)
    assert "About alpha" in kept
    assert ask == "ask an agent for its sessions ..."
    assert len(script.received("session/list")) == 0
    pick(nvim, "ask an agent")
    assert lines(nvim) == ["it"]
    pick(nvim, "it")
    known, theirs, _more, _ = lines(nvim)
    assert ("About alpha" in known, "Theirs" in theirs, "at the agent" in theirs) == (True, True, True)
    pick(nvim, "more sessions of it ...")
    assert [line for line in lines(nvim) if "Older" in line]
    assert [one["params"] for one in script.received("session/list")] == [
        {"cwd": str(project)},
        {"cwd": str(project), "cursor": "1"},
    ]
    # one conversation, with all ways to open it
    pick(nvim, "About alpha")
    assert lines(nvim) == [
        "continue",
        "continue, with the version of it",
        "view the stored conversation",
        "fork: another session with the conversation so far",
        "new session, with the stored conversation in the chat",
        "delete ...",
    ]
    nvim.lua("_G.done(1)")
    text_of(nvim, "said alpha.")
    script.wait_received("session/resume")
    converse(nvim, "beta")
    assert next(line.split(" · ")[0] for line in listed(nvim, " alpha")) == "open"
    nvim.lua("_G.done(1)")
    text_of(nvim, "said beta.")
    [path] = (project.parent / "state").glob("nvim/acp_nvim/transcripts/*/*.jsonl")
    nvim.wait_until(lambda: "said beta." in path.read_text(), what="it to go on in its file")


def test_a_slow_agent_is_waited_for_only_by_who_wants_to(shared: Start, project: Path) -> None:
    nvim = shared()
    converse(nvim, "alpha")
    (project / "wait").touch()
    words = "it has not answered yet: wait for it ..."
    assert words in listed(nvim)
    pick(nvim, words)
    nvim.keys(":enew<CR>")  # the user opens another buffer
    (project / "wait").unlink()
    said(nvim, "it has sent its sessions")
    assert nvim.lua("return _G.given") is None
    (project / "wait").touch()
    listed(nvim)
    pick(nvim, words)
    (project / "wait").unlink()
    assert [line for line in lines(nvim) if "Theirs" in line]
    (project / "refuse").touch()
    pick_listed(nvim, "it could not tell its sessions: why?")
    said(nvim, "the list is broken")
    nvim.command("AcpSessions agent:nobody")
    said(nvim, 'no agent is called "nobody"')


def test_what_cannot_be_loaded_is_said_and_the_next_prompt_begins_anew(shared: Start, script: AgentScript) -> None:
    nvim = shared()
    pick_listed(nvim, "Theirs", " agent:it")
    assert lines(nvim)[0] == "continue"
    pick(nvim, "continue")
    text_of(nvim, "no such session")
    text_of(nvim, "Your next prompt begins a new session")
    converse(nvim, "beta")
    text_of(nvim, "said beta.")
    assert len(script.received("session/new")) == 1


def test_a_kept_chat_offers_to_go_on_and_a_fork_begins_with_what_was_said(shared: Start, script: AgentScript) -> None:
    first = shared()
    converse(first, "alpha")
    first.close()
    nvim = shared()
    pick_listed(nvim, "About alpha", " alpha")
    pick(nvim, "view the stored")
    text_of(nvim, "said alpha.")
    for key in ("gs", "i"):
        nvim.lua("_G.given = nil")
        nvim.keys(key)
        assert lines(nvim)[0] == "continue"
    nvim.lua("_G.given = nil")
    pick_first(nvim)
    script.wait_received("session/resume")
    nvim.wait_until("vim.bo.filetype == 'acp_prompt'", what="the prompt")
    nvim.wait_until(IS_IDLE)
    nvim.command("AcpFork")
    text_of(nvim, "This is a fork")
    text_of(nvim, "said alpha.")
    [fork] = script.wait_received("session/fork")
    assert fork["params"]["sessionId"] == "s0"
    nvim.wait_until("require('acp_nvim').status().session_id == 'forked'")


def pick_first(nvim: HeadlessEditor) -> None:
    nvim.lua("_G.done(1)")


def test_closing_and_deleting_ask_where_something_is_lost(shared: Start, script: AgentScript, project: Path) -> None:
    nvim = shared()
    nvim.command("AcpChat it")
    nvim.lua('require("acp_nvim").prompt("hang", { agent = "it" })')
    text_of(nvim, "said hang.")
    nvim.command("AcpClose")
    assert lines(nvim) == ["leave it open", "close it"]
    pick(nvim, "close it")
    script.wait_received("session/close")
    nvim.wait_until(lambda: nvim.chat_buffer() is None, what="the chat to be gone")
    assert nvim.lua("return require('acp_nvim').status().state") == "stopped"
    assert not [line for line in listed(nvim) if line.startswith("open")]
    # Its title is what was kept, or what the agent calls it, if that still runs.
    pick_listed(nvim, "About ")
    pick(nvim, "delete ...")
    assert "About " in nvim.lua("return _G.given.prompt")
    assert lines(nvim) == [
        "delete nothing",
        "delete it at it and on this machine",
        "delete it at it only",
        "delete it on this machine only",
    ]
    pick(nvim, "and on this machine")
    said(nvim, "deleted at it and here")
    assert [one["params"] for one in script.received("session/delete")] == [{"sessionId": "s0"}]
    assert list((project.parent / "state").glob("nvim/acp_nvim/transcripts/*/*.jsonl")) == []


def test_other_code_can_have_a_picker_of_its_own(shared: Start, script: AgentScript) -> None:
    nvim = shared()
    converse(nvim, "alpha")
    nvim.lua("""
        local acp = require("acp_nvim")
        acp.sessions({ agents = { "it" } }, function(entries, more, go_on)
            if #more > 0 then return go_on(more[1]) end
            _G.entries, _G.more = entries, more
            acp.session_ways(entries[2], function(ways) _G.ways = ways end)
        end)
    """)
    nvim.wait_until("_G.ways ~= nil", what="the ways")
    seen = "return vim.tbl_map(function(one) return { one.session_id, one.session ~= nil, #one.kept, one.listed } end, "
    assert nvim.lua(seen + "_G.entries)") == [
        ["s0", True, 1, True],
        ["far", False, 0, True],
        ["older", False, 0, True],
    ]
    assert nvim.lua("return #_G.more") == 0
    ways = [way["id"] for way in nvim.lua("return _G.ways")]
    assert ways == ["load", "fork", "delete"]
    nvim.lua("require('acp_nvim').session_do(_G.entries[2], { id = 'fork' })")
    [fork] = script.wait_received("session/fork")
    assert fork["params"]["sessionId"] == "far"
    nvim.lua("require('acp_nvim').session_do(_G.entries[2], { id = 'show' })")
    said(nvim, "this session is not open")


def test_who_cannot_fork_is_not_asked_to_and_what_was_typed_is_not_lost(shared: Start, tmp_path: Path) -> None:
    plain = agent_script(tmp_path, "", "plain")
    nvim = shared()
    nvim.lua("require('acp_nvim').setup({ agents = { plain = { command = ... } } })", plain.argv)
    nvim.command("AcpChat plain")
    nvim.wait_until(IS_IDLE)
    nvim.command("AcpFork")
    said(nvim, "plain cannot fork sessions")
    nvim.keys("inot sent<Esc>")
    nvim.command("AcpClose")
    assert lines(nvim) == ["leave it open", "close it"]
    assert "was not sent" in nvim.lua("return _G.given.prompt")
    pick(nvim, "leave it open")
    assert nvim.buffer_text() == "not sent"


def test_what_was_said_before_is_no_news(shared: Start) -> None:
    nvim = shared()
    nvim.command("AcpChat it")
    nvim.wait_until(IS_IDLE)
    nvim.command("tabnew")  # nobody sees the chat
    seen = nvim.lua("""
        local session = require("acp_nvim.host.sessions").nearest()
        local apply = require("acp_nvim.events").apply
        local function told(block, kind, text)
            apply({ { type = "replace", session = session.key, block = block, kind = kind, text = text } })
            return session.unread or 0
        end
        session.recalling = true
        local before = { told(1, "user", "go on"), told(2, "agent", "said") }
        session.recalling = nil
        return { before, { told(3, "agent", "said more"), told(4, "user", "go on") } }
    """)
    assert seen == [[0, 0], [1, 1]]


def test_more_directories_and_servers_go_to_the_agent(shared: Start, script: AgentScript, project: Path) -> None:
    nvim = shared()
    (project / "lib").mkdir()
    nvim.command("AcpChat it ++dir=lib")
    [new] = script.wait_received("session/new")
    assert new["params"]["additionalDirectories"] == [str(project / "lib")]
    nvim.command("AcpChat it ++nonsense")
    said(nvim, 'not "++nonsense"')


def git(cwd: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=n", "-c", "user.email=e", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], cwd=cwd, check=True, capture_output=True, text=True).stdout


def test_a_session_works_in_a_worktree_of_its_own(shared: Start, script: AgentScript, project: Path) -> None:
    nvim = shared()
    nvim.command("AcpChat it ++worktree=fix")
    text_of(nvim, "is not in a git repository")
    converse_fails(nvim)
    nvim.command("AcpClose")
    git(project, "init", "-q")
    (project / "a.txt").write_text("one\n")
    git(project, "add", "a.txt")
    git(project, "commit", "-qm", "first")
    (project / "a.txt").write_text("two\n")
    nvim.command("AcpChat it ++worktree=fix")
    text_of(nvim, "This session works in the worktree")
    text_of(nvim, "have changes that are not committed")
    [new] = script.wait_received("session/new")
    worktree = Path(new["params"]["cwd"])
    assert worktree.name == "fix"
    assert not worktree.is_relative_to(project)
    assert (worktree / "a.txt").read_text() == "one\n"
    nvim.wait_until(lambda: nvim.lua("return require('acp_nvim').status().worktree") == str(worktree))
    nvim.wait_until(IS_IDLE)
    assert nvim.lua("return require('acp_nvim.host.sessions').current().cwd") == str(worktree)
    (worktree / "a.txt").write_text("three\n")
    converse(nvim, "alpha")
    nvim.command("AcpClose")
    pick(nvim, "keep it")
    pick_listed(nvim, "About alpha")
    pick(nvim, "delete ...")
    pick(nvim, "delete it on this machine only")
    assert lines(nvim) == ["keep it", "remove it, and with it the changes of 1 files that are not committed"]
    pick(nvim, "remove it")
    assert lines(nvim) == ["keep it", "remove it with all changes"]
    pick(nvim, "remove it")
    said(nvim, "is removed, and its branch acp/fix, on which nothing was.")
    assert not worktree.exists()
    assert git(project, "branch", "--format=%(refname:short)").split() == ["main"]
    assert (project / "a.txt").read_text() == "two\n"


def converse_fails(nvim: HeadlessEditor) -> None:
    key = nvim.lua("return require('acp_nvim.host.sessions').current().key")
    nvim.lua('return require("acp_nvim").prompt("x", { session_id = ... })', key)
    text_of(nvim, "prompts of this chat are not sent")

"""Signing in as a person does it: the choice, the terminal, the variables; and that nothing of a secret is left."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor

Start = Callable[..., HeadlessEditor]

SECRET = "s3cret-Value+of/mine"

AGENT = """
    import sys
    if "--login" in sys.argv:
        word = input("the word? ")
        if word == "please":
            open("signed-in", "w").close()
        os._exit(0 if word == "please" else 4)
    INITIALIZE = {"agentCapabilities": {"auth": {"logout": {}}}, "authMethods": [
        {"id": "browser", "name": "Browser", "description": "Opens one"},
        {"id": "term", "name": "Terminal", "type": "terminal", "args": ["--login"]},
        {"id": "key", "name": "API key", "type": "env_var", "link": "https://example.com/keys",
         "vars": [{"name": "IT_KEY", "label": "Your key"}, {"name": "IT_BASE", "secret": False, "optional": True}]},
        {"id": "odd", "name": "Odd", "type": "_retina"},
    ]}
    KEY = os.environ.get("IT_KEY")
    STATE = {"in": KEY is not None or os.path.exists("signed-in")}
    def session_new(agent, request):
        while os.path.exists("gate"):
            time.sleep(0.01)
        if not STATE["in"]:
            raise Error(-32000, "Authentication required")
        return {"sessionId": f"s{request.id}"}
    def authenticate(agent, request):
        if request.params["methodId"] == "browser" and os.path.exists("slow"):
            return NO_ANSWER
        STATE["in"] = True
        return {}
    def logout(agent, request): return {}
    def turn(agent, prompt):
        prompt.say("did: " + prompt.text)
        if prompt.text == "tell":
            prompt.say(" with " + KEY)
            prompt.tool("c", "uses " + KEY, rawInput={"token": KEY, "text": KEY}, status="completed")
            agent.stderr("the key is " + KEY + "\\n")
        if prompt.text == "fail":
            raise Error(-32603, "Internal error", {"details": "bad key " + KEY})
        if prompt.text == "die":
            agent.stderr("dies with " + KEY + "\\n")
            agent.exit(5)
"""

CHOOSES = """
    _G.selects, _G.picks = {}, ...
    vim.ui.select = function(items, opts, use)
      local lines = vim.tbl_map(opts.format_item or tostring, items)
      table.insert(_G.selects, { kind = opts.kind, prompt = opts.prompt, lines = lines })
      local pick = _G.picks[opts.kind]
      vim.schedule(function() use(pick and items[pick], pick) end)
    end
"""


@pytest.fixture
def script(tmp_path: Path) -> AgentScript:
    return agent_script(tmp_path, dedent(AGENT), "it")


def started(editor: Start, script: AgentScript, picks: dict[str, int], **config: Any) -> HeadlessEditor:
    """Its prompt was refused; what is asked then is answered so."""
    nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it", **config})
    nvim.lua(CHOOSES, picks)
    return nvim


def send(nvim: HeadlessEditor, text: str = "hi") -> None:
    """Send a prompt with keys, as a person does."""
    nvim.command("AcpChat")
    nvim.lua("vim.api.nvim_buf_set_lines(0, 0, -1, false, { ... })", text)
    nvim.keys("<CR>")


def selects(nvim: HeadlessEditor, kind: str = "acp_sign_in") -> list[Any]:
    """What was asked with a list."""
    return [one for one in nvim.lua("return _G.selects") if one["kind"] == kind]


def outcomes(nvim: HeadlessEditor) -> list[str]:
    return [event["outcome"] for event in nvim.events("AcpSignIn")]


def test_who_has_just_sent_is_asked_and_the_prompt_goes_out_by_itself(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 1})
    send(nvim)
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    [asked] = selects(nvim)
    assert asked["prompt"] == "Sign in to it:"
    assert asked["lines"][0] == "Browser: Opens one"
    assert asked["lines"][1].startswith("Terminal (runs ")
    assert asked["lines"][1].endswith("--login in a terminal)")
    assert asked["lines"][2:] == ["API key (sets IT_KEY, IT_BASE (optional))", "Odd (of the unknown type _retina)"]
    nvim.wait_until(lambda: outcomes(nvim) == ["needed", "done"])
    assert nvim.events("AcpSignIn")[0]["methods"][0]["id"] == "browser"
    assert nvim.lua('return require("acp_nvim").status().sign_in') is None


def test_who_types_the_next_prompt_is_not_interrupted(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 1})
    (nvim.places.project / "gate").touch()
    send(nvim)
    nvim.keys("imore")
    (nvim.places.project / "gate").unlink()
    nvim.wait_until('require("acp_nvim").status().sign_in == "needed"')
    nvim.wait_until(lambda: any("wants you to sign in" in one for one in nvim.messages()))
    nvim.keys(" to come<Esc>")
    assert nvim.buffer_text() == "more to come"
    assert selects(nvim) == []
    nvim.keys("gl")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())


def test_who_is_elsewhere_is_told_and_asks_when_it_suits_them(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 1})
    nvim.command("enew")
    nvim.keys("ithis is ")
    nvim.lua('require("acp_nvim").prompt("hi")')
    nvim.wait_until(lambda: any("wants you to sign in" in one for one in nvim.messages()))
    nvim.wait_until('require("acp_nvim").status().sign_in == "needed"')
    nvim.keys("typed<Esc>")
    assert nvim.buffer_text() == "this is typed"
    assert selects(nvim) == []
    nvim.command("AcpLogin")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    assert len(selects(nvim)) == 1


def test_a_key_in_the_chat_asks_again_and_two_sessions_are_asked_once(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {})
    send(nvim)
    nvim.wait_until(lambda: len(selects(nvim)) == 1)
    nvim.command("AcpChat!")
    nvim.wait_until(lambda: len(selects(nvim)) == 2)  # it opens by itself, for the chat
    nvim.lua('require("acp_nvim").prompt("ho", { session_id = 2 })')
    nvim.wait_until(lambda: len(selects(nvim)) == 3)  # and again for a prompt that comes later; nothing is chosen
    nvim.wait_until('local s = require("acp_nvim").status(2) return s.sign_in == "needed" and s.queue == 1')
    nvim.lua("_G.picks = { acp_sign_in = 1 }")
    nvim.keys("<Esc>gl")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 2)
    assert outcomes(nvim).count("done") == 1


def test_giving_up_takes_the_call_back(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 1})
    (nvim.places.project / "slow").touch()
    send(nvim)
    nvim.wait_until('require("acp_nvim").status().sign_in == "running"')
    nvim.wait_until('require("acp_nvim").statusline():find("signing in") ~= nil')
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: outcomes(nvim) == ["needed", "cancelled"])
    script.wait_received("$/cancel_request")
    nvim.command("AcpLogin it browser")
    nvim.wait_until('require("acp_nvim").status().sign_in == "running"')
    nvim.command("AcpLogin! it")
    nvim.wait_until(lambda: outcomes(nvim) == ["needed", "cancelled", "cancelled"])
    (nvim.places.project / "slow").unlink()
    nvim.command("AcpLogin it browser")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())


def terminal(nvim: HeadlessEditor) -> int:
    """The buffer in which one signs in, once its program asks."""
    nvim.wait_until('vim.bo.buftype == "terminal" and vim.fn.search("the word", "nw") > 0')
    return int(nvim.api("get_current_buf"))


def test_a_terminal_with_the_agents_program(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 2})
    nvim.command("edit some.txt")
    send(nvim)
    prompt = nvim.lua('return vim.fn.bufnr("acp://it prompt 1")')
    first = terminal(nvim)
    nvim.keys("wrong<CR>")
    nvim.wait_until(lambda: "exit code 4" in nvim.chat_text())
    assert nvim.api("buf_is_valid", first)  # what it said can be read
    nvim.keys("<C-\\><C-n>q")
    assert not nvim.api("buf_is_valid", first)
    assert nvim.api("get_current_buf") == prompt
    nvim.command("AcpLogin it term")
    second = terminal(nvim)
    nvim.keys("please<CR>")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    assert not nvim.api("buf_is_valid", second)
    assert (nvim.api("get_current_buf"), nvim.api("get_mode")["mode"]) == (prompt, "n")
    assert script.received("authenticate") == []


def test_who_was_inserting_inserts_again_after_the_terminal(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 2})
    nvim.command("edit some.txt")
    nvim.command("AcpChat")
    nvim.keys("ihi<C-s>")
    terminal(nvim)
    nvim.keys("please<CR>")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    nvim.wait_until(lambda: nvim.api("get_mode")["mode"] == "i")
    nvim.keys("and")
    assert nvim.buffer_text() == "and"
    assert nvim.lua("return vim.bo.filetype") == "acp_prompt"


def test_a_terminal_that_is_closed_or_given_up(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 2})
    send(nvim)
    first = terminal(nvim)
    nvim.keys("<C-\\><C-n>q")
    nvim.wait_until(lambda: "the terminal was closed" in nvim.chat_text())
    assert not nvim.api("buf_is_valid", first)
    nvim.command("AcpLogin it term")
    second = terminal(nvim)
    nvim.command("AcpLogin! it")
    nvim.wait_until(lambda: outcomes(nvim)[-1] == "cancelled")
    nvim.wait_until(lambda: not nvim.api("buf_is_valid", second))


def test_ways_that_cannot_be_gone_are_said(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 4})
    send(nvim)
    nvim.wait_until(lambda: "does not know ways to sign in of the type '_retina'" in nvim.chat_text())
    nvim.command("AcpLogin it telepathy")
    nvim.wait_until(lambda: any("telepathy" in one and "browser, term" in one for one in nvim.messages()))
    nvim.command("AcpLogin nobody")
    nvim.wait_until(lambda: any('no agent is called "nobody"' in one for one in nvim.messages()))
    assert nvim.lua('return vim.fn.getcompletion("AcpLogin it ", "cmdline")') == ["browser", "term", "key", "odd"]
    assert "it" in nvim.lua('return vim.fn.getcompletion("AcpLogout ", "cmdline")')


def test_how_to_set_a_variable_for_good(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 3, "acp_sign_in_variables": 2})
    send(nvim)
    nvim.wait_until(lambda: any('agents["it"].env = { IT_KEY = "..."' in one for one in nvim.messages()))
    [asked] = selects(nvim, "acp_sign_in_variables")
    assert "https://example.com/keys" in asked["prompt"]


def enter(nvim: HeadlessEditor, *answers: str) -> None:
    """Into one question after the other."""
    for answer in answers:
        nvim.wait_until(lambda: nvim.api("get_mode")["mode"] == "c", what="a question")
        nvim.api("input", answer)


def files_with(directory: Path, word: str) -> list[str]:
    """All files below that hold it, in any way that one may write it."""
    found = []
    for folder, _, names in os.walk(directory):
        for path in (Path(folder, name) for name in names):
            if path.is_file() and any(form in path.read_bytes() for form in (word.encode(), word[2:-2].encode())):
                found.append(str(path))
    return found


def test_nothing_of_a_secret_is_left_anywhere(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 3, "acp_sign_in_variables": 1}, log={"traffic": True})
    send(nvim)
    enter(nvim, f"{SECRET}<CR>", "http://here<CR>")
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    for text in ("tell", "fail", "die"):
        before = len(nvim.events("AcpTurnEnd"))
        nvim.lua('require("acp_nvim").prompt(...)', text)
        nvim.wait_until(lambda before=before: len(nvim.events("AcpTurnEnd")) > before)
    nvim.wait_until(lambda: "dies with [masked]" in nvim.chat_text())
    assert "bad key [masked]" in nvim.chat_text()
    assert nvim.chat_text().count(SECRET) == nvim.chat_text().count("with " + SECRET) + nvim.chat_text().count("uses ")
    said = "\n".join([*nvim.messages(), nvim.printed(), str(nvim.events("AcpSignIn")), str(nvim.events("AcpError"))])
    assert SECRET not in said
    assert nvim.lua("return vim.fn.histget('@', -1)") != SECRET
    (nvim.places.project / "out.md").touch()
    nvim.command("AcpExport! " + str(nvim.places.project / "out.md"))
    nvim.wait_until(lambda: "dies with [masked]" in (nvim.places.project / "out.md").read_text())
    assert nvim.lua("return vim.env.IT_KEY") is None
    nvim.close()
    directory = nvim.places.directory
    assert files_with(directory, "did: ")  # there are transcripts, and recordings
    assert [str(one) for one in directory.glob("**/traffic/*.jsonl")]
    assert files_with(directory, SECRET) == []


def test_signing_out_is_told_in_the_chats_of_the_agent(editor: Start, script: AgentScript) -> None:
    nvim = started(editor, script, {"acp_sign_in": 1})
    send(nvim)
    nvim.wait_until(lambda: "did: hi" in nvim.chat_text())
    nvim.command("AcpLogout")
    nvim.wait_until(lambda: "Signed out of 'it'" in nvim.chat_text())
    script.wait_received("logout")

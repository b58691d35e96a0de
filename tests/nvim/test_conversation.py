"""One whole conversation, from `:AcpChat` to an edited buffer, through the keys that a person types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.agent_scripts import AgentScript, agent_script
from tests.support.editor import HeadlessEditor
from tests.support.waiting import LIMIT

TURN = """
    def turn(agent, prompt):
        path = os.getcwd() + "/main.py"
        prompt.think("Let me look.")
        prompt.plan(("Read", "in_progress"), ("Edit", "pending"))
        prompt.tool("t1", "Read main.py", kind="read", locations=[{"path": path, "line": 3}])
        text = prompt.read(path)
        prompt.tool_update("t1", status="completed")
        prompt.say("I see:\\n" + text)
        new = text.replace("hello", "goodbye")
        diff = [{"type": "diff", "path": path, "oldText": text, "newText": new}]
        answer = prompt.ask("t2", title="Edit main.py", kind="edit", content=diff)
        if answer == "allow":
            prompt.write(path, new)
            prompt.tool_update("t2", status="completed")
        prompt.plan(("Read", "completed"), ("Edit", "completed"))
        prompt.say("Done: " + str(answer))
"""
DEAF = """
    def turn(agent, prompt):
        prompt.say("deaf")
        return NO_ANSWER
"""
UNSAVED = ["# not saved yet", "def greet():", "    print('hello')", ""]


def running(start: Callable[..., HeadlessEditor], script: AgentScript, **config: object) -> HeadlessEditor:
    """An editor with an unsaved `main.py`, whose agent is the script."""
    editor = start(agents={"scripted": {"command": script.argv}}, config=config)
    path = editor.project / "main.py"
    path.write_text("def greet():\n    print('hi')\n")
    editor.command(f"edit {path}")
    editor.api("buf_set_lines", 0, 0, -1, True, UNSAVED[:3])
    return editor


def ask_by_keys(editor: HeadlessEditor, text: str) -> None:
    """Open the chat, type the prompt, send it."""
    editor.command("AcpChat")
    editor.keys(f"i{text}<Esc><CR>")


def answer_by_key(editor: HeadlessEditor, key: str) -> None:
    """Wait until the question has been shown, then answer it in the chat."""
    shown = 'require("acp_nvim.permission.visibility").is_whole(require("acp_nvim").permissions()[1].id)'
    editor.wait_until(f'#require("acp_nvim").permissions() > 0 and {shown}')
    editor.keys("<C-w>k" + key)


def test_a_whole_turn(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, TURN)
    nvim = running(editor, script)

    ask_by_keys(nvim, "change the greeting")
    answer_by_key(nvim, "a")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))

    chat = nvim.chat_text()
    for part in ("change the greeting", "Let me look.", "I see:\n" + "\n".join(UNSAVED), "Done: allow", "Plan (2/2)"):
        assert part in chat
    assert "-    print('hello')" in chat
    assert "+    print('goodbye')" in chat
    buffer = nvim.lua("return vim.fn.bufnr('main.py')")
    assert nvim.buffer_text(buffer) == "# not saved yet\ndef greet():\n    print('goodbye')"
    assert (nvim.project / "main.py").read_text() == nvim.buffer_text(buffer) + "\n"


def test_the_autocommands_of_a_turn(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = running(editor, agent_script(tmp_path, TURN))
    ask_by_keys(nvim, "go")
    answer_by_key(nvim, "a")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))

    names = [event["name"] for event in nvim.events()]
    order = ["AcpSessionReady", "AcpTurnStart", "AcpToolCall", "AcpPermissionRequest", "AcpPermissionDone"]
    assert [names.index(name) for name in order] == sorted(names.index(name) for name in order)
    assert names.index("AcpFileChanged") > names.index("AcpPermissionDone")
    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "end_turn"
    what = {"operation": "modify", "added": 1, "removed": 1}
    path = str(nvim.project / "main.py")
    why = {"by": "agent", "why": nvim.events("AcpFileChanged")[0]["why"]}
    assert why["why"].startswith("written by ")
    assert nvim.events("AcpFileChanged")[0] == {"session": 1, "path": path, **why, **what}
    assert not nvim.events("AcpError")


def test_a_rejected_edit_leaves_the_file_alone(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = running(editor, agent_script(tmp_path, TURN))
    ask_by_keys(nvim, "go")
    answer_by_key(nvim, "r")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "Done: reject" in nvim.chat_text()
    assert nvim.events("AcpToolCall")[-1]["call"]["status"] == "rejected"
    assert nvim.buffer_text(nvim.lua("return vim.fn.bufnr('main.py')")) == "\n".join(UNSAVED[:3])


def test_writing_into_the_buffer_only(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = running(editor, agent_script(tmp_path, TURN), fs={"write": "buffer"})
    ask_by_keys(nvim, "go")
    answer_by_key(nvim, "a")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    buffer = nvim.lua("return vim.fn.bufnr('main.py')")
    assert "goodbye" in nvim.buffer_text(buffer)
    assert nvim.lua("return vim.bo[...].modified", buffer)
    assert (nvim.project / "main.py").read_text() == "def greet():\n    print('hi')\n"


def test_answers_through_the_api(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = running(editor, agent_script(tmp_path, TURN))
    assert nvim.lua('return { require("acp_nvim").prompt("go") }') == [True]
    nvim.wait_until('#require("acp_nvim").permissions() > 0')
    (asked,) = nvim.lua('return require("acp_nvim").permissions()')
    assert asked["title"] == "Edit main.py"
    kinds = [(option["kind"], option.get("ours", False)) for option in asked["options"]]
    assert kinds == [("allow_once", False), ("allow_always", False), ("reject_once", False), ("reject_always", True)]
    assert nvim.lua('return require("acp_nvim").status().state') == "waiting"
    assert nvim.lua('return (require("acp_nvim").answer(...))', asked["id"], "no such option") is False
    assert nvim.lua('return require("acp_nvim").answer(...)', asked["id"], "allow") is True
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert "Done: allow" in nvim.chat_text()


def test_the_code_window_follows_without_taking_the_focus(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            prompt.tool("t", "Look", kind="read", locations=[{"path": os.getcwd() + "/far.txt", "line": 70}])
            prompt.say("there")
        """,
    )
    nvim = running(editor, script)
    (nvim.project / "far.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    code = nvim.lua("return vim.api.nvim_get_current_win()")
    ask_by_keys(nvim, "go")
    focus = nvim.lua("return vim.api.nvim_get_current_win()")
    nvim.wait_until("vim.api.nvim_win_get_cursor(...)[1] == 70", LIMIT, "the cursor to follow", code)
    name = nvim.lua("return vim.api.nvim_buf_get_name(vim.api.nvim_win_get_buf(...))", code)
    assert name == str(nvim.project / "far.txt")
    assert nvim.lua("return vim.api.nvim_get_current_win()") == focus
    assert nvim.lua("return vim.api.nvim_get_mode().mode") == "n"


def test_following_can_be_switched_off(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            prompt.tool("t", "Look", kind="read", locations=[{"path": os.getcwd() + "/main.py", "line": 3}])
            prompt.say("there")
        """,
    )
    nvim = running(editor, script)
    code = nvim.lua("return vim.api.nvim_get_current_win()")
    nvim.command("AcpFollow off")
    ask_by_keys(nvim, "go")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.lua("return vim.api.nvim_win_get_cursor(...)[1]", code) == 1


def test_a_range_goes_along_as_a_resource(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(tmp_path, "")
    nvim = running(editor, script)
    nvim.command("2,3AcpPrompt explain this")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    (prompt,) = script.received("session/prompt")
    text, resource = prompt["params"]["prompt"]
    assert text == {"type": "text", "text": "explain this"}
    assert resource["type"] == "resource"
    assert resource["resource"]["text"].rstrip("\n") == "def greet():\n    print('hello')"
    assert resource["resource"]["uri"] == f"file://{nvim.project}/main.py#L2-3"
    assert "explain this\n@main.py:2-3" in nvim.chat_text()


def test_a_second_prompt_waits_for_the_first(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            if prompt.text == "first":
                agent.expect("_go")
            prompt.say("heard " + prompt.text)

        def session_cancel(agent, request):
            pass
        """,
    )
    nvim = running(editor, script)
    for text in ("first", "second", "third"):
        nvim.lua('require("acp_nvim").prompt(...)', text)
    nvim.wait_until('require("acp_nvim").status().queue == 2')
    script.wait_received("session/prompt")
    assert len(script.received("session/prompt")) == 1
    nvim.command("AcpStop")
    nvim.wait_until('require("acp_nvim").status().state == "stopped"')
    assert nvim.lua('return require("acp_nvim").status().queue') == 2


def test_cancelling(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    script = agent_script(
        tmp_path,
        """
        def turn(agent, prompt):
            prompt.tool("t", "Long work", kind="execute", status="in_progress")
            prompt.say("working")
            prompt.wait_cancelled()
            return "cancelled"
        """,
    )
    nvim = running(editor, script)
    ask_by_keys(nvim, "go")
    nvim.wait_until(lambda: "working" in nvim.chat_text())
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    assert nvim.events("AcpTurnEnd")[0]["stop_reason"] == "cancelled"
    assert nvim.events("AcpToolCall")[-1]["call"]["status"] == "cancelled"
    nvim.wait_until('require("acp_nvim").status().state == "idle"')


def test_cancel_with_a_bang_ends_an_agent_that_does_not_listen(
    editor: Callable[..., HeadlessEditor], tmp_path: Path
) -> None:
    nvim = running(editor, agent_script(tmp_path, "    IGNORE_EOF = IGNORE_SIGTERM = True\n" + DEAF))
    ask_by_keys(nvim, "go")
    nvim.wait_until(lambda: "deaf" in nvim.chat_text())
    nvim.command("AcpCancel!")
    nvim.wait_until('require("acp_nvim").status().state == "stopped"')
    nvim.command("AcpPrompt once more")
    nvim.wait_until(lambda: nvim.chat_text().count("deaf") == 2)
    assert "does not know what was said above" in nvim.chat_text()


@pytest.mark.parametrize("where", ["wiped", "reloaded"])
def test_the_chat_can_be_drawn_again(editor: Callable[..., HeadlessEditor], tmp_path: Path, where: str) -> None:
    nvim = running(editor, agent_script(tmp_path, TURN))
    ask_by_keys(nvim, "go")
    answer_by_key(nvim, "a")
    nvim.wait_until(lambda: "Changed 1 file" in nvim.chat_text())
    before = nvim.chat_text()
    if where == "wiped":
        nvim.command(f"bwipeout! {nvim.chat_buffer()}")
    else:
        nvim.lua(
            'for name in pairs(package.loaded) do if name:match("^acp_nvim") then package.loaded[name] = nil end end'
        )
    nvim.command("AcpChat")
    nvim.wait_until(lambda: nvim.chat_text() == before, what="the same text again")


def test_a_second_cancel_says_how_to_force_it(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> None:
    nvim = running(editor, agent_script(tmp_path, DEAF))
    ask_by_keys(nvim, "go")
    nvim.wait_until(lambda: "deaf" in nvim.chat_text())
    nvim.command("AcpCancel")
    nvim.command("AcpCancel")
    nvim.wait_until(lambda: ":AcpCancel! insists" in nvim.chat_text())

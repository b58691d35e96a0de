"""What an agent does without a prompt, after its turn, is a turn in the real Neovim: seen, reviewed, and cancelled."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nvim.reviewing import ANSWER, Desk
from tests.support.agent_edits import git
from tests.support.agent_scripts import agent_script
from tests.support.editor import HeadlessEditor

UTIL = "def add(a, b):\n    return a - b\n"
FIXED = UTIL.replace("-", "+")

AGENT = f"""
    import threading

    EDITED = threading.Event()
    TEXT = {FIXED!r}

    def wait_for(name):
        while not os.path.exists(name):
            time.sleep(0.01)

    def at_once(agent, act):
        # in one write: a pause between could be the end of a turn of its own
        said, send = [], agent.wire.send
        agent.wire.send = said.append
        act()
        agent.wire.send = send
        agent.wire.send_lines(json.dumps({{"jsonrpc": "2.0", **one}}).encode() for one in said)

    PATH = os.path.join(os.getcwd(), "util.py")
    DIFF = {{"type": "diff", "path": PATH, "oldText": "a - b", "newText": "a + b"}}

    def begin(prompt):
        prompt.say("They have failed.")
        prompt.tool("e", "Edit util.py", kind="edit", status="pending", content=[DIFF], locations=[{{"path": PATH}}])

    def end(prompt):
        prompt.tool_update("e", status="completed")
        prompt.say("Fixed.")

    def edit(agent, prompt):
        if prompt.ask("e", title="Edit util.py", kind="edit", content=[DIFF]) is None:
            prompt.tool_update("e", status="failed")
            return prompt.say("I was stopped.")
        if WAY == "fs/write":
            prompt.write(PATH, TEXT)
        elif WAY == "its own tool":
            open(PATH, "w").write(TEXT)
        else:
            prompt.run("sed -i 's/a - b/a + b/' util.py")
        at_once(agent, lambda: end(prompt))

    def turn(agent, prompt):
        if prompt.text != "start":
            EDITED.wait(60)
            return prompt.say(f"<{{prompt.text}}>")
        prompt.tool("b", "Run the tests", kind="execute", status="completed")
        prompt.say("They run in the background.")
        prompt.reply({{"stopReason": "end_turn"}})
        prompt.update("usage_update", used=1, size=10)
        wait_for("go")
        at_once(agent, lambda: begin(prompt))
        if WAY == "its own tool, and a note":
            prompt.write(os.path.join(os.getcwd(), "note"), "failed\\n")
        edit(agent, prompt)
        EDITED.set()
        return NO_ANSWER
"""


@pytest.fixture
def start(editor: Callable[..., HeadlessEditor], tmp_path: Path) -> Callable[[str, int], Desk]:
    """A project and an agent that has had its turn; it goes on when the file `go` is there."""

    def start(way: str, quiet: int) -> Desk:
        script = agent_script(tmp_path, f"\n    WAY = {way!r}\n" + AGENT)

        def quick(**given):
            given["config"] |= {"timeouts": {"background": quiet}, "permissions": {"terminal": "allow"}}
            return editor(**given)

        desk = Desk(quick, script)
        desk.begin({"util.py": UTIL.encode(), ".gitignore": b"go\n"})
        desk.nvim.lua('require("acp_nvim").prompt(...)', "start")
        desk.nvim.wait_until(lambda: desk.nvim.events("AcpTurnEnd"), what="the end of the turn")
        desk.nvim.wait_until(f"{STATUS}.usage ~= nil", what="what comes after it")
        until_state(desk, "idle")
        (desk.cwd / "go").touch()
        return desk

    return start


STATUS = 'require("acp_nvim").status()'


def until_state(desk: Desk, wanted: str) -> None:
    """The editor hears of the state after what has led to it."""
    desk.nvim.wait_until(f"{STATUS}.state == '{wanted}'", what=f"the state {wanted}")


def until_asked(desk: Desk) -> None:
    """The agent asks, in a turn of its own."""
    desk.nvim.wait_until('#require("acp_nvim").permissions() > 0', what="the question")
    assert [one["background"] for one in desk.nvim.events("AcpTurnStart")] == [False, True]
    until_state(desk, "waiting")


def ends(desk: Desk) -> list[tuple[str, bool]]:
    return [(one["stop_reason"], one["background"]) for one in desk.nvim.events("AcpTurnEnd")]


@pytest.mark.parametrize("way", ["its own tool", "fs/write", "a terminal"])
def test_what_it_does_after_its_turn_is_seen_reviewed_and_summed_up(start: Callable[[str, int], Desk], way) -> None:
    desk = start(way, 300)
    until_asked(desk)
    desk.nvim.lua(ANSWER)
    desk.nvim.wait_until(lambda: len(ends(desk)) == 2, what="the end of its own turn")
    assert ends(desk) == [("end_turn", False), ("end_turn", True)]
    shown = {"util.py": ("modify", 1, 1, None)}
    desk.until_reviews(shown)
    desk.until_told(shown)
    desk.nvim.wait_until(lambda: desk.nvim.chat_text().count("Changed 1 file") == 1, what="one summary")
    until_state(desk, "idle")
    desk.nvim.command("AcpReview! rejectall")
    desk.until_nothing_is_left()
    assert (desk.cwd / "util.py").read_text() == UTIL
    assert git(desk.cwd, "status", "--porcelain") == ""
    desk.check_silence()


def test_one_press_stops_it(start: Callable[[str, int], Desk]) -> None:
    desk = start("its own tool", 60_000)
    until_asked(desk)
    desk.nvim.command("AcpCancel")
    desk.script.wait_received("session/cancel")
    desk.nvim.wait_until(lambda: "I was stopped." in desk.nvim.chat_text(), what="its last words")
    assert ends(desk) == [("end_turn", False), ("cancelled", True)]
    assert "Stopped: cancelled" in desk.nvim.chat_text()
    until_state(desk, "idle")
    assert desk.nvim.lua('return #require("acp_nvim").permissions()') == 0
    assert len(desk.nvim.events("AcpTurnStart")) == 2
    assert (desk.cwd / "util.py").read_text() == UTIL
    desk.check_silence()


def test_a_prompt_goes_out_at_once_and_the_work_goes_on_in_its_turn(start: Callable[[str, int], Desk]) -> None:
    desk = start("its own tool, and a note", 60_000)
    until_asked(desk)
    desk.nvim.lua('require("acp_nvim").prompt(...)', "hello")
    desk.script.wait_received("session/prompt", 2)
    assert ends(desk) == [("end_turn", False), ("end_turn", True)]
    assert desk.nvim.chat_text().count("Changed 1 file") == 1
    until_state(desk, "waiting")  # the agent still asks
    desk.nvim.lua(ANSWER)
    desk.nvim.wait_until(lambda: len(ends(desk)) == 3, what="the end of the prompted turn")
    assert ends(desk)[-1] == ("end_turn", False)
    desk.nvim.wait_until(lambda: desk.nvim.chat_text().count("Changed 1 file") == 2, what="a summary of each")
    chat = desk.nvim.chat_text()
    words = ("They have failed.", "Changed 1 file", "note", "\nhello", "Fixed.", "<hello>", "Changed 1 file")
    found = re.search(".*".join(map(re.escape, words)), chat, re.DOTALL)
    assert found, chat
    desk.until_reviews({"note": ("add", 1, 0, None), "util.py": ("modify", 1, 1, None)})
    assert [one["background"] for one in desk.nvim.events("AcpTurnStart")] == [False, True, False]
    desk.check_silence()

"""What the user types has the same effect, whether or not an agent is followed meanwhile."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.lua.test_follow import RUNTIME, state
from tests.support.examples import examples
from tests.support.typing_user import CHUNKS, LINES, LUA, Keys, differences, typed

LOCATIONS = 1000
EXAMPLES = examples(40)
FILES = ("one.py", "two.lua", "three.txt", "missing.txt", False)  # the last is the file where the user types

# The real path of events, each in a batch of its own; no pauses, so that nothing is left out.
BURST = """
local directory, files = ...
local limits = require("acp_nvim.limits")
limits.follow_pause_ms, limits.follow_share = 1, 1e9
local apply = require("acp_nvim.events").apply
local number, shows = 0, 0
local jump = require("acp_nvim.follow.jump")
local show = jump.show
jump.show = function(...)
  shows = shows + 1
  return show(...)
end
function _G.burst(count)
  for _ = 1, count do
    number = number + 1
    local name = files[number % #files + 1]
    local path = directory .. "/" .. (name or ("user%d.txt"):format(user.count))
    apply({ { type = "location", session = 1, path = path, line = number * 7 % 90 + 1 } })
  end
end
function _G.shows()
  return shows
end
"""


@pytest.fixture
def stage(editor):
    """The user's window, and another one that follows; a screen, so that questions would be asked."""
    for name in FILES[:3]:
        (editor.project / name).write_text("".join(f"def f{n}(): pass  # line {n}\n" for n in range(100)))
    editor.api("ui_attach", 120, 40, {})
    editor.lua(RUNTIME)
    editor.command("edit one.py | split")
    return editor


@pytest.fixture
def agent(stage):
    """Of a chat that is open beside that; it is followed wherever the focus is."""
    editor = stage
    win = editor.api("get_current_win")
    editor.chat()
    editor.api("set_current_win", win)
    editor.command("AcpFollow on")
    editor.lua(LUA)
    editor.lua("user.begin(...)", LINES)
    editor.lua(BURST, str(editor.project), FILES)
    agent = Agent(editor)
    yield agent
    agent.other.close()


class Agent:
    """An agent that works while the user types."""

    def __init__(self, editor):
        self.editor = editor
        self.other = editor.connect()
        self.count = 0

    def work(self):
        """Let the agent send locations between two keys."""
        self.editor.rpc.notify("nvim_exec_lua", "burst(...)", [self.count])
        for _ in range(2):
            if not self.editor.api("get_mode")["blocking"]:
                with contextlib.suppress(AssertionError):  # a key is awaited: what was told comes after it
                    self.other.request("nvim_eval", "1", limit=0.2)

    def while_typing(self, chunks, all_):
        """Type, with enough locations between any two keys to make `all_` of them."""
        self.count = all_ // (sum(map(len, chunks)) + 1) + 1 if all_ else 0
        return typed(self.editor, chunks, self.work)


def same(agent, chunks):
    """Typed with and without locations; Neovim itself notices messages of any kind."""
    plain = agent.while_typing(chunks, 0)
    followed = agent.while_typing(chunks, LOCATIONS)
    found = differences(plain, followed)
    assert not found, f"{chunks}: {found}"


def check_followed(agent, at_least):
    """Check that the agent was followed meanwhile."""
    editor = agent.editor
    assert editor.lua("return shows()") >= at_least
    assert state(editor) == "on"
    assert editor.messages() == ["acp_nvim: the agent is followed"]


@pytest.mark.parametrize("kind", CHUNKS)
def test_each_command_by_itself(agent, kind):
    for chunk in CHUNKS[kind]:
        same(agent, [chunk])
    check_followed(agent, len(CHUNKS[kind]))


@pytest.mark.hypothesis
def test_any_commands_one_after_the_other(agent):
    chunk: st.SearchStrategy[Keys] = st.sampled_from([chunk for kind in CHUNKS.values() for chunk in kind])

    @given(st.lists(chunk, min_size=2, max_size=8))
    @settings(max_examples=EXAMPLES)
    def same_as_alone(chunks: list[Keys]) -> None:
        same(agent, chunks)

    same_as_alone()
    check_followed(agent, 10 * EXAMPLES)

"""The steps that each agent goes through, in order. Each says in a few words what it saw, or fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.interop import (
    attachment_steps,
    command_steps,
    editor_steps,
    installing,
    session_steps,
    setting_steps,
    subagent_steps,
    unseen_steps,
)
from tests.interop.model.scenes import NEW
from tests.interop.stage import NotOfferedError, Stage


@dataclass(frozen=True)
class Step:
    """`needs` names the steps without which it cannot be tried; `optional` ones depend on what the agent offers."""

    name: str
    run: Callable[[Stage], str]
    needs: tuple[str, ...] = ()
    optional: bool = False


def install(stage: Stage) -> str:
    """Install the agent from its registry."""
    installing.install(stage.agent)
    stage.lay_out()
    return stage.agent.version


def initialize(stage: Stage) -> str:
    """A chat with it is opened."""
    stage.open()
    stage.nvim.command(f"AcpChat {stage.agent.name}")
    stage.wait(lambda: stage.wire.answers("initialize"), "an answer to initialize")
    assert stage.wire.result("initialize"), stage.wire.answers("initialize")
    return f"version {stage.wire.result('initialize')['protocolVersion']}"


def new_session(stage: Stage) -> str:
    """Check that opening the chat made a session."""
    stage.wait(lambda: stage.status()["state"] in ("idle", "failed"), "a session")
    status = stage.status()
    assert status["state"] == "idle", stage.describe()
    stage.session_id = status["session_id"]
    later = {"subagents"}  # their step looks at what is offered
    assert stage.offers.steps() - later == set(stage.agent.offers) - later, (
        f"it offers {sorted(stage.offers.steps())}, its file says {sorted(stage.agent.offers)}"
    )
    return "yes"


def prompt(stage: Stage) -> str:
    """It answers, bit by bit, and all of it is in the chat."""
    end, _ = stage.turn("greet", "word:plum")
    assert end["stop_reason"] == "end_turn", stage.describe()
    for text in stage.agent.answers.get("greet", ANSWERED).split("|"):
        stage.wait(lambda text=text: text in stage.nvim.chat_text(), f"{text!r} in the chat")
    chunks = [one for one in stage.wire.received("session/update") if "agent_message" in str(one)]
    return f"{'streamed' if len(chunks) > 3 else 'answered'}"


ANSWERED = "Here is what I **found**.|Unicode: héllo 世界 😀 café. That is all of it."


def needs_model(stage: Stage) -> None:
    """Examples answer in their own way."""
    if stage.agent.is_example:
        raise NotOfferedError


def edit(stage: Stage) -> str:
    """It changes a file; the change is on disk, in the buffer, and under review."""
    needs_model(stage)
    path = stage.project / "main.py"
    stage.edit(path)
    _, asked = stage.turn("edit")
    stage.wait(lambda: NEW in path.read_text(), "the edit on disk")
    nr = stage.nvim.lua("return vim.fn.bufnr(...)", str(path))
    stage.wait(lambda: NEW in stage.nvim.buffer_text(nr), "the edit in the buffer")
    stage.wait(lambda: stage.nvim.lua(REVIEWED, "main.py"), "the edit under review")
    assert "Edited it." in stage.nvim.chat_text()
    by = "over the protocol" if stage.wire.received("fs/write_text_file") else "by itself"
    return f"{by}, {'asked' if asked else 'not asked'}"


REVIEWED = """
for _, one in ipairs(require("acp_nvim.review.files").all()) do
  if vim.fs.basename(one.path) == ... then
    return one.operation ~= "none"
  end
end
"""


def command(stage: Stage) -> str:
    """It runs a command, which fails; what it printed is shown. Nobody is asked twice for it."""
    needs_model(stage)
    _, asked = stage.turn("run")
    assert "It ended with 3." in stage.nvim.chat_text()
    assert not stage.wire.open_requests(), stage.wire.open_requests()
    assert len(asked) <= 1, asked
    if not stage.wire.received("terminal/create"):
        return "by itself"
    for kind in ("allow_always", "allow_once"):  # the second time some agents do not ask: then we do
        _, asked = stage.turn("run", kind=kind)
        assert len(asked) == 1, asked
    return "in a terminal of Neovim"


def cancel(stage: Stage) -> str:
    """A long answer is cut off, and the next prompt works."""
    before = len(stage.ends())
    if stage.agent.is_example and "slow" not in stage.agent.answers:
        raise NotOfferedError
    first = stage.agent.answers.get("slow", "word number 5,")
    stage.say("slow")
    said = stage.agent.prompts.get("slow", "scene:slow")
    if stage.agent.whole_answers:
        stage.wait(lambda: stage.model.turns[-1][0] == "slow", "the model to be asked")
    else:
        stage.wait(lambda: first in stage.text().partition(said)[2], "the beginning of a long answer")
    stage.nvim.command("AcpCancel")
    stage.wait(lambda: len(stage.ends()) > before, "the end of the cancelled turn")
    assert stage.ends()[-1]["stop_reason"] == "cancelled", stage.ends()[-1]
    assert "word number 1499," not in stage.nvim.chat_text()
    end, _ = stage.turn("recall", "after a cancelled turn")
    assert end["stop_reason"] == "end_turn", end
    return "yes"


STEPS = [
    Step("install", install),
    Step("initialize", initialize, ("install",)),
    Step("new session", new_session, ("initialize",)),
    Step("sign-in", setting_steps.sign_in, ("new session",)),
    Step("prompt", prompt, ("new session",)),
    Step("edit", edit, ("new session",)),
    Step("command", command, ("new session",)),
    Step("editor tools", editor_steps.tools, ("new session",)),
    Step("attachments", attachment_steps.attachments, ("prompt",)),
    Step("mode", setting_steps.mode, ("prompt",)),
    Step("model", setting_steps.model, ("prompt",)),
    Step("cancel", cancel, ("new session",)),
    Step("background", unseen_steps.background, ("edit",)),
    Step("subagents", subagent_steps.subagents, ("edit",)),
    Step("own records", unseen_steps.records, ("prompt",)),
    Step("command in the background", command_steps.left, ("command",)),
    Step("command survives a cancel", command_steps.survives, ("command",)),
    Step("list", session_steps.list_sessions, ("new session",)),
    Step("go on in another Neovim", session_steps.again, ("prompt",)),
    Step("load", session_steps.load, ("prompt",)),
    Step("fork", session_steps.fork, ("prompt", "go on in another Neovim")),
    Step("close", session_steps.close, ("prompt",)),
    Step("delete", session_steps.delete, ("prompt",)),
    Step("leave", session_steps.leave, ("prompt",)),
]

"""The steps about what is set: signing in, the mode, the model."""

from __future__ import annotations

from typing import Any

from tests.interop.stage import NotOfferedError, Stage

UNFIT = ("auto", "default", "custom")
"""What a model is called when it is none: the agent chooses one."""


def sign_in(stage: Stage) -> str:
    """In the way that its file names; agents that want an account or a browser for all their ways are left alone."""
    method = stage.agent.sign_in
    if not stage.offers.methods:
        raise NotOfferedError
    if method is None:
        return "not needed"
    ids = [one.get("id") or one.get("methodId") for one in stage.offers.methods]
    assert method in ids, ids
    stage.nvim.api("cmd", {"cmd": "AcpLogin", "args": [stage.agent.name, method]}, {})
    name = "auth/login" if stage.offers.v2 else "authenticate"
    stage.pause_until(lambda: stage.wire.answers(name) or is_asked(stage), "a key to be asked for, or an answer")
    if is_asked(stage):
        stage.nvim.api("input", "none-is-needed\r")
    stage.pause_until(lambda: stage.wire.answers(name), "an answer to authenticate")
    assert "error" not in stage.wire.answers(name)[-1], stage.wire.answers(name)
    stage.wait(lambda: stage.status()["state"] == "idle", "the session")
    return f"`{method}`"


def choose(stage: Stage, category: str, value: str) -> None:
    """Sets it with the command, and waits until the status has it."""
    stage.nvim.api("cmd", {"cmd": "AcpConfig", "args": [category, value]}, {})
    stage.wait(lambda: stage.status().get(category) == value, f"the {category} {value}")


def is_asked(stage: Stage) -> bool:
    """Whether a text is to be entered."""
    return str(stage.nvim.api("get_mode")["mode"]).startswith("c")


def settled(stage: Stage) -> list[dict[str, Any]]:
    """The agent's answers to what was set so far."""
    methods = ("session/set_mode", "session/set_model", "session/set_config_option")
    return [answer for method in methods for answer in stage.wire.answers(method)]


def change(stage: Stage, category: str) -> tuple[str, str]:
    """From what it was to another value, which the agent has agreed to."""
    if category not in stage.offers.steps():
        raise NotOfferedError
    before = stage.status()[category]
    values = [value for value in stage.offers.choices(category) if value != before]
    plain = [value for value in values if not any(word in value.lower() for word in UNFIT)]
    wanted = stage.agent.choose.get(category) or (plain or values)[0]
    count = len(settled(stage))
    choose(stage, category, wanted)
    stage.wait(lambda: len(settled(stage)) > count, "the agent's answer")
    assert not [answer for answer in settled(stage) if "error" in answer], settled(stage)
    return before, wanted


def mode(stage: Stage) -> str:
    """Switch to another mode and back."""
    before, wanted = change(stage, "mode")
    choose(stage, "mode", before)
    how = "an option" if stage.wire.answers("session/set_config_option") else "a mode"
    return f"{how}: {stage.offers.names('mode').get(wanted, wanted)}"


def model(stage: Stage) -> str:
    """The next prompt goes to another model."""
    before, wanted = change(stage, "model")
    if stage.agent.is_example:
        return stage.offers.names("model").get(wanted, wanted)
    used = stage.model.turns[-1][1]
    end, _ = stage.turn("recall", f"with {wanted}")
    assert end["stop_reason"] == "end_turn", stage.describe()
    assert stage.model.turns[-1][1] != used, f"the model server is asked for {used}, as before"
    choose(stage, "model", before)
    how = "an option" if len(stage.wire.answers("session/set_model")) == 0 else "`session/set_model`"
    return f"{how}: {stage.offers.names('model').get(wanted, wanted)}"

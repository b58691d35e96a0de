"""Mentions, from the keys that a person types to what the agent gets."""

from __future__ import annotations

import pytest

from tests.support.agent_scripts import agent_script

AGENT = """
    INITIALIZE = {"protocolVersion": 1, "agentCapabilities": {"promptCapabilities": TAKES}}
    def turn(agent, prompt):
        prompt.say("done")
"""


@pytest.fixture
def start(editor, tmp_path):
    """Starts Neovim with an agent that takes these, and a chat with it."""

    def begin(takes):
        script = agent_script(tmp_path, AGENT.replace("TAKES", repr(takes)))
        nvim = editor(agents={"it": {"command": script.argv}}, config={"default_agent": "it"})
        (nvim.project / "a b.py").write_text("one\ntwo\nthree\n")
        (nvim.project / "open.py").write_text("saved\n")
        (nvim.project / "shot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
        nvim.command("edit open.py")
        nvim.command("AcpChat")
        nvim.wait_until(lambda: nvim.events("AcpSessionReady"), what="the session")
        return nvim, script

    return begin


def send(nvim, script, text):
    """The blocks that the agent gets after the text."""
    nvim.keys(f"i{text}<C-s><Esc>")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the end of the turn")
    (prompt,) = script.received("session/prompt")
    return prompt["params"]["prompt"][1:]


def test_an_agent_that_takes_texts_gets_what_is_not_saved_and_what_is_not_open(start):
    nvim, script = start({"embeddedContext": True, "image": True})
    nvim.command("wincmd t")
    nvim.api("buf_set_lines", 0, 0, -1, True, ["not saved"])
    nvim.command("AcpChat")
    blocks = send(nvim, script, 'see @open.py, @"a b.py":2-3 and @shot.png')
    uris = {name: (nvim.project / name).as_uri() for name in ("open.py", "a b.py", "shot.png")}
    assert [block["type"] for block in blocks] == ["resource", "resource", "image"]
    assert blocks[0]["resource"] == {"uri": uris["open.py"], "text": "not saved\n", "mimeType": "text/x-python"}
    assert blocks[1]["resource"]["text"] == "two\nthree\n"
    assert blocks[1]["resource"]["uri"] == f"{uris['a b.py']}#L2-3"
    assert blocks[2]["data"] == "iVBORw0KGgo="
    assert nvim.chat_text().count("shot.png") == nvim.chat_text().count(":2-3") == 1  # named in the text itself


def test_an_agent_that_takes_none_gets_links_and_the_text_that_is_not_saved(start):
    nvim, script = start({})
    blocks = send(nvim, script, 'see @open.py and @"a b.py"')
    assert [block["type"] for block in blocks] == ["resource_link", "resource_link"]
    assert [block["name"] for block in blocks] == ["open.py", "a b.py"]


def test_an_image_that_the_agent_does_not_take_stays_in_the_prompt(start):
    nvim, script = start({})
    nvim.keys("isee @shot.png<C-s>")
    nvim.wait_until(lambda: nvim.messages(), what="the message")
    assert "it takes no images: take @shot.png out" in nvim.messages()[-1]
    assert nvim.api("get_current_line") == "see @shot.png"
    assert script.received("session/prompt") == []

"""Messages that are malformed: said once, in words; the log names the member; everything else goes on."""

from __future__ import annotations

import pytest

from acp_nvim.contract import events
from acp_nvim.transcript.presenter import UNKNOWN_UPDATE
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


async def test_a_malformed_update_is_told_once_and_the_turn_goes_on(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for _ in range(3):
                prompt.update("tool_call_update", title="no id")
            prompt.say("Done.")
    """)
    assert await host.turn() == "end_turn"
    assert host.text() == "Done."
    [told] = [text for text in host.notices() if "malformed" in text]
    assert told == "Agent 'it' sent something malformed. That part was left out; :AcpLog names it."
    assert host.log_path.read_text().count("toolCallId") == 3


async def test_what_is_right_of_a_malformed_update_is_used(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Edit", kind="edit", status="in_progress")
            prompt.tool_update("c", status="completed", title=5, locations=[{"path": "/p/f", "line": "three"}])
    """)
    await host.turn()
    [call] = host.calls().values()
    assert (call.title, call.status, call.locations) == ("Edit", "completed", [events.FileLine("/p/f")])
    assert len([text for text in host.notices() if "malformed" in text]) == 1
    assert "$.update.title" in host.log_path.read_text()


async def test_text_before_it_stands_before_it(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.say("before")
            prompt.update("plan", entries=5)
            prompt.say("after")
    """)
    await host.turn()
    shown = [event for event in host.editor.events if getattr(event, "text", "") in ("before", "after")]
    [notice] = [event for event in host.editor.events if "malformed" in getattr(event, "text", "")]
    assert [event.text for event in shown] == ["before", "after"]
    places = [host.editor.events.index(one) for one in (shown[0], notice, shown[1])]
    assert places == sorted(places)


async def test_a_part_of_an_answer_that_is_malformed_is_left_out_and_told(host: Host) -> None:
    host.script('SESSION = {"configOptions": [{"id": 5}], "modes": {"currentModeId": "m", "availableModes": []}}')
    host.open()
    assert (await host.until_state("idle")).mode == "m"
    assert any("answered something malformed" in text for text in host.notices())
    assert "configOptions[0]" in host.log_path.read_text()


async def test_unknown_updates_are_told_once_and_named_in_the_log(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            for kind in ("_hologram", "_hologram", "_smell"):
                prompt.update(kind, depth=3)
    """)
    assert await host.turn() == "end_turn"
    assert host.notices() == [UNKNOWN_UPDATE]
    logged = host.log_path.read_text()
    assert [logged.count(f"unknown kind '{kind}'") for kind in ("_hologram", "_smell")] == [1, 1]

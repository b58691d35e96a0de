"""Messages that are malformed: said once, in words that name the member; everything else goes on."""

from __future__ import annotations

import pytest

from acp_nvim.ui import events
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
    assert "toolCallId" in told


async def test_what_is_right_of_a_malformed_update_is_used(host: Host) -> None:
    host.script("""
        def turn(agent, prompt):
            prompt.tool("c", "Edit", kind="edit", status="in_progress")
            prompt.tool_update("c", status="completed", title=5, locations=[{"path": "/p/f", "line": "three"}])
    """)
    await host.turn()
    [call] = host.calls().values()
    assert (call.title, call.status, call.locations) == ("Edit", "completed", [events.FileLine("/p/f")])
    assert [text for text in host.notices() if "$.update.title" in text]


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
    assert any("configOptions[0]" in text for text in host.notices())


async def test_an_unknown_update_is_told(host: Host) -> None:
    host.script('def turn(agent, prompt): prompt.update("_hologram", depth=3)')
    assert await host.turn() == "end_turn"
    assert any("_hologram" in text for text in host.notices())

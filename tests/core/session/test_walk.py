"""The walk of a `session/update` through the host, as doc/development/architecture.md draws it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec
import pytest

import acp_nvim
from acp_nvim.contract import events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio

OURS = str(Path(acp_nvim.__file__).parent)
WORD = "platypus"
"""The text of the chunk: whoever is called with it gets the update."""
WALK = [
    "jsonrpc/framing.py LineFramer.feed",
    "connection/router.py MessageRouter.notification",
    "acp/v1.py DialectV1.update",
    "session/session.py Session.on_update",
    "transcript/presenter.py Presenter.update",
    "transcript/transcript.py Transcript.say",
    "transcript/presenter.py Presenter.publish",
]
"""Those that hand it on and get it as an argument. `DialectV1.update` is the one that decodes."""
WITHOUT_ARGUMENT = 5
"""`Connection._read`, `Dispatcher.take` and `MessageRouter.flush` hold it themselves; a fake editor stands here for
`NvimEditor.publish` and `Batches.add`."""
LOOK = {
    "process/pipe_reader.py PipeReader.data_received",
    "jsonrpc/framing.py LineFramer._end_all",
    "jsonrpc/decoding.py in_utf8",
    "jsonrpc/decoding.py _is_utf8",
    "jsonrpc/decoding.py require_shallow",
    "jsonrpc/decoding.py may_be_wide",
    "connection/update_run.py UpdateRun.takes",
    "session/connecting.py Replaying.takes",
    "session/turn.py Turn.take_message",
    "session/turn.py Turn._is_echo",
    "session/background.py Background.heard",
    "transcript/views.py describe",
    "transcript/truncation.py TurnText.take",
    "history/store.py TranscriptStore.begin.<locals>.hear",
    "history/recorder.py Recorder.on_event",
    "history/recorder.py Recorder._note_message",
}
"""Those that only look at it on the way: bounds, states, what is kept of the conversation; and where it waits for
`Connection._read`, which would be in a stream of anyio."""
MOST = 12


def carries(value: Any) -> bool:
    """Whether the text is in an argument, in whatever shape."""
    if isinstance(value, bytes | bytearray | msgspec.Raw):
        return WORD.encode() in bytes(value)
    if isinstance(value, list | tuple):
        return any(carries(one) for one in value)
    return isinstance(value, str | msgspec.Struct) and WORD in str(value)


class Walk:
    """Notes our functions that are called with the text, in order; `sys.setprofile` calls it."""

    def __init__(self) -> None:
        self.functions: list[str] = []

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(OURS) or code.co_name.startswith("<"):
            return
        names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(carries(frame.f_locals.get(name)) for name in names if name != "self"):
            self.functions.append(f"{Path(code.co_filename).relative_to(OURS)} {code.co_qualname}")


async def test_at_most_twelve_functions_get_a_chunk_before_it_is_in_a_batch(host: Host) -> None:
    host.script(
        f"""
        def turn(agent, prompt):
            prompt.say("{WORD}")
            prompt.wait_cancelled()
        """
    )
    host.open()
    walk = Walk()
    sys.setprofile(walk)
    try:
        host.prompt("hi")
        await host.until("the chunk", lambda: WORD in host.text())
    finally:
        sys.setprofile(None)
    host.cancel()
    await host.until("the end", lambda: host.of(events.TurnEnd))
    assert [one for one in walk.functions if one not in LOOK] == WALK
    assert len(WALK) + WITHOUT_ARGUMENT <= MOST

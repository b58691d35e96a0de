"""An agent that writes a file itself and then by `fs/write_text_file` too is seen, whichever came first."""

from __future__ import annotations

import pytest

from acp_nvim import review_events
from tests.core.session.host import Host

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("last", ["one\ntwo\n", "one\n2\n"], ids=["the same", "another text"])
async def test_a_new_file_that_is_there_already(host: Host, last: str) -> None:
    path = host.cwd / "new"
    host.script(f"""
        def turn(agent, prompt):
            open({str(path)!r}, "w").write("one\\ntwo\\n")
            prompt.write({str(path)!r}, {last!r})
    """)
    await host.turn()
    await host.until("the summary", lambda: host.of(review_events.Summary))
    assert host.of(review_events.Summary)[0].files == [review_events.FileView(str(path), "add", 2)]
    assert host.editor.all(review_events.Review)[-1].operation == "add"

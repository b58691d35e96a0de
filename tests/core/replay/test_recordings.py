"""A client that does what was recorded hears what was recorded, in all recordings of real agents."""

from __future__ import annotations

from pathlib import Path

import pytest

from acp_nvim.replay.recording import read_recording
from tests.core.replay.messages import Heard, as_message

RECORDINGS = sorted((Path(__file__).parents[2] / "recordings").glob("*/*.jsonl"))


def test_there_are_recordings_of_five_agents() -> None:
    assert len({path.parent for path in RECORDINGS}) == 5
    assert len(RECORDINGS) == 30


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_recording_is_played_to_its_end(path: Path) -> None:
    recording = read_recording(path)
    assert recording.problems == []
    heard = Heard(recording.records)
    heard.say(*(one.message for one in recording.records if one.direction == "sent" and one.line is None))
    assert heard.deviations == []
    assert heard.player.left == []
    received = [one for one in recording.records if one.direction == "received"]
    assert heard.written == [as_message(one.line) if one.line is not None else one.message for one in received]

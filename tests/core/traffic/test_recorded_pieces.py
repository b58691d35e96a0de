"""No secret of the table is in a recording or in the log, however it is divided among messages, lines and reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.host_log import start_log
from acp_nvim.traffic.log import TrafficLog
from tests.support.examples import examples
from tests.support.secret_table import READABLE, SECRETS, Secret, shown

LEAK = 6
CUTS = st.lists(st.integers(0, 300), max_size=6)


def update(session: str, **members: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": members}}


def chunk(text: str) -> dict[str, Any]:
    return update("s", sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def terminal(text: str) -> dict[str, Any]:
    data = {"terminal_output": {"terminal_id": "t", "data": text}}
    return update("s", sessionUpdate="tool_call_update", toolCallId="c", _meta=data)


def unknown(text: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "_vendor/progress", "params": {"delta": text}}


def texts_of(value: Any) -> str:
    if isinstance(value, dict):
        return "".join(texts_of(one) for one in value.values())
    return value if isinstance(value, str) else ""


@settings(max_examples=examples(60))
@given(st.sampled_from(SECRETS), CUTS, st.sampled_from([chunk, terminal, unknown]))
def test_a_secret_in_pieces_is_in_no_message_of_a_recording(
    tmp_path_factory: pytest.TempPathFactory, one: Secret, cuts: list[int], message: Any
) -> None:
    text = f"Some words before.\n{one.text}\nSome words after."
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    log = TrafficLog.open(tmp_path_factory.mktemp("recorded"), "it", ["it"], "/", {})
    assert log.path is not None
    for start, end in pairwise(ends):
        log.received(json.dumps(message(text[start:end])).encode())
        log.received(json.dumps(update("other", sessionUpdate="plan", entries=[])).encode())
    records = [json.loads(line) for line in log.path.read_bytes().splitlines()[1:]]
    assert len(records) == 2 * (len(ends) - 1)  # each is there at once, in order
    pieces = [record["message"] for record in records[::2]]
    assert len(one.secret) < 4 or shown(one.secret, "".join(map(texts_of, pieces))) <= LEAK
    log.close()


def json_in_a_text(one: Secret) -> list[bytes]:
    return [json.dumps(chunk(json.dumps({"output": f"{one.text}\n"}))).encode()]


def lines_that_are_no_messages(one: Secret) -> list[bytes]:
    return one.text.encode().splitlines(keepends=True)


@pytest.mark.parametrize("said", [json_in_a_text, lines_that_are_no_messages])
def test_a_secret_is_in_no_recording_whatever_contains_it(
    tmp_path: Path, said: Callable[[Secret], list[bytes]]
) -> None:
    for number, one in enumerate(SECRETS):
        log = TrafficLog.open(tmp_path / str(number), "it", ["it"], "/", {})
        assert log.path is not None
        for line in said(one):
            log.received(line)
        log.close()
        assert len(one.secret) < 4 or shown(one.secret, log_text(tmp_path / str(number))) <= LEAK, one.kind


def log_text(directory: Path) -> str:
    return "".join(file.read_text(encoding="utf-8").partition("\n")[2] for file in directory.glob("*.jsonl"))


def test_an_output_that_grows_in_each_update_shows_no_beginning_of_a_secret(tmp_path: Path) -> None:
    for number, one in enumerate(SECRETS):
        log = TrafficLog.open(tmp_path / str(number), "it", ["it"], "/", {"KEY": "known-secret-value"})
        assert log.path is not None
        text = f"$ run\n{one.text}"
        for end in range(1, len(text) + 1, 11):
            output = {"type": "text", "text": text[:end]}
            log.received(
                json.dumps(update("s", sessionUpdate="tool_call_update", toolCallId="c", rawOutput=output)).encode()
            )
            log.sent(json.dumps({"jsonrpc": "2.0", "id": end, "result": {"output": text[:end]}}).encode())
        shown_there = log.path.read_text()
        assert len(one.secret) < 4 or shown(one.secret, shown_there.replace("agent", "")) <= LEAK, one.kind
        log.close()


def test_a_known_secret_in_pieces_is_in_no_message_and_no_escape_hides_one(tmp_path: Path) -> None:
    log = TrafficLog.open(tmp_path, "it", ["it"], "/", {"KEY": "known/secret-value"})
    assert log.path is not None
    for piece in ("it is kno", "wn/sec", "ret-va", "lue, and kn", "own"):
        log.received(json.dumps(chunk(piece)).encode())
    log.received(rb'{"method":"x","params":{"text":"known\/secret-valu"}}')
    log.received(rb'{"method":"x","params":{"text":"\u0065 is over"}}')
    texts = [texts_of(json.loads(line)["message"]["params"]) for line in log.path.read_bytes().splitlines()[1:]]
    assert [text.removeprefix("s").removeprefix("agent_message_chunktext") for text in texts[:5]] == [
        "it is kno",
        "[masked]",
        "",
        ", and kn",
        "[masked]",
    ]
    assert texts[5:] == ["[masked]", " is over"]
    log.close()


@pytest.mark.parametrize("size", [1, 3, 20])
def test_a_conversation_about_code_stays_readable_in_a_recording(tmp_path: Path, size: int) -> None:
    log = TrafficLog.open(tmp_path, "it", ["it"], "/", {})
    assert log.path is not None
    text = "Some words about the monkey, `def f(x): return x`, and a path /usr/bin/env.\n" * 3
    for start in range(0, len(text), size):
        log.received(json.dumps(chunk(text[start : start + size])).encode())
    for whole in READABLE:
        log.sent(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"text": whole + "\n"}}).encode())
    messages = [json.loads(line)["message"] for line in log.path.read_bytes().splitlines()[1:]]
    count = len(messages) - len(READABLE)
    assert "".join(one["params"]["update"]["content"]["text"] for one in messages[:count]) == text
    assert [one["params"]["text"] for one in messages[count:]] == [f"{one}\n" for one in READABLE]
    log.close()


def test_what_agents_write_to_stderr_is_in_the_log_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "log" / "acp_nvim.log"
    logger = logging.getLogger("acp_nvim")
    kept = logger.propagate, logger.level
    start_log(str(path), {"KEY": "known-secret-value"})
    try:
        for one in SECRETS:
            for line in one.text.split("\n"):
                logging.getLogger("acp_nvim.process.child").info("%s stderr: %s", "it", line)
                logging.getLogger("acp_nvim.process.child").info("%s stderr: %s", "other", "nothing")
            logging.getLogger("acp_nvim.process.child").info("%s stderr: %s", "it", "and more words")
        text = path.read_text()
        for one in SECRETS:
            assert len(one.secret) < 6 or shown(one.secret, text) <= LEAK, one.kind
        assert text.count("and more words") == len(SECRETS)
    finally:
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
            handler.close()
        logger.propagate, logger.level = kept

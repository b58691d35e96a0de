"""Decides what the agent of a recording does next: takes the live client's messages, and yields what to do."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_nvim.replay.messages import Json, Substitution, id_key, kind, params, same_call, session_of
from acp_nvim.replay.recording import Record

INTERNAL_ERROR = -32603
REQUEST_CANCELLED = -32800
CANCEL_REQUEST = "$/cancel_request"

SHOWN_CHARS = 60
"""Characters of a prompt that a remark quotes."""


@dataclass(frozen=True, slots=True)
class Write:
    """Send this line to the client; at the recorded pace, `seconds` after the one before it."""

    line: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Remark:
    """Tell the person who replays; `deviation`: the client did not do what was recorded."""

    words: str
    deviation: bool = False


Action = Write | Remark


class Player:
    """Plays the records in order; each `sent` one waits until the live client sends the same."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self._at = 0
        self._hinted = -1
        self._waiting: list[Json] = []  # requests and notifications of the client whose records are not reached yet
        self._answers: Counter[str] = Counter()  # answers of the client, by id
        self._substitution = Substitution()
        self._ids: dict[str, Any] = {}  # live ids of the client's requests, by the recorded ids
        self._asked: set[str] = set()  # ids of the agent's requests

    @property
    def left(self) -> list[Record]:
        """The records that were not played yet, in their order."""
        return self._records[self._at :]

    def take(self, message: Any) -> Iterator[Action]:
        """Take a message of the live client; yield what to send it now, and remarks where it left the recording."""
        match kind(message):
            case "answer" if id_key(message) in self._asked:
                self._answers[id_key(message)] += 1
            case "answer":
                yield Remark(f"an answer to nothing, id {id_key(message)}", deviation=True)
            case "odd":
                yield Remark("passed over: what the client sent is no message")
            case _ if message["method"] == CANCEL_REQUEST:
                yield from self._withdraw(message)
            case _ if self._is_left(message):
                self._waiting.append(message)
            case _:
                yield from self._refuse(message)
        yield from self.advance()

    def advance(self) -> Iterator[Action]:
        """Play up to the next record for which the client has not sent a message yet."""
        while self._at < len(self._records):
            record = self._records[self._at]
            if record.direction == "received":
                yield from self._speak(record)
            elif not self._came(record.message):
                if self._hinted != self._at and "method" in record.message:
                    self._hinted = self._at
                    yield Remark(f"waiting for {_described(record.message)}, as recorded")
                return
            self._at += 1
        rest, self._waiting = self._waiting, []
        for message in rest:
            yield from self._refuse(message)

    # --- the client's part -------------------------------------------------------------------------------------------

    def _came(self, recorded: Any) -> bool:
        """Return whether the client has sent this. Malformed messages and cancellations are not waited for."""
        match kind(recorded):
            case "answer":
                key = id_key(recorded)
                if key in self._asked:
                    if not self._answers[key]:
                        return False
                    self._answers[key] -= 1
                return True
            case "odd":
                return True
        if recorded["method"] == CANCEL_REQUEST:
            return True
        alike = (one for one in self._waiting if same_call(recorded, one) and self._same_session(recorded, one))
        live = next(alike, None)
        if live is None:
            return False
        self._waiting.remove(live)
        self._substitution.learn(params(recorded), params(live))
        if "id" in recorded:
            self._ids[id_key(recorded)] = live.get("id")
        return True

    def _same_session(self, recorded: Json, live: Json) -> bool:
        """Return whether the sessions match; one that the client has not used yet may have any live id."""
        then, now = session_of(recorded), session_of(live)
        if then is None or now is None:
            return True
        return self._substitution.session(then) in (now, None)

    def _is_left(self, live: Json) -> bool:
        """Return whether the recording has a place for this message beside the like ones that wait."""
        sent = (record.message for record in self.left if record.direction == "sent")
        places = sum(same_call(message, live) and self._same_session(message, live) for message in sent)
        return places > sum(same_call(one, live) and session_of(one) == session_of(live) for one in self._waiting)

    def _refuse(self, message: Json) -> Iterator[Action]:
        words = f"the recording has no further {message['method']}"
        yield Remark(words, deviation=True)
        if kind(message) == "request":
            yield _failure(message["id"], INTERNAL_ERROR, words)

    def _withdraw(self, message: Json) -> Iterator[Action]:
        request_id = json.dumps(params(message).get("requestId"))
        alike = (one for one in self._waiting if kind(one) == "request" and id_key(one) == request_id)
        live = next(alike, None)
        if live is not None:
            self._waiting.remove(live)
            yield Remark(f"the client cancelled {live['method']} before its turn", deviation=True)
            yield _failure(live["id"], REQUEST_CANCELLED, "cancelled before its turn in the recording")

    # --- the agent's part --------------------------------------------------------------------------------------------

    def _speak(self, record: Record) -> Iterator[Action]:
        seconds = max(0.0, record.time - self._records[self._at - 1].time) if self._at else record.time
        if record.line is not None:
            yield Write(record.line, seconds)
            return
        several = isinstance(record.message, list)
        spoken = [self._spoken(one) for one in (record.message if several else [record.message])]
        kept = [one for one in spoken if one is not None]
        if len(kept) < len(spoken):
            yield Remark(f"line {record.number}: an answer whose request is not in the recording was left out")
        if kept:
            yield Write(json.dumps(kept if several else kept[0]), seconds)

    def _spoken(self, message: Any) -> Any:
        """Return a recorded message for the live client; None for an answer whose request was not recorded."""
        message = self._substitution.apply(message)
        match kind(message):
            case "request":
                self._asked.add(id_key(message))
            case "answer" if message.get("id") is not None:
                key = id_key(message)
                if key not in self._ids:
                    return None
                result = message.get("result")
                if isinstance(result, dict):  # a new session keeps its recorded id
                    self._substitution.learn_session(result.get("sessionId"), result.get("sessionId"))
                return message | {"id": self._ids.pop(key)}
        return message


def _failure(request_id: Any, code: int, words: str) -> Write:
    """Return the error answer to a request; the client shows `words`."""
    return Write(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": words}}))


def _described(message: Json) -> str:
    """Describe what the client did, for the person who has to repeat it."""
    prompt = params(message).get("prompt")
    texts = [block.get("text") for block in prompt if isinstance(block, dict)] if isinstance(prompt, list) else []
    text = " ".join(one for one in texts if isinstance(one, str))
    shown = f" “{text[:SHOWN_CHARS]}”" if text else ""
    return f"{message['method']}{shown}"

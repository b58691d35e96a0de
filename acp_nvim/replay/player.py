"""Decides what the agent of a recording does next: what the live client says goes in, what is to be done comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from acp_nvim.replay.messages import (
    INTERNAL_ERROR,
    REQUEST_CANCELLED,
    Arrivals,
    Json,
    Substitution,
    failure,
    id_key,
    is_cancellation,
    kind,
    params,
    same_call,
    session_of,
)
from acp_nvim.replay.recording import Record

SHOWN_CHARS = 60
"""Of a prompt, in what is said to the person who replays."""


@dataclass(frozen=True, slots=True)
class Write:
    """Send this line to the client; at the original pace, `seconds` after what was before."""

    line: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Remark:
    """Words for the person who replays; `deviation`: the client did something else than was recorded."""

    words: str
    deviation: bool = False


Action = Write | Remark


class Player:
    """Goes through the records in order; each `sent` one waits until the live client does the same."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records
        self._at = 0
        self._hinted = -1
        self._arrivals = Arrivals()
        self._substitution = Substitution()
        self._ids: dict[str, Any] = {}  # of the client's requests: as recorded, as they are now
        self._asked: set[str] = set()  # ids of the agent's requests

    def __repr__(self) -> str:
        return f"<Player at {self._at} of {len(self._records)}>"

    @property
    def left(self) -> list[Record]:
        """The records that were not played yet, in their order."""
        return self._records[self._at :]

    def begin(self) -> Iterator[Action]:
        """What the agent does before it hears anything."""
        yield from self._advance()

    def take(self, message: Any) -> Iterator[Action]:
        """Take a message of the live client; yield what to send it now, and remarks where it left the recording."""
        match kind(message):
            case "answer" if id_key(message) in self._asked:
                self._arrivals.add_answer(message)
            case "answer":
                yield Remark(f"an answer to nothing, id {id_key(message)}", deviation=True)
            case "odd":
                yield Remark("passed over: what the client sent is no message")
            case _ if is_cancellation(message):
                yield from self._withdraw(message)
            case _ if not self._arrivals.add(message, self._places(message)):
                yield from self._refuse(message)
        yield from self._advance()

    def _advance(self) -> Iterator[Action]:
        """Play until something that the client has not done yet."""
        while self._at < len(self._records):
            record = self._records[self._at]
            if record.direction == "received":
                yield from self._speak(record)
            elif not self._came(record.message):
                yield from self._hint(record)
                return
            self._at += 1
        for message in self._arrivals.take_rest():
            yield from self._refuse(message)

    # --- the client's part -------------------------------------------------------------------------------------------

    def _came(self, recorded: Any) -> bool:
        """Whether the client has done this; what was no message is not waited for."""
        match kind(recorded):
            case "answer":
                return id_key(recorded) not in self._asked or self._arrivals.take_answer(recorded)
            case "odd":
                return True
        if is_cancellation(recorded):
            return True
        live = self._arrivals.take(recorded, lambda message: self._same_session(recorded, message))
        if live is None:
            return False
        self._substitution.learn(params(recorded), params(live))
        if "id" in recorded:
            self._ids[id_key(recorded)] = live.get("id")
        return True

    def _same_session(self, recorded: Json, live: Json) -> bool:
        """A session that the client has not spoken of may have another id now; any other keeps the one it has."""
        then, now = session_of(recorded), session_of(live)
        if then is None or now is None:
            return True
        return now == self._substitution.session(then) or self._substitution.session(then) is None

    def _places(self, live: Json) -> int:
        """How often the recording still has what the client does."""
        sent = (record.message for record in self.left if record.direction == "sent")
        return sum(same_call(message, live) and self._same_session(message, live) for message in sent)

    def _hint(self, record: Record) -> Iterator[Action]:
        if self._hinted != self._at and "method" in record.message:
            self._hinted = self._at
            yield Remark(f"waiting for {_described(record.message)}, as recorded")

    def _refuse(self, message: Json) -> Iterator[Action]:
        words = f"the recording has no further {message['method']}"
        yield Remark(words, deviation=True)
        if kind(message) == "request":
            yield Write(json.dumps(failure(message["id"], INTERNAL_ERROR, words)))

    def _withdraw(self, message: Json) -> Iterator[Action]:
        live = self._arrivals.withdraw(json.dumps(params(message).get("requestId")))
        if live is not None:
            yield Remark(f"the client cancelled {live['method']} before its turn", deviation=True)
            yield Write(
                json.dumps(failure(live["id"], REQUEST_CANCELLED, "cancelled before its turn in the recording"))
            )

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
        """A message of the agent for the live client; None for an answer that belongs to no request."""
        message = self._substitution.apply(message)
        match kind(message):
            case "request":
                self._asked.add(id_key(message))
            case "answer" if message.get("id") is not None:
                key = id_key(message)
                if key not in self._ids:
                    return None
                self._learn_new_session(message)
                return message | {"id": self._ids.pop(key)}
        return message

    def _learn_new_session(self, answer: Json) -> None:
        result = answer.get("result")
        if isinstance(result, dict):
            self._substitution.learn_session(result.get("sessionId"), result.get("sessionId"))


def _described(message: Json) -> str:
    """What the client did, for whoever has to do it again."""
    prompt = params(message).get("prompt")
    texts = [block.get("text") for block in prompt if isinstance(block, dict)] if isinstance(prompt, list) else []
    text = " ".join(one for one in texts if isinstance(one, str))
    shown = f" “{text[:SHOWN_CHARS]}”" if text else ""
    return f"{message['method']}{shown}"

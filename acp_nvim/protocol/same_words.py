"""What both versions ask of an agent in the same words, and how answers are read."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from acp_nvim.protocol.answers import Opened, SessionPage
from acp_nvim.protocol.dialect import Call, Place
from acp_nvim.protocol.translate_facts import session_page
from acp_nvim.wire import facts, open_unions
from acp_nvim.wire.salvage import salvage

log = logging.getLogger(__name__)

T = TypeVar("T")


def read(shape: type[T], raw: msgspec.Raw) -> T:
    """All of it, or `msgspec.ValidationError`."""
    return open_unions.decode(raw, msgspec.json.Decoder(shape))


def read_most(shape: type[T], raw: msgspec.Raw) -> T:
    """What is right of an answer; what is wrong is logged."""
    said, complaints = salvage(raw, msgspec.json.Decoder(shape))
    for complaint in complaints:
        log.warning("an answer of an agent, left out of it: %s", complaint)
    return said


def read_nothing(_raw: msgspec.Raw) -> None:
    """The answer says nothing but that it worked."""


def read_opened(shape: type[T], translate: Callable[[T], Opened], raw: msgspec.Raw) -> Opened:
    """What is right of the answer to what opens a session; what is wrong is among its complaints.

    Nothing says as much as null, which is how ACP v1 "Session Setup" shows the answer to `session/load`.
    """
    said, complaints = salvage(b"{}" if bytes(raw) == b"null" else raw, msgspec.json.Decoder(shape))
    return msgspec.structs.replace(translate(said), complaints=tuple(complaints))


def directories(place: Place) -> list[str] | UnsetType:
    """The additional ones, where there are any."""
    return list(place.additional_directories) or UNSET


class SameWords:
    """The calls of `acp_nvim.protocol.dialect.Dialect` that are alike in both versions."""

    def list_sessions(self, cwd: str | None, cursor: str | None) -> Call[SessionPage]:
        """`session/list`."""
        params = facts.ListSessionsRequest(cwd=cwd or UNSET, cursor=cursor or UNSET)
        return Call("session/list", params, lambda raw: session_page(read_most(facts.ListSessionsResponse, raw)))

    def close_session(self, session_id: str) -> Call[None]:
        """`session/close`."""
        return Call("session/close", facts.CloseSessionRequest(session_id=session_id), read_nothing)

    def delete_session(self, session_id: str) -> Call[None]:
        """`session/delete`."""
        return Call("session/delete", facts.DeleteSessionRequest(session_id=session_id), read_nothing)

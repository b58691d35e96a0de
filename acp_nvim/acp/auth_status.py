"""Translates what agents report of their sign-in and accounts: the unstable schema, and the form of older adapters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from acp_nvim import decoders
from acp_nvim.acp import schema_common as wire
from acp_nvim.acp.fields import Name, given, shortened
from acp_nvim.acp.translation import read_most

STATUS_UPDATES: Final = frozenset({"auth/status_update", "_auth/status_update"})
"""The notifications; the second is that of the adapters of Claude and Codex, from before the schema."""
ACCOUNT_CHARS: Final = 80
"""Characters of one account in words: a line of the screen."""
ACCOUNTS: Final = 3
"""Accounts that are named; the rest is counted."""


class _OlderStatus(msgspec.Struct):
    """The account of `_auth/status_update`; its `kind` is "none" without a sign-in."""

    kind: str
    label: Name = ""
    detail: Name = ""


class _OlderUpdate(msgspec.Struct, rename="camel"):
    auth_status: _OlderStatus


def auth_status_words(raw: msgspec.Raw) -> str:
    """Decode the answer to `auth/status`, and describe it for the user. Raises `msgspec.DecodeError`."""
    said = read_most(wire.AuthStatusResponse, raw)
    return _words(said.state, given(said.accounts) or ())


def status_update_words(method: str, params: msgspec.Raw) -> str:
    """Decode one of the `STATUS_UPDATES` like `auth_status_words`."""
    if method != "_auth/status_update":
        return auth_status_words(params)
    said = decoders.decode(params, _OlderUpdate).auth_status
    return "not signed in" if said.kind == "none" else _account((said.label or said.kind, said.detail))


def _words(state: str, accounts: Iterable[wire.AuthAccount]) -> str:
    known = list(accounts)
    used = [one for one in known if one.active is True] or known
    named = [_account((one.label, *map(given, (one.name, one.email, one.organization)))) for one in used[:ACCOUNTS]]
    words = "; ".join([*named, *([f"… and {len(used) - ACCOUNTS} more"] if len(used) > ACCOUNTS else [])])
    if state == "unauthenticated":
        return f"not signed in ({words})" if words else "not signed in"
    return words or {"authenticated": "signed in", "not_required": "no sign-in is needed"}.get(state, "not known")


def _account(parts: Iterable[str | None]) -> str:
    """Describe an account by its label, and what else is known of it in parentheses."""
    said = [words for part in parts if part and (words := " ".join(part.split()))]
    label, rest = said[0] if said else "an account without a name", ", ".join(said[1:])
    return shortened(f"{label} ({rest})" if rest else label, ACCOUNT_CHARS)

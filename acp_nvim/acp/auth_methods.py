"""Translates the authentication methods of agents into the model: typed ones, and those from before the types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from acp_nvim import decoders
from acp_nvim.acp.answers import AuthMethod, AuthVariable

T = TypeVar("T")

LAUNCH = "terminal-auth"
"""In the `_meta` of a method: the command that signs in; in that of the client's capabilities: it can run it."""
API_KEY = "api-key"
"""In the `_meta` of a method: it accepts a key; in that of `authenticate`: the key."""

_KEY = AuthVariable(API_KEY, "the key, which the agent gets and nobody else", optional=True)  # it may have a key


class _Launch(msgspec.Struct):
    """The value of `LAUNCH` in a method's `_meta`, without its label."""

    command: str
    args: list[str] = []
    env: dict[str, str] = {}


class _Variables(msgspec.Struct):
    """An `env_var` method (unstable in version 1 until 2026-07; earlier with one name only)."""

    vars: list[AuthVariable] = []
    var_name: str | None = msgspec.field(name="varName", default=None)
    link: str | None = None


def with_meta(method: AuthMethod, meta: Mapping[str, Any] | None) -> AuthMethod:
    """Add what the `_meta` of a method says, unless its type says so: that it accepts a key, or a command to run.

    If the method has the arguments of that command, they must not be added to the agent's own command (mistral-vibe).
    """
    meta = meta or {}
    if method.kind == "agent" and isinstance(meta.get(API_KEY), dict):
        return msgspec.structs.replace(method, kind="api_key", variables=[_KEY])
    launch = _read(_Launch, meta.get(LAUNCH))
    if launch is None or method.env or method.kind not in ("agent", "terminal"):
        return method
    if method.args and list(method.args) != launch.args:
        return method
    command = [launch.command, *launch.args]
    return msgspec.structs.replace(method, kind="terminal", command=command, args=[], env=launch.env)


def other_method(method_id: str, said: Mapping[str, Any]) -> AuthMethod:
    """Translate a method of a type that the schema does not define."""
    kind, description = str(said.get("type")), said.get("description")
    variables = (_read(_Variables, said) if kind == "env_var" else None) or _Variables()
    named = [AuthVariable(variables.var_name)] if variables.var_name else []
    method = AuthMethod(
        method_id=method_id,
        name=str(said.get("name") or method_id),
        kind=kind,
        description=description if isinstance(description, str) else None,
        variables=variables.vars or named,
        link=variables.link,
    )
    meta = said.get("_meta")
    return with_meta(method, meta if isinstance(meta, dict) else None)


def key_along(key: str, as_text: bool) -> dict[str, Any]:
    """Return the `_meta` of `authenticate` with a key, in one of the two forms that agents expect."""
    return {API_KEY: key if as_text else {"apiKey": key}}


def named_by_error(data: Any) -> tuple[AuthMethod, ...]:
    """Return the methods in the data of an error, where some agents name them (as the protocol did until 2026-03)."""
    said = data.get("authMethods") if isinstance(data, dict) else None
    methods = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return tuple(_described(one) for one in methods if isinstance(one.get("id", one.get("methodId")), str))


def _described(said: dict[str, Any]) -> AuthMethod:
    method_id = str(said.get("id", said.get("methodId")))
    method = other_method(method_id, {"type": "agent", **said})
    if method.kind != "terminal" or method.command:
        return method
    launch = _read(_Launch, {"env": {}, "args": [], **said, "command": ""}) or _Launch("")
    return msgspec.structs.replace(method, args=launch.args, env=launch.env)


def _read(shape: type[T], value: Any) -> T | None:
    try:
        return decoders.convert(value, shape)
    except msgspec.ValidationError:
        return None

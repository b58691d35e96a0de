"""The ways to sign in that agents name, in the words of the model: typed ones, and those of before the types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from acp_nvim.acp.answers import AuthMethod, AuthVariable

T = TypeVar("T")

LAUNCH = "terminal-auth"
"""In the `_meta` of a method: the whole command that signs in; in that of our capabilities: we run it."""


API_KEY = "api-key"
"""In the `_meta` of a method: it takes a key; in that of `authenticate`: the key."""

_KEY = AuthVariable(API_KEY, "the key, which the agent gets and nobody else", optional=True)
"""It may have one already."""


class _Launch(msgspec.Struct):
    """What is in that `_meta`; it has a label, too, which says less than the method's name."""

    command: str
    args: list[str] = []
    env: dict[str, str] = {}


class _Variables(msgspec.Struct):
    """An `env_var` method (unstable in version 1 until 2026-07; earlier with one name only)."""

    vars: list[AuthVariable] = []
    var_name: str | None = msgspec.field(name="varName", default=None)
    link: str | None = None


def with_meta(method: AuthMethod, meta: Mapping[str, Any] | None) -> AuthMethod:
    """The method, with what its `_meta` says: that it takes a key, or a command to run, unless its type says how.

    Arguments that both name are those of that command, and would be nonsense behind the agent's own (mistral-vibe).
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
    """One of a type that has no shape of its own in the schema."""
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
    """The `_meta` of `authenticate` with that key; agents do not agree on how it looks."""
    return {API_KEY: key if as_text else {"apiKey": key}}


def named_by_error(data: Any) -> tuple[AuthMethod, ...]:
    """The methods in the data of an error, where some agents tell them (until 2026-03 the protocol did)."""
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
        return msgspec.convert(value, shape)
    except msgspec.ValidationError:
        return None

"""Which of our types stands for which definition of the official schemas."""

from __future__ import annotations

import importlib
from typing import Any

from tests.core.acp.schema.shapes import accepts_all
from tests.support.schemas import load, reachable

WITHIN = {
    "ElicitationFormMode": "CreateElicitationRequest",
    "ElicitationUrlMode": "CreateElicitationRequest",
    "ElicitationSessionScope": "CreateElicitationRequest",
    "ElicitationRequestScope": "CreateElicitationRequest",
    "SessionConfigSelect": "SessionConfigOption",
    "SessionConfigBoolean": "SessionConfigOption",
    "SessionConfigSelectGroup": "SessionConfigOption",
    "SessionConfigSelectOptions": "SessionConfigOption",
    "TextResourceContents": "EmbeddedResourceResource",
    "BlobResourceContents": "EmbeddedResourceResource",
    "StateUpdate": "SessionUpdate",
    "RunningStateUpdate": "SessionUpdate",
    "IdleStateUpdate": "SessionUpdate",
    "RequiresActionStateUpdate": "SessionUpdate",
    "ErrorStopReason": "SessionUpdate",
    "ElicitationAcceptAction": "CreateElicitationResponse",
    "UnstructuredCommandInput": "AvailableCommandInput",
}
"""Parts of an object that is one struct of ours: they are tried as parts of that definition."""


UNTYPED = {"SessionNotFoundErrorData", "UnsupportedProtocolVersionErrorData"}
"""Kinds of an error's data, which may be anything."""


def definitions(version: str, roots: dict[str, tuple[str, ...]]) -> list[str]:
    """The names of the stable definitions that `roots` (`rules.READ` or `rules.SENT`) are and lead to, sorted."""
    stable = [name for name in roots[version] if name in load(version)["$defs"]]
    return sorted({*stable, *reachable(version, tuple(stable))} - UNTYPED)


def ours(version: str, definition: str) -> Any:
    """Our type for a definition. Raises `LookupError` when there is none."""
    for module in (f"schema_{version}", "schema_common"):
        found = getattr(importlib.import_module(f"acp_nvim.acp.{module}"), definition, None)
        if found is not None:
            return found
    return scalar(version, load(version)["$defs"][definition], definition)


def scalar(version: str, schema: dict[str, Any], definition: str) -> Any:
    """The Python type for a definition that is no object."""
    if definition == "RequestId":
        return int | str | None if version == "v1" else int | str
    alternatives = schema.get("anyOf") or schema.get("oneOf") or [schema]
    if any(accepts_all(alternative) for alternative in alternatives):
        return Any
    kinds = {alternative.get("type") for alternative in alternatives}
    if len(kinds) == 1 and (kind := kinds.pop()) in ("string", "integer"):
        return {"string": str, "integer": int}[kind]
    raise LookupError(f"no type of ours stands for {definition} of {version}")

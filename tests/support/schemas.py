"""The official schemas of both protocol versions, out of the official SDK that `make setup` brings."""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import Any

SCHEMAS = Path(__file__).parents[2] / ".cache/peers/node_modules/@agentclientprotocol/sdk/schema"
VERSIONS = ("v1", "v2")
FROM_AGENTS = ("AgentRequest", "AgentResponse", "AgentNotification")
FROM_CLIENTS = ("ClientRequest", "ClientResponse", "ClientNotification")


@functools.cache
def load(version: str, name: str = "schema.json") -> dict[str, Any]:
    """One of the schemas: `version` is "v1" or "v2", `name` its file."""
    path = SCHEMAS / version / name
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing: run `make setup`, which brings it")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def references(schema: Any) -> list[str]:
    """The names of all definitions that are mentioned there."""
    return re.findall(r'"#/\$defs/(\w+)"', json.dumps(schema))


def reachable(version: str, roots: tuple[str, ...]) -> list[str]:
    """The names of all definitions that `roots` lead to, without `roots`, sorted."""
    definitions = load(version)["$defs"]
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting.extend(references(definitions[name]))
    return sorted(found - set(roots))


def messages(version: str, roots: tuple[str, ...]) -> list[str]:
    """The names of the params and results of the messages `roots`, sorted."""
    definitions = load(version)["$defs"]
    return sorted({name for root in roots for name in references(definitions[root])} - {"RequestId", "Error"})

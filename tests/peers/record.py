"""What went over the pipes between the client and a peer, and whether the official schema allows it."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.support.schemas import load

Json = dict[str, Any]


class Record:
    """One connection, from the files `path`.client, `path`.agent and `path`.stderr."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def client(self) -> list[Json]:
        """What the client sent, complete lines only."""
        return _messages(self._path.with_suffix(".client"))

    def agent(self) -> list[Json]:
        """Return what the agent sent."""
        return _messages(self._path.with_suffix(".agent"))

    def stderr(self) -> str:
        """What the SDK complains about, when it cannot answer."""
        return self._path.with_suffix(".stderr").read_text()

    def requests(self, method: str) -> list[Json]:
        """The params of the client's messages of that method."""
        return [one.get("params") for one in self.client() if one.get("method") == method]

    def refusals(self) -> list[tuple[str, int]]:
        """The client's requests that the agent answered with an error: method and code, in the order of answers."""
        methods = {one["id"]: one["method"] for one in self.client() if "method" in one and "id" in one}
        return [
            (methods[one["id"]], one["error"]["code"]) if one["id"] is not None else ("", one["error"]["code"])
            for one in self.agent()
            if "error" in one and "method" not in one
        ]

    def complaints(self, version: int, schema: str = "schema.json") -> list[str]:
        """What a schema of a protocol version has against the client's messages."""
        asked = {one["id"]: one["method"] for one in self.agent() if "method" in one and "id" in one}
        return [words for one in self.client() for words in complaints(version, one, asked, schema)]


def complaints(version: int, message: Json, asked: dict[Any, str], schema: str = "schema.json") -> Iterator[str]:
    """What is wrong with one message of the client; `asked` are the methods of the agent's requests, by id."""
    root = load(f"v{version}", schema)["$defs"]

    def judge(name: str | None, value: Any) -> Iterator[str]:
        if name is None:
            yield f"version {version} does not know this: {json.dumps(value)}"
            return
        for error in _validator(version, schema, name).iter_errors(value):
            yield f"{name}: {error.message[:300]}"

    if "method" in message:
        kind = "Request" if "id" in message else "Notification"
        yield from judge(f"Client{kind}", message)
        yield from judge(_definition(root, message["method"], kind), message.get("params"))
        return
    yield from judge("ClientResponse", message)
    if "error" not in message:
        yield from judge(_definition(root, asked[message["id"]], "Response"), message["result"])


@functools.cache
def _validator(version: int, schema: str, name: str) -> jsonschema_rs.Draft202012Validator:
    definitions = load(f"v{version}", schema)["$defs"]
    return jsonschema_rs.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions})


def _definition(root: Json, method: str, kind: str) -> str | None:
    """The name of what a method's messages of a kind must be."""
    for name, definition in root.items():
        if definition.get("x-method") == method and name.endswith(kind):
            return name
    return None


def _messages(path: Path) -> list[Json]:
    lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    return [json.loads(line) for line in lines]

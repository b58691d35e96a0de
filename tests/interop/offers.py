"""What an agent offers, by what it says of itself on the wire."""

from __future__ import annotations

from typing import Any

from tests.interop.wire import Wire

OPENED = ("session/new", "session/load", "session/resume")


class Offers:
    """Read from the answers to `initialize` and `session/new`, in version 1 or 2."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._hello = wire.result("initialize")
        self._opened = next((found for method in OPENED if (found := wire.result(method))), {})
        self.v2 = self._hello.get("protocolVersion") == 2

    @property
    def version(self) -> str:
        """What the agent calls itself, and its version."""
        info = self._hello.get("agentInfo") or self._hello.get("info") or {}
        version = str(info.get("version", "")).split(" ")[0]
        return f"{info.get('name', '')} {version}".strip()

    def _capabilities(self) -> dict[str, Any]:
        return self._hello.get("capabilities" if self.v2 else "agentCapabilities") or {}

    def _session(self) -> dict[str, Any]:
        return self._capabilities().get("session" if self.v2 else "sessionCapabilities") or {}

    @property
    def methods(self) -> list[dict[str, Any]]:
        """The ways to sign in."""
        return self._hello.get("authMethods") or []

    def steps(self) -> set[str]:
        """The names of steps that not every agent offers, and this one does."""
        session = self._session()
        always = {"list", "resume", "close"} if self.v2 and "session" in self._capabilities() else set()
        found = {
            name for name in ("list", "resume", "close", "delete", "fork") if session.get(name) is not None
        } | always
        if session.get("subagents") is not None or self.subagents():
            found.add("subagents")
        if self._capabilities().get("loadSession") or (self.v2 and "resume" in found):
            found.add("load")
        return found | {name for name in ("mode", "model") if len(self.choices(name)) > 1}

    def subagents(self) -> list[dict[str, Any]]:
        """All that it has said of subagents; some agents offer them without a word before they create one."""
        said = [(one.get("params") or {}).get("update") or {} for one in self._wire.received("session/update")]
        return [one for one in said if one.get("sessionUpdate") == "subagent_update"]

    def choices(self, category: str) -> list[str]:
        """The values of a mode or a model that can be chosen."""
        return list(self.names(category))

    def names(self, category: str) -> dict[str, str]:
        """Return the values of an option's category and their names."""
        options = [one for one in self._opened.get("configOptions") or [] if one.get("category") == category]
        for option in sorted(options, key=lambda one: category not in (one.get("id"), one.get("configId"))):
            if option.get("type") == "select":
                return {
                    value["value"]: value["name"] for one in option["options"] for value in one.get("options", [one])
                }
        if category == "mode":
            return {one["id"]: one["name"] for one in (self._opened.get("modes") or {}).get("availableModes", [])}
        models = (self._opened.get("models") or {}).get("availableModels", [])
        return {one["modelId"]: one["name"] for one in models}

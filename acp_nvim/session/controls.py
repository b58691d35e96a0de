"""Sets a session's mode, model and configuration options at its agent."""

from __future__ import annotations

from acp_nvim.errors import FailureError
from acp_nvim.protocol.answers import ConfigOption
from acp_nvim.protocol.updates import ConfigReplaced, ModeChanged
from acp_nvim.session import failures
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.peer import AgentPeer
from acp_nvim.session.switches import Switch, Switches


class Controls:
    """Of one session at its agent; what is set is applied here too, since agents tell it in various ways or not at all.

    All raise `FailureError`.
    """

    def __init__(self, peer: AgentPeer, session_id: str, narrator: Narrator) -> None:
        self._peer = peer
        self._session_id = session_id
        self._narrator = narrator

    def __repr__(self) -> str:
        return f"<Controls of {self._session_id}>"

    async def set(self, switch: Switch, value: str | bool) -> None:
        """Whatever it is."""
        match switch.how:
            case "mode":
                await self.set_mode(str(value))
            case "model":
                await self.set_model(str(value))
            case "option":
                await self.set_config_option(switch.switch_id, value)

    async def set_mode(self, mode_id: str) -> None:
        """Work in that mode; only where the session has modes."""
        self._need(self._switches.has_modes, "session/set_mode")
        await self._peer.calls.set_mode(self._session_id, mode_id, lambda _: self._take_mode(mode_id))

    async def set_model(self, model_id: str) -> None:
        """Work with that model; only where the agent names models beside its options."""
        self._need(self._switches.has_models, "session/set_model")
        await self._peer.calls.set_model(self._session_id, model_id, lambda _: self._take_model(model_id))

    async def set_config_option(self, config_id: str, value: str | bool) -> list[ConfigOption]:
        """Change an option that the session has: all options as they are then."""
        known = any(one.how == "option" and one.switch_id == config_id for one in self._switches.all)
        self._need(known, f"session/set_config_option {config_id}")
        take = self._narrator.update
        return await self._peer.calls.set_config_option(
            self._session_id, config_id, value, lambda options: take(ConfigReplaced(options))
        )

    @property
    def _switches(self) -> Switches:
        return self._narrator.facts.switches

    def _take_mode(self, mode_id: str) -> None:
        self._narrator.transcript.end_message()  # some agents say it in text
        self._narrator.update(ModeChanged(mode_id))

    def _take_model(self, model_id: str) -> None:
        self._switches.take_model(model_id)
        self._narrator.on_facts()

    def _need(self, offered: bool, what: str) -> None:
        if not offered:
            raise FailureError(failures.not_offered(self._peer.name, what))

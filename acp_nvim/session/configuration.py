"""Changes a session's configuration, one thing after the other: what the user wants now, and what it begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import anyio
import msgspec

from acp_nvim.agents.definition import Defaults
from acp_nvim.config_events import Config
from acp_nvim.errors import FailureError
from acp_nvim.events import Error
from acp_nvim.limits.configuring import CONFIGURE_SECONDS
from acp_nvim.protocol.answers import Opened
from acp_nvim.session import configuration_failures as failures
from acp_nvim.session.choosing import NotThereError, find_switch, value_of
from acp_nvim.session.controls import Controls
from acp_nvim.session.kept_defaults import Values
from acp_nvim.session.narrator import Narrator
from acp_nvim.session.shared import Shared
from acp_nvim.session.switches import Switch
from acp_nvim.tasks import Tasks


class _Change(msgspec.Struct, eq=False):
    """What the user wants; `keep`: new sessions of the agent are to begin with it."""

    what: str
    value: str | bool
    keep: bool


class Configuration:
    """Of one session; `controls` are there while an agent is.

    What was set in this chat holds for it: an agent that was started anew is told it again.
    """

    def __init__(
        self, agent: str, narrator: Narrator, shared: Shared, controls: Callable[[], Controls | None], tasks: Tasks
    ) -> None:
        self.patience = CONFIGURE_SECONDS
        self._agent = agent
        self._narrator = narrator
        self._key = narrator.transcript.session
        self._switches = narrator.facts.switches
        self._switches.on_change = self._changed
        self._kept = shared.defaults
        self._find = shared.find
        self._tasks = tasks
        self._controls = controls
        self._changes: list[_Change] = []
        self._held: Values = {}  # what was set here, as it is now
        self._session_id: str | None = None
        self._fresh = False
        self._settled = False
        self._asking = anyio.CancelScope()
        self._one_at_a_time = anyio.Lock()

    def __repr__(self) -> str:
        return f"<Configuration {self._switches!r} {len(self._changes)} changes>"

    @property
    def is_asking(self) -> bool:
        """Whether the agent is asked to change something: some answer in the conversation."""
        return self._one_at_a_time.locked()

    def set(self, what: str, value: str | bool, keep: bool = False) -> bool:
        """Now, or as soon as there is an agent: False says that it has to be started for it."""
        self._changes.append(_Change(what, value, keep))
        self._show_changing()
        if self._controls() is None:
            return False
        self._tasks.spawn(self._work_off)
        return True

    def hold(self, values: Values) -> None:
        """These were set in this chat while another host had it."""
        self._held.update(values)

    def forget(self) -> None:
        """New sessions of this agent are to begin as it likes."""
        self._tasks.spawn(self._forget)

    def begin(self, session_id: str, opened: Opened, fresh: bool) -> None:
        """It is open at the agent; `fresh`: a new one. `settle` is to be awaited before a prompt is sent."""
        if not fresh and self._session_id not in (None, session_id):
            self._held.clear()  # another conversation was taken up
        self._session_id, self._fresh, self._settled = session_id, fresh, False
        self._narrator.facts.begin(opened)

    def leave(self) -> None:
        """The agent is gone, or not wanted any more: its answer is not waited for."""
        self._asking.cancel()

    async def settle(self) -> None:
        """Set what the session is to begin with; then what the user has wanted meanwhile. Raises nothing."""
        if not self._settled:
            async with self._one_at_a_time:
                for what, value in {**(await self._defaults() if self._fresh else {}), **self._held}.items():
                    await self._begin_with(what, value)
            self._settled = True
        await self._work_off()

    # --- one change --------------------------------------------------------------------------------------------------

    async def _work_off(self) -> None:
        async with self._one_at_a_time:
            while self._settled and self._changes and self._controls() is not None:
                change = self._changes[0]
                try:
                    await self._apply(change)
                finally:
                    self._changes.remove(change)
                    self._show_changing()

    async def _apply(self, change: _Change) -> None:
        try:
            switch = find_switch(self._switches.all, change.what)
            value = value_of(switch, change.value)
        except NotThereError as error:
            failure = failures.not_to_be_set(self._agent, str(error))
            said = Error(text=str(failure), code=failure.code, session=self._key, agent=self._agent)
            self._narrator.publish(said)  # to who typed it, not into the conversation
            return
        if await self._ask(switch, value) and change.keep:
            await self._keep(switch, value)

    async def _begin_with(self, what: str, value: str | bool) -> None:
        """What the agent does not offer any more is left out, and said once."""
        try:
            switch = find_switch(self._switches.all, what)
            wanted = value_of(switch, value)
        except NotThereError as error:
            if self._kept.is_news(self._agent, what, str(value)):
                self._narrator.notice("warn", str(failures.no_such_default(self._agent, what, value, str(error))))
            return
        if wanted != switch.current and not await self._ask(switch, wanted) and self._controls() is not None:
            self._held.pop(what, None)  # who refuses it now does so each time

    async def _ask(self, switch: Switch, value: str | bool) -> bool:
        """False when the agent refuses, which is told, or is gone, which others tell."""
        controls = self._controls()
        if controls is None:
            return False
        failure = failures.not_set_in_time(self._agent, switch.name, self.patience)
        with anyio.move_on_after(self.patience) as self._asking:
            try:
                await controls.set(switch, value)
            except FailureError as error:
                failure = error.failure
            else:
                self._hold(switch.switch_id, value)
                return True
        if self._controls() is not None:
            self._narrator.failure(failure)
        return False

    def _hold(self, switch_id: str, value: str | bool) -> None:
        now = next((one.current for one in self._switches.all if one.switch_id == switch_id), value)
        self._held[switch_id] = value if now is None else now

    # --- what sessions begin with ------------------------------------------------------------------------------------

    async def _defaults(self) -> Values:
        """By ids of switches where there are such; the model first: other options depend on it."""
        try:
            kept = await self._kept.of(self._agent)
        except OSError as error:
            self._narrator.failure(failures.no_defaults(self._agent, error))
            kept = {}
        try:
            configured = self._find(self._agent).defaults
        except FailureError:
            configured = Defaults()  # the agent was taken out of the configuration a moment ago
        pairs: list[tuple[str, str | bool]] = [*kept.items(), *configured.options.items()]
        pairs += [(what, value) for what, value in (("model", configured.model), ("mode", configured.mode)) if value]
        wanted = {self._id_of(what): value for what, value in pairs}
        model = self._id_of("model")
        return {what: wanted[what] for what in sorted(wanted, key=lambda what: what != model)}

    def _id_of(self, what: str) -> str:
        try:
            return find_switch(self._switches.all, what).switch_id
        except NotThereError:
            return what

    async def _keep(self, switch: Switch, value: str | bool) -> None:
        try:
            await self._kept.keep(self._agent, switch.switch_id, value)
        except OSError as error:
            self._narrator.failure(failures.no_defaults(self._agent, error))
            return
        name = _in_words(switch.name_of(value) or value)
        self._narrator.notice("info", f"New sessions of {self._agent} begin with {switch.name}: {name}.")

    async def _forget(self) -> None:
        try:
            forgotten = await self._kept.forget(self._agent)
        except OSError as error:
            self._narrator.failure(failures.no_defaults(self._agent, error))
            return
        were = ", ".join(f"{what}: {_in_words(value)}" for what, value in forgotten.items())
        words = f"forgotten ({were})" if forgotten else "nothing, as before"
        self._narrator.notice("info", f"What is kept for new sessions of {self._agent}: {words}.")

    # --- telling -----------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """The agent has said something: what was set here may be something else by now."""
        if self._settled:
            for one in self._switches.all:
                if one.switch_id in self._held and one.current is not None:
                    self._held[one.switch_id] = one.current
        self._switches.changing = dict(self._wanted())
        self._tell()

    def _show_changing(self) -> None:
        self._switches.changing = dict(self._wanted())
        self._tell()
        self._narrator.on_facts()

    def _tell(self) -> None:
        """All that can be switched, once an agent has said it."""
        if self._session_id is not None:
            self._narrator.publish(Config(session=self._key, options=self._switches.views()))

    def _wanted(self) -> Iterable[tuple[str, str | bool]]:
        for change in self._changes:
            try:
                switch = find_switch(self._switches.all, change.what)
                yield switch.switch_id, value_of(switch, change.value)
            except NotThereError:
                continue


def _in_words(value: str | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else value

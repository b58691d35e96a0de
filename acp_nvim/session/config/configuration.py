"""Changes a session's configuration, one thing after the other: what the user wants now, and what it begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

import anyio
import msgspec

from acp_nvim.acp.answers import Opened
from acp_nvim.acp.updates import ConfigReplaced, ModeChanged
from acp_nvim.agents.definition import Defaults
from acp_nvim.errors import Failure, FailureError
from acp_nvim.session.config.kept_defaults import Values
from acp_nvim.session.config.options import NotThereError, Switch, find_switch, value_of
from acp_nvim.session.connection.calls import send
from acp_nvim.session.connection.peer import AgentPeer
from acp_nvim.session.journal import SessionJournal
from acp_nvim.session.services import Services
from acp_nvim.session.transcript.presenter import Presenter
from acp_nvim.tasks import Tasks
from acp_nvim.ui.events import Config, Error

CONFIGURE_SECONDS: Final = 30.0
"""An agent may take to change an option; some start another process for another model. Then prompts go on."""


class _Change(msgspec.Struct, eq=False):
    """What the user wants; `keep`: new sessions of the agent are to begin with it."""

    what: str
    value: str | bool
    keep: bool


class Configuration:
    """The options of one session; `at_work` is its agent and the session there, while they can be talked to.

    What was set in this chat holds for it: an agent that was started anew is told it again.
    """

    def __init__(
        self,
        agent: str,
        presenter: Presenter,
        services: Services,
        at_work: Callable[[], tuple[AgentPeer, str] | None],
        tasks: Tasks,
        journal: SessionJournal,
    ) -> None:
        self.patience = CONFIGURE_SECONDS
        self._agent = agent
        self._presenter = presenter
        self._key = presenter.transcript.session
        self._switches = presenter.metadata.switches
        self._switches.on_change = self._changed
        self._kept = services.defaults
        self._find = services.find
        self._tasks = tasks
        self._at_work = at_work
        self._changes: list[_Change] = []
        self._journal = journal
        self._held: Values = dict(journal.before.options)  # what was set here, as it is now
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
        if self._at_work() is None:
            return False
        self._tasks.spawn(self._work_off)
        return True

    def forget(self) -> None:
        """New sessions of this agent are to begin as it likes."""
        self._tasks.spawn(self._forget)

    def begin(self, session_id: str, opened: Opened, fresh: bool) -> None:
        """The session is open at the agent; `fresh`: a new one. Await `settle` before a prompt is sent."""
        if not fresh and self._session_id not in (None, session_id):
            self._held.clear()  # another conversation was taken up
            self._remember()
        self._session_id, self._fresh, self._settled = session_id, fresh, False
        self._presenter.metadata.begin(opened)

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
            while self._settled and self._changes and self._at_work() is not None:
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
            failure = _not_to_be_set(self._agent, str(error))
            said = Error(text=str(failure), code=failure.code, session=self._key, agent=self._agent)
            self._presenter.publish(said)  # to who typed it, not into the conversation
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
                self._presenter.notice("warn", str(_no_such_default(self._agent, what, value, str(error))))
            return
        if wanted != switch.current and not await self._ask(switch, wanted) and self._at_work() is not None:
            self._held.pop(what, None)  # who refuses it now does so each time
            self._remember()

    async def _ask(self, switch: Switch, value: str | bool) -> bool:
        """False when the agent refuses, which is told, or is gone, which others tell."""
        if self._at_work() is None:
            return False
        failure = _not_set_in_time(self._agent, switch.name, self.patience)
        with anyio.move_on_after(self.patience) as self._asking:
            try:
                await self.change(switch, value)
            except FailureError as error:
                failure = error.failure
            else:
                self._hold(switch.switch_id, value)
                return True
        if self._at_work() is not None:
            self._presenter.failure(failure)
        return False

    async def change(self, switch: Switch, value: str | bool) -> None:
        """Set it at the agent, and apply it here: agents tell it in various ways or not at all. Raises `FailureError`.

        There must be an agent (`at_work`).
        """
        works = self._at_work()
        assert works is not None
        (peer, session_id), chosen = works, str(value)
        match switch.how:
            case "mode":
                await send(peer, peer.dialect.set_mode(session_id, chosen), lambda _: self._take_mode(chosen))
            case "model":
                await send(peer, peer.dialect.set_model(session_id, chosen), lambda _: self._take_model(chosen))
            case "option":
                call = peer.dialect.set_config_option(session_id, switch.switch_id, value)
                await send(peer, call, lambda options: self._presenter.update(ConfigReplaced(options)))

    def _take_mode(self, mode_id: str) -> None:
        self._presenter.transcript.end_message()  # some agents say it in text
        self._presenter.update(ModeChanged(mode_id))

    def _take_model(self, model_id: str) -> None:
        self._switches.take_model(model_id)
        self._presenter.publish_status()

    def _hold(self, switch_id: str, value: str | bool) -> None:
        now = next((one.current for one in self._switches.all if one.switch_id == switch_id), value)
        self._held[switch_id] = value if now is None else now
        self._remember()

    def _remember(self) -> None:
        """If this host dies, the next one sets these again."""
        self._journal.keep_options({**self._held, **{one.what: one.value for one in self._changes}})

    # --- what sessions begin with ------------------------------------------------------------------------------------

    async def _defaults(self) -> Values:
        """By ids of switches where there are such; the model first: other options depend on it."""
        try:
            kept = await self._kept.of(self._agent)
        except OSError as error:
            self._presenter.failure(_no_defaults(self._agent, error))
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
            self._presenter.failure(_no_defaults(self._agent, error))
            return
        name = _in_words(switch.name_of(value) or value)
        self._presenter.notice("info", f"New sessions of {self._agent} begin with {switch.name}: {name}.")

    async def _forget(self) -> None:
        try:
            forgotten = await self._kept.forget(self._agent)
        except OSError as error:
            self._presenter.failure(_no_defaults(self._agent, error))
            return
        were = ", ".join(f"{what}: {_in_words(value)}" for what, value in forgotten.items())
        words = f"forgotten ({were})" if forgotten else "nothing, as before"
        self._presenter.notice("info", f"What is kept for new sessions of {self._agent}: {words}.")

    # --- telling -----------------------------------------------------------------------------------------------------

    def _changed(self) -> None:
        """The agent has said something: what was set here may be something else by now."""
        if self._settled:
            for one in self._switches.all:
                if one.switch_id in self._held and one.current is not None:
                    self._held[one.switch_id] = one.current
            self._remember()
        self._switches.changing = dict(self._wanted())
        self.tell()

    def _show_changing(self) -> None:
        self._remember()
        self._switches.changing = dict(self._wanted())
        self.tell()
        self._presenter.publish_status()

    def tell(self) -> None:
        """Tell the editor all that can be switched, once an agent has said it."""
        if self._session_id is not None:
            self._presenter.publish(Config(session=self._key, options=self._switches.views()))

    def _wanted(self) -> Iterable[tuple[str, str | bool]]:
        for change in self._changes:
            try:
                switch = find_switch(self._switches.all, change.what)
                yield switch.switch_id, value_of(switch, change.value)
            except NotThereError:
                continue


def _in_words(value: str | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else value


# --- what can go wrong -----------------------------------------------------------------------------------------------


def _not_to_be_set(name: str, why: str) -> Failure:
    return Failure("not_offered", f"Agent {name!r}: {why}.", "", name)


def _not_set_in_time(name: str, what: str, seconds: float) -> Failure:
    said = f"Agent {name!r} has not answered within {seconds:g} s that {what!r} is to be changed."
    return Failure("agent_silent", said, "What it makes of it later is shown, if it says so.", name)


def _no_such_default(name: str, what: str, value: str | bool, why: str) -> Failure:
    words = ("on" if value else "off") if isinstance(value, bool) else repr(value)
    said = f"Agent {name!r} was not set to {what} {words}, as it should be here: {why}."
    return Failure("not_offered", said, "It goes on without.", name)


def _no_defaults(name: str, error: OSError) -> Failure:
    said = f"What is kept for new sessions of {name!r} cannot be read or written: {error.strerror or error}."
    return Failure("no_defaults", said, "Everything else works.", name)

"""Changes the options of a session, one at a time: those that the user sets, and those that it begins with."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

import anyio
import msgspec

from acp_nvim.acp.answers import Opened
from acp_nvim.acp.updates import ConfigReplaced, ModeChanged
from acp_nvim.agents.definition import Defaults
from acp_nvim.connection.calls import send
from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract.events import Config, Error
from acp_nvim.errors import Failure, FailureError
from acp_nvim.session.journal import SessionJournal
from acp_nvim.session.kept_defaults import Values
from acp_nvim.session.services import Services
from acp_nvim.tasks import Tasks
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.transcript.switches import NoSuchOptionError, Switch, find_switch, value_of

CONFIGURE_SECONDS: Final = 30.0
"""Time for an agent to change an option, as some start another process for another model. Then prompts are sent."""


class _Change(msgspec.Struct, eq=False):
    """A change that the user wants; with `keep` new sessions of the agent begin with it."""

    what: str
    value: str | bool
    keep: bool


class Configuration:
    """The options of one session; `at_work` is `Session.at_work`.

    Options that were set in this chat are set again at a restarted agent.
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
        self._held: Values = dict(journal.before.options)  # the options set in this chat, with their current values
        self._session_id: str | None = None
        self._fresh = False
        self._settled = False
        self._asking = anyio.CancelScope()
        self._one_at_a_time = anyio.Lock()

    @property
    def is_asking(self) -> bool:
        """Whether a change is in progress at the agent: some agents report it in the conversation."""
        return self._one_at_a_time.locked()

    def set(self, what: str, value: str | bool, keep: bool = False) -> bool:
        """Change an option as soon as possible; return False if the agent has to be started for it."""
        self._changes.append(_Change(what, value, keep))
        self._show_changing()
        if self._at_work() is None:
            return False
        self._tasks.spawn(self._work_off)
        return True

    def forget(self) -> None:
        """Forget the values that new sessions of this agent begin with."""
        self._tasks.spawn(self._forget)

    def begin(self, session_id: str, opened: Opened, fresh: bool) -> None:
        """Take the options of a session that was opened, `fresh` or again. Await `settle` before sending a prompt."""
        if not fresh and self._session_id not in (None, session_id):
            self._held.clear()  # it is another conversation
            self._remember()
        self._session_id, self._fresh, self._settled = session_id, fresh, False
        self._switches.begin(opened)

    def leave(self) -> None:
        """Stop waiting for the agent's answer, because it is gone or no longer wanted."""
        self._asking.cancel()

    async def settle(self) -> None:
        """Set what the session begins with, then what the user has wanted meanwhile. Raises nothing."""
        if not self._settled:
            async with self._one_at_a_time:
                for what, value in {**(await self._defaults() if self._fresh else {}), **self._held}.items():
                    await self._begin_with(what, value)
            self._settled = True
        await self._work_off()

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
        except NoSuchOptionError as error:  # for the user who typed it, not in the conversation
            failure = self._not_offered(f"Agent {self._agent!r}: {error}.")
            self._presenter.publish(Error(str(failure), failure.code, session=self._key, agent=self._agent))
            return
        if not (await self._ask(switch, value) and change.keep):
            return
        try:
            await self._kept.keep(self._agent, switch.switch_id, value)
        except OSError as error:
            self._no_defaults(error)
            return
        name = _in_words(switch.name_of(value) or value)
        self._presenter.notice("info", f"New sessions of {self._agent} begin with {switch.name}: {name}.")

    async def _begin_with(self, what: str, value: str | bool) -> None:
        """Set an option, unless it has the value; report one that the agent no longer offers once."""
        try:
            switch = find_switch(self._switches.all, what)
            wanted = value_of(switch, value)
        except NoSuchOptionError as error:
            if self._kept.is_news(self._agent, what, str(value)):
                words = _in_words(value) if isinstance(value, bool) else repr(value)
                said = f"Agent {self._agent!r} was not set to {what} {words}, as it should be here: {error}."
                self._presenter.notice("warn", str(self._not_offered(said, "It goes on without.")))
            return
        if wanted != switch.current and not await self._ask(switch, wanted) and self._at_work() is not None:
            self._held.pop(what, None)  # an agent that refuses it now will refuse it each time
            self._remember()

    async def _ask(self, switch: Switch, value: str | bool) -> bool:
        """Set an option; return False if the agent refuses, which is shown here, or is gone."""
        if self._at_work() is None:
            return False
        name, seconds = self._agent, self.patience
        said = f"Agent {name!r} has not answered within {seconds:g} s that {switch.name!r} is to be changed."
        failure = Failure("agent_silent", said, "What it makes of it later is shown, if it says so.", name)
        with anyio.move_on_after(seconds) as self._asking:
            try:
                await self.change(switch, value)
            except FailureError as error:
                failure = error.failure
            else:
                values = (one.current for one in self._switches.all if one.switch_id == switch.switch_id)
                current = next(values, None)
                self._held[switch.switch_id] = value if current is None else current
                self._remember()
                return True
        if self._at_work() is not None:
            self._presenter.failure(failure)
        return False

    async def change(self, switch: Switch, value: str | bool) -> None:
        """Set an option at the agent, then here: not all agents send an update. Raises `FailureError`.

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
        self._presenter.transcript.end_message()  # some agents report it as text
        self._presenter.update(ModeChanged(mode_id))

    def _take_model(self, model_id: str) -> None:
        self._switches.take_model(model_id)
        self._presenter.publish_status()

    def _remember(self) -> None:
        """Write the options to the journal: the next host sets them again if this one dies."""
        self._journal.keep_options({**self._held, **{one.what: one.value for one in self._changes}})

    async def _defaults(self) -> Values:
        """Return the values for a new session, by ids of switches where possible.

        The model comes first, because other options depend on it.
        """
        try:
            kept = await self._kept.of(self._agent)
        except OSError as error:
            self._no_defaults(error)
            kept = {}
        configured = Defaults()
        with suppress(FailureError):  # the agent may have just been removed from the configuration
            configured = self._find(self._agent).defaults
        pairs: list[tuple[str, str | bool]] = [*kept.items(), *configured.options.items()]
        pairs += [(what, value) for what, value in (("model", configured.model), ("mode", configured.mode)) if value]
        wanted = {self._id_of(what): value for what, value in pairs}
        model = self._id_of("model")
        return {what: wanted[what] for what in sorted(wanted, key=lambda what: what != model)}

    def _id_of(self, what: str) -> str:
        try:
            return find_switch(self._switches.all, what).switch_id
        except NoSuchOptionError:
            return what

    async def _forget(self) -> None:
        try:
            forgotten = await self._kept.forget(self._agent)
        except OSError as error:
            self._no_defaults(error)
            return
        were = ", ".join(f"{what}: {_in_words(value)}" for what, value in forgotten.items())
        words = f"forgotten ({were})" if forgotten else "nothing, as before"
        self._presenter.notice("info", f"What is kept for new sessions of {self._agent}: {words}.")

    def _changed(self) -> None:
        """Take over current values from the agent: options that were set here may have changed."""
        if self._settled:
            for one in self._switches.all:
                if one.switch_id in self._held and one.current is not None:
                    self._held[one.switch_id] = one.current
            self._remember()
        self._publish_changing()

    def _show_changing(self) -> None:
        self._remember()
        self._publish_changing()
        self._presenter.publish_status()

    def _publish_changing(self) -> None:
        changing: Values = {}
        for change in self._changes:
            with suppress(NoSuchOptionError):
                switch = find_switch(self._switches.all, change.what)
                changing[switch.switch_id] = value_of(switch, change.value)
        self._switches.changing = changing
        self.publish()

    def publish(self) -> None:
        """Publish all options, once an agent has reported them."""
        if self._session_id is not None:
            self._presenter.publish(Config(session=self._key, options=self._switches.views()))

    def _not_offered(self, what: str, next_step: str = "") -> Failure:
        return Failure("not_offered", what, next_step, self._agent)

    def _no_defaults(self, error: OSError) -> None:
        said = f"What is kept for new sessions of {self._agent!r} cannot be read or written: {error.strerror or error}."
        self._presenter.failure(Failure("no_defaults", said, "Everything else works.", self._agent))


def _in_words(value: str | bool) -> str:
    return ("on" if value else "off") if isinstance(value, bool) else value

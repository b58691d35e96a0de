"""Decides what the agent of one session may do: by a rule, by an earlier answer of the user, or by asking the user.

Every decision goes through `PermissionBroker.ask`: the agent's own permission requests, commands, and files that need
permission. A `Request` is made when it arrives and never changes.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Final, Literal

import msgspec

from acp_nvim.connection.peer import AgentPeer
from acp_nvim.contract import events
from acp_nvim.contract.request_events import RuleAction
from acp_nvim.jsonrpc.messages import INVALID_PARAMS, RpcError
from acp_nvim.permissions.pending import PendingPermission, PendingPermissions
from acp_nvim.permissions.policy import Answer, Policy
from acp_nvim.permissions.request.bounds import Refusals
from acp_nvim.permissions.request.grants import Grant, Grants
from acp_nvim.permissions.request.previews import Previews
from acp_nvim.permissions.rules import Subject, Wanted
from acp_nvim.tasks import Tasks
from acp_nvim.traffic.masking import masked
from acp_nvim.transcript.presenter import Presenter
from acp_nvim.workspace.roots import Roots

WAITING_PERMISSIONS: Final = 200
"""Permission requests of one session that wait for the user; more are refused, as no user reads through them."""

ALWAYS_CHARS: Final = 32_768
"""Longest command that may be allowed always: to search it for secrets takes 2 ms."""
NAMED_CHARS: Final = 60
"""Characters of a command in the name of an option: the request shows all of it."""
NAMED_FILES: Final = 5
"""Files in the name of an option: the request shows the others."""
OURS: Final = "acp_nvim:"
"""Prefix of the ids of the options that this plugin adds."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """An action of an agent that needs permission.

    `view` is what the user sees, with the options; its `id` is set when it is shown. Rules judge `wanted`; `otherwise`
    is the action when none matches. Answers for the session apply to all requests with the same `key`, None to no other
    request. `grant` is the command that the agent may run if the user allows the request. `unaskable` is the reason why
    the user cannot be asked: then the request is refused. `call` is the number of its tool call, 0 without one.
    """

    view: events.RequestView
    wanted: Wanted
    otherwise: RuleAction = "ask"
    key: Hashable = None
    grant: Grant | None = None
    unaskable: str | None = None
    call: int = 0


class Outcome(msgspec.Struct, frozen=True):
    """Whether a request is allowed, and the chosen option.

    There is no option if the request was cancelled, or decided by the configuration or an answer for the session.
    """

    allowed: bool
    option: events.Option | None = None


class PermissionBroker:
    """Decides all requests of a session; `on_change` is called when the number of waiting ones changes.

    While `refusing`, requests are cancelled at once, as the user has cancelled the turn. `peer` is the agent's process.
    `rejected` are the numbers of the tool calls that were rejected in this turn.
    """

    def __init__(
        self,
        presenter: Presenter,
        pending: PendingPermissions,
        policy: Policy,
        roots: Roots,
        previews: Previews,
        refusals: Refusals,
        tasks: Tasks,
        on_change: Callable[[], None],
    ) -> None:
        self.refusing = False
        self.peer: AgentPeer | None = None
        self.rejected: set[int] = set()
        self._presenter = presenter
        self._transcript = presenter.transcript
        self._pending = pending
        self._policy = policy
        self.grants = Grants(presenter.transcript, roots)
        self._previews = previews
        self._refusals = refusals
        self._tasks = tasks
        self._on_change = on_change
        self._waiting: dict[int, tuple[Request, PendingPermission]] = {}
        self._remembered: dict[Hashable, bool] = {}

    def __repr__(self) -> str:
        return f"<PermissionBroker of {self._transcript.session} refusing={self.refusing}>"

    @property
    def count(self) -> int:
        """Number of requests that wait for the user."""
        return self._pending.count(self._transcript.session)

    def cancel(self, overrule: bool = False) -> None:
        """Cancel all waiting requests; `overrule` as in `PendingPermission.cancel`."""
        self._pending.cancel_session(self._transcript.session, overrule)

    def require_room(self) -> None:
        """Raise `RpcError` if `WAITING_PERMISSIONS` wait already, or the turn has had `TURN_REQUESTS`."""
        self._refusals.require_room("permission requests", self.count, WAITING_PERMISSIONS)

    def ask(self, request: Request) -> Awaitable[Outcome]:
        """Return an awaitable of the outcome. If the user has to decide, the request is shown immediately.

        Raises `RpcError` as `require_room` does, and for an `unaskable` request. Awaiting raises nothing but
        cancellation, which withdraws the request.
        """
        answer = Answer("ask") if self.refusing else self._policy.answer(request.wanted, request.otherwise)
        if answer.rule is None and answer.action == "allow":
            return settled(Outcome(True))
        by_rule = None if answer.rule is None else option_for(answer.action, request.view.options)
        if by_rule is not None:
            if not self._transcript.is_full:
                view = msgspec.structs.replace(request.view, id=self._pending.new_id(), input=[])
                shown = self._transcript.answered(view, by_rule, answer.rule or "", answer.source)
                self._presenter.publish(shown)
            return settled(self._outcome(request, by_rule))  # without a grant: the rules judge the terminal itself
        remembered = self._remembered.get(request.key)
        if remembered is not None:
            return settled(Outcome(remembered))
        if request.unaskable is not None:
            raise RpcError(INVALID_PARAMS, request.unaskable)
        options = list(request.view.options) if answer.rule is not None else with_ours(request)
        return self._wait(request, self._show(request, options))

    def _show(self, request: Request, options: list[events.Option]) -> PendingPermission:
        self.require_room()
        pending = self._pending.add(self._transcript.session, request.view.tool_call_id, options)
        shown = self._transcript.request(msgspec.structs.replace(request.view, id=pending.id, options=options))
        pending.block = shown.block
        self._waiting[pending.id] = request, pending
        self._presenter.publish(shown)
        if self.refusing:
            pending.cancel()
        self._on_change()
        if request.key is None:  # requests with a key belong to no tool call
            self._previews.begin(pending)
        return pending

    async def _wait(self, request: Request, pending: PendingPermission) -> Outcome:
        try:
            chosen = await pending.wait()
        finally:
            pending.cancel("agent_gone" if self.peer and self.peer.silent else "withdrawn")  # no-op if answered
            self._pending.remove(pending)
            self._close(pending)
            del self._waiting[pending.id]
            self._previews.end(pending)
        if chosen is None:
            return Outcome(False)
        if request.key is not None and chosen.kind.endswith("always"):
            self._remember(request.key, chosen)
        if chosen.kind.startswith("allow"):
            self.grants.add(request.grant)
        if chosen.ours:
            action: Literal["allow", "reject"] = "allow" if chosen.kind == "allow_always" else "reject"
            once = option_for(action, pending.options)
            assert request.wanted.about is not None  # otherwise `with_ours` adds no option
            assert once is not None
            self._tasks.spawn(self._policy.remember, request.wanted.roots[0], action, request.wanted.about)
            chosen = once
        return self._outcome(request, chosen)

    def _outcome(self, request: Request, option: events.Option) -> Outcome:
        if request.key is None and option.kind.startswith("reject"):
            self.rejected.add(request.call)
        return Outcome(option.kind.startswith("allow"), option)

    def _remember(self, key: Hashable, chosen: events.Option) -> None:
        """Remember an answer for the session, and answer the waiting requests with the same key."""
        self._remembered[key] = chosen.kind == "allow_always"
        for request, pending in self._waiting.values():
            if request.key == key:
                pending.choose(chosen.option_id)

    def _close(self, pending: PendingPermission) -> None:
        chosen = pending.chosen
        done = events.PermissionDone(
            session=pending.session,
            block=pending.block,
            id=pending.id,
            outcome="selected" if chosen else "cancelled",
            option_id=chosen.option_id if chosen else None,
            name=chosen.name if chosen else None,
            why=pending.why,
        )
        self._transcript.question_news(done)
        self._presenter.publish(done)
        self._on_change()


async def settled(outcome: Outcome) -> Outcome:
    """Return `outcome`, for a request that is decided without waiting."""
    return outcome


def option_for(action: RuleAction, options: Sequence[events.Option]) -> events.Option | None:
    """Return the option for a rule's action, preferring "once". None if no option unambiguously means that."""
    kinds: dict[str, set[str]] = {}
    for option in options:
        kinds.setdefault(option.option_id, set()).add(option.kind)
    for kind in (f"{action}_once", f"{action}_always"):
        for option in options:
            if option.kind == kind and len(kinds[option.option_id]) == 1 and not option.ours:
                return option
    return None


def with_ours(request: Request) -> list[events.Option]:
    """Return the options, with an added "always" if the agent offers only "once" and the request is recognisable.

    It says what it would apply to. Commands with secrets get none, as the secrets would be written to disk.
    """
    options, about = request.view.options, request.wanted.about
    command = (about.command or "") if about else ""
    if about is None or len(command) > ALWAYS_CHARS or masked(command) != command:
        return list(options)
    what = "this command" if command and command == request.view.command else _named(about, request.wanted.roots[0])
    added = []
    actions: tuple[RuleAction, ...] = ("allow", "reject")
    for action in actions:
        once, kind = option_for(action, options), f"{action}_always"
        is_offered = any(one.kind == kind or one.option_id == OURS + kind for one in options)
        if once is not None and once.kind == f"{action}_once" and not is_offered:
            name = f"Always {action} {what} in this project"
            added.append(events.Option(OURS + kind, name, kind, True))
    return [*options, *added]


def _named(about: Subject, cwd: str) -> str:
    """Return what a stored answer would apply to, in words, where the request does not show it as its command."""
    if about.command is not None:
        line = about.command.partition("\n")[0]
        return f"`{line}`" if line == about.command and len(line) <= NAMED_CHARS else f"`{line[:NAMED_CHARS]} …`"
    below = cwd.rstrip(os.sep) + os.sep
    files = [path.removeprefix(below) for path in about.paths[:NAMED_FILES]]
    more = len(about.paths) - len(files)
    return f"{about.kind} of {', '.join(files)}" + (f" and the {more} other files above" if more else "")

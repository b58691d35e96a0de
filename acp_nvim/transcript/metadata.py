"""The metadata of a session for its status: mode, model, title, usage, tokens, plans and activity."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec import UNSET

from acp_nvim.acp import updates
from acp_nvim.acp.answers import TurnTokens
from acp_nvim.acp.tool_call import ToolCall
from acp_nvim.acp.updates import Role
from acp_nvim.contract import events
from acp_nvim.contract.views import Tokens, Usage
from acp_nvim.transcript.switches import Switches

ACTIVITY_CHARS: Final = 200
"""Characters of a tool call's title in the status: more than a line of the screen. Some titles are whole scripts."""

WORDS = {"agent": "writing", "thought": "thinking"}

TURNS_WITHOUT_FALL: Final = 5
"""Turns whose counts never fall, after which they are sums: a turn's own output falls as often as it rises."""


class Activity:
    """The latest activity of the agent. `voice` is the role of the message that grows, if one does."""

    def __init__(self) -> None:
        self.voice: Role | None = None
        self._running = False
        self._retrying: str | None = None
        self._silent: str | None = None
        self._open: dict[str, str] = {}  # tool call -> its title

    @property
    def words(self) -> str | None:
        """The activity in words for the status; None if no turn runs, or nothing is going on."""
        if not self._running:
            return None
        if self._silent is not None or self._retrying is not None:
            return self._silent or self._retrying
        if self.voice is not None:
            return WORDS.get(self.voice)
        return next(reversed(self._open.values()), None)

    def begin(self) -> None:
        """Begin a turn, without a growing message or open calls."""
        self.end()
        self._running = True

    def end(self) -> None:
        """End the turn: forget the growing message and the open calls."""
        self.voice, self._running, self._retrying, self._silent = None, False, None, None
        self._open.clear()

    def speak(self, role: Role) -> bool:
        """Note that a message of that role grows; return whether the status has changed."""
        before, self.voice, self._retrying, self._silent = self.words, role, None, None
        return self.words != before

    def retry(self, reason: str | None) -> bool:
        """Note that the agent repeats a failed request; return whether the status has changed."""
        before, self.voice, self._silent = self.words, None, None
        self._retrying = f"retrying ({reason})" if reason else "retrying"
        return self.words != before

    def silent(self, words: str | None) -> bool:
        """Note that nothing comes from the agent, in `words`, or that it does again; return whether that is news."""
        before = self.words
        if words is not None:
            self.voice = None  # whatever comes next is news
        self._silent = words
        return self.words != before

    def call(self, call: ToolCall, was_open: bool = False) -> bool:
        """Note an update of a tool call; return whether the status has changed. A new call is the latest activity.

        `was_open`: the call was open before the end of the update, which is several in one.
        """
        before, self._retrying, self._silent = self.words, None, None
        if call.finished:
            if was_open and call.tool_call_id not in self._open:
                self.voice = None
            self._open.pop(call.tool_call_id, None)
        else:
            if call.tool_call_id not in self._open:
                self.voice = None
            title = call.title or call.name or call.kind
            self._open[call.tool_call_id] = title.strip().partition("\n")[0][:ACTIVITY_CHARS].rstrip()
        return self.words != before


class Metadata:
    """The metadata, collected from the agent's answers and updates."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.switches = Switches()
        self.usage: Usage | None = None
        self.tokens: Tokens | None = None
        self.counts = TurnCounts()
        self.activity = Activity()
        self.turn_started: float | None = None
        self._plans: dict[int, list[events.PlanStep]] = {}  # by block

    def forget_plans(self) -> None:
        """Forget all plans, whose blocks no longer exist."""
        self._plans.clear()

    def begin_turn(self) -> None:
        """Begin a turn, without the plans of the last one."""
        self._plans.clear()
        self.turn_started = time.time()
        self.activity.begin()

    def end_turn(self) -> None:
        """End the turn: forget its start and its activity."""
        self.turn_started = None
        self.activity.end()

    def take_plan(self, plan: events.Plan) -> None:
        """Note the current state of a plan, or its removal, for the progress in the status."""
        if plan.removed:
            self._plans.pop(plan.block, None)
        else:
            self._plans[plan.block] = plan.entries

    def take(self, update: updates.Update) -> bool:
        """Take an update of the metadata; return False for any other update."""
        match update:
            case updates.ModeChanged() | updates.ConfigReplaced():
                self.switches.take(update)
            case updates.SessionInfoChanged():
                if update.title is not UNSET:
                    self.title = update.title
            case updates.UsageChanged():
                before, self.usage = self.usage, Usage(update.used, update.size, doubtful=update.used > update.size > 0)
                if update.cost is UNSET and before is not None:  # the cost is unchanged
                    self.usage.cost, self.usage.currency = before.cost, before.currency
                elif isinstance(update.cost, updates.Cost):
                    self.usage.cost, self.usage.currency = update.cost.amount, update.cost.currency
            case _:
                return False
        return True

    def take_tokens(self, tokens: TurnTokens | None) -> None:
        """Note what a turn has used, by the counts reported at its end, if that is known."""
        used = None if tokens is None else self.counts.of_turn(tokens)
        if used is not None:
            self.tokens = Tokens(**msgspec.structs.asdict(used))

    def added_to(self, view: events.StatusView) -> events.StatusView:
        """Return the status `view` with the metadata filled in."""
        switches = self.switches
        return msgspec.structs.replace(
            view,
            title=self.title,
            mode=switches.mode,
            model=switches.model,
            mode_name=switches.name_of("mode", switches.mode),
            model_name=switches.name_of("model", switches.model),
            mode_next=switches.next_name("mode"),
            model_next=switches.next_name("model"),
            usage=self.usage,
            tokens=self.tokens,
            plan=[step for plan in self._plans.values() for step in plan] if self._plans else None,
            activity=self.activity.words,
            turn_started=self.turn_started,
        )


class TurnCounts:
    """The counts that an agent process reports for the turns of one session.

    They are sums of the session if the agent is known for that (`begin`), or if none has fallen for so many turns. As
    soon as one falls they are not, whatever is known.
    """

    def __init__(self) -> None:
        self._last: TurnTokens | None = None
        self._reports = 0
        self._is_known = self._has_fallen = False

    def __repr__(self) -> str:
        return f"<TurnCounts {self._reports} reports, {'sums' if self._are_sums else 'of turns'}>"

    def begin(self, is_known: bool, is_fresh: bool) -> None:
        """Begin an agent process. `is_known` to report sums? In a fresh session it has counted nothing."""
        self._is_known, self._reports = is_known, 0
        self._last = TurnTokens(0, 0, 0) if is_fresh else None
        self._has_fallen = False

    @property
    def _are_sums(self) -> bool:
        return not self._has_fallen and (self._is_known or self._reports >= TURNS_WITHOUT_FALL)

    def of_turn(self, reported: TurnTokens) -> TurnTokens | None:
        """Return what a turn has used, by the count reported at its end; None if that is not known."""
        if reported.total <= 0:  # agents report zeros for a cancelled turn
            return None
        before, self._last = self._last, reported
        self._reports += 1
        self._has_fallen |= before is not None and _falls(before, reported)
        if not self._are_sums:
            return reported
        more = None if before is None else _difference(before, reported)
        return more if more is not None and more.total > 0 else None


def _pairs(before: TurnTokens, after: TurnTokens) -> Iterator[tuple[str, Any, Any]]:
    for name in TurnTokens.__struct_fields__:
        yield name, getattr(before, name), getattr(after, name)


def _falls(before: TurnTokens, after: TurnTokens) -> bool:
    return any(None not in (a, b) and b < a for _, a, b in _pairs(before, after))


def _difference(before: TurnTokens, after: TurnTokens) -> TurnTokens:
    """Return what is new; a count that was missing before has begun at zero."""
    more: dict[str, Any] = {name: None if b is None else b - (a or 0) for name, a, b in _pairs(before, after)}
    return TurnTokens(**more)

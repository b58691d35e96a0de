"""Random agents and users on one file: what is kept is there, what is rejected is as it was, the user's edits stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from hypothesis import event, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from tests.core.review.desk import Desk, play
from tests.support.examples import examples

Kind = Literal["both", "removed", "added"]
NAME = "file"
WHO = ["agent writes", "agent on disk", "agent on disk, seen later", "user types", "user types, heard later"]
WHAT = [*WHO, "user saves", "turn", "user opens", "restart", "judges"]


class Model:
    """The file as a list of lines, none of which comes twice, and of whose they are; `disk` is what is saved."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.items: list[tuple[str, Kind]] = [(line, "both") for line in lines]
        self.disk = list(lines)
        self._next = 0

    def lines(self, *kinds: Kind) -> list[str]:
        """Return the lines of these kinds."""
        return [line for line, kind in self.items if kind in kinds]

    @property
    def current(self) -> list[str]:
        """Return the lines of the file."""
        return self.lines("both", "added")

    @property
    def base(self) -> list[str]:
        """Return the accepted lines."""
        return self.lines("both", "removed")

    def splice(self, who: str, within: Sequence[str], at: int, gone: int, new: int) -> None:
        """Somebody who sees the lines `within` replaces some of them with as many new ones."""
        lines = [f"{who} {self._next + number}" for number in range(new)]
        self._next += new
        deleted = set(within[at : at + gone])
        before = within[at - 1] if at else None
        place = next((number for number, (line, _) in enumerate(self.items, 1) if line == before), 0)
        self.items[place:place] = [(line, "added" if who == "agent" else "both") for line in lines]
        self.items = [
            (line, "removed" if line in deleted else kind)
            for line, kind in self.items
            if line not in deleted or (who == "agent" and kind == "both") or kind == "removed"
        ]

    def stand(self, base: Sequence[str]) -> None:
        """Removed lines stand beside the user's own as they do there: nobody else knows."""
        kinds, current = dict(self.items), self.current
        self.items = []
        for line in base:
            if kinds[line] == "both":
                at = current.index(line) + 1
                self.items += [(one, kinds[one]) for one in current[:at]]
                del current[:at]
            else:
                self.items.append((line, "removed"))
        self.items += [(one, kinds[one]) for one in current]

    def judge(self, keep: bool, old: Sequence[str], new: Sequence[str]) -> None:
        """The user keeps, or rejects, the hunk with these lines."""
        accepted: dict[str, Kind | None] = dict.fromkeys(old, None if keep else "both")
        accepted |= dict.fromkeys(new, "both" if keep else None)
        judged = [(line, accepted.get(line, kind)) for line, kind in self.items]
        self.items = [(line, kind) for line, kind in judged if kind is not None]


def text(lines: Sequence[str]) -> str:
    """Return the text of these lines."""
    return "".join(f"{line}\n" for line in lines)


@st.composite
def splices(draw: DrawFn) -> list[tuple[float, int, int]]:
    """Where (as a part of the whole), how many lines go, and how many come."""
    place = st.floats(0, 1, exclude_max=True)
    return draw(st.lists(st.tuples(place, st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=3))


STEPS = st.lists(st.tuples(st.sampled_from(WHAT), splices(), st.randoms(use_true_random=False)), max_size=9)


class Play:
    """One random sequence; `is_over`: the agent's version could not be merged, which other tests are about."""

    def __init__(self, desk: Desk, count: int) -> None:
        self.desk = desk
        self.model = Model([f"line {number}" for number in range(count)])
        self.is_over = False
        self.is_open = False
        self.is_unheard = False
        """The host has not looked since something happened."""

    async def begin(self) -> None:
        self.desk.put(NAME, text(self.model.current).encode())
        await self.desk.begin_turn()

    async def step(self, what: str, changes, random) -> None:
        """One thing happens; who it is heard by at once must have it right at once."""
        steps = {
            "agent writes": lambda: self._agent_writes(changes),
            "agent on disk": lambda: self._agent_on_disk(changes, is_seen=True),
            "agent on disk, seen later": lambda: self._agent_on_disk(changes, is_seen=False),
            "user types": lambda: self._user_types(changes, is_told=True),
            "user types, heard later": lambda: self._user_types(changes, is_told=False),
            "user saves": self._user_saves,
            "user opens": self._user_opens,
            "turn": lambda: self._between_turns(changes),
            "restart": self._restart,
            "judges": lambda: self._judge(random, at_most=1),
        }
        await steps[what]()
        self.is_over = bool(self.desk.files.conflicts.of(str(self.desk.cwd / NAME)))
        if not self.is_unheard and not self.is_over:
            await self.check()

    async def _heard(self) -> None:
        await self.desk.look_around()
        self.is_unheard = False

    async def _agent_writes(self, changes) -> None:
        self._splice("agent", self.model.current, changes)
        await self.desk.fs_write(NAME, lambda _: text(self._agents))
        self.model.disk = self.model.current
        self.is_unheard = False

    async def _agent_on_disk(self, changes, is_seen: bool) -> None:
        self._splice("agent", self.model.disk, changes)
        self.desk.put(NAME, text(self._agents).encode())
        self.model.disk, self.is_unheard = self._agents, True
        if is_seen or self.model.disk != self.model.current:
            await self._heard()

    async def _user_types(self, changes, is_told: bool) -> None:
        if self.is_open:
            await self._heard()  # or else Neovim would ask the user
            self._splice("user", self.model.current, changes)
            await self.desk.type(NAME, text(self.model.current), is_told)
            self.is_unheard = not is_told

    async def _user_saves(self) -> None:
        if self.is_open:
            await self._heard()
            await self.desk.save(NAME)
            self.model.disk = self.model.current

    async def _user_opens(self) -> None:
        if not self.is_open:
            self.desk.open(NAME)
        self.is_open = True

    def _splice(self, who: str, within: Sequence[str], changes) -> None:
        """Make the changes from the end of the file on, so that places stay."""
        now = list(within)
        for part, gone, new in sorted(changes, reverse=True):
            at = int(part * (len(now) + 1))
            gone = min(gone, len(now) - at)
            self.model.splice(who, now, at, gone, new)
            now[at : at + gone] = [f"{who} {self.model._next - new + number}" for number in range(new)]
        self._agents = now

    async def _between_turns(self, changes) -> None:
        """The user goes on with another editor; or does nothing while there are unsaved edits."""
        await self.desk.end_turn()
        if self.model.disk == self.model.current:
            self._splice("user", self.model.disk, changes)
            self.desk.put(NAME, text(self._agents).encode())
            self.model.disk = self._agents
        await self.desk.begin_turn()
        self.is_unheard = False

    async def _restart(self) -> None:
        """Neovim ends, and starts again; it is not left with unsaved edits."""
        await self._heard()
        if self.model.disk != self.model.current:
            return
        await self.desk.end_turn()
        before = await self._seen()
        await self.desk.restart()
        self.is_open = False
        assert await self._seen() == before
        await self.desk.begin_turn()

    async def _seen(self):
        one = await self.desk.review(NAME)
        return one and (one.operation, one.added, one.removed, [(h.first, h.count, h.old) for h in one.hunks or []])

    async def _judge(self, random, at_most: int = 99) -> None:
        """Hunk by hunk, in any order."""
        await self._heard()
        while at_most and (one := await self.desk.review(NAME)) is not None and one.hunks and not one.conflicts:
            await self.check()
            at_most -= 1
            hunk, keep = random.choice(one.hunks), random.random() < 0.5
            self.model.judge(keep, hunk.old, self.model.current[hunk.first : hunk.first + hunk.count])
            await self.desk.judge("keep" if keep else "reject", NAME, [hunk.id])
            self.model.disk = self.model.disk if keep else self.model.current
            await self.check()
        assert not self.desk.errors()

    async def check(self) -> None:
        """What there is, and what is accepted. Where the user typed beside deleted lines, either may come first."""
        desk, model = self.desk, self.model
        await desk.review(NAME)
        assert desk.text(NAME) == text(model.current)
        assert (desk.cwd / NAME).read_text() == text(model.disk)
        entry = desk.reviews.ledger.entries.get(str(desk.cwd / NAME))
        base = desk.text(NAME) if entry is None or entry.text is None else entry.text.base
        assert set(base.splitlines()) == set(model.base)
        for kept in (model.lines("both"), [line for line in model.base if not line.startswith("user")]):
            assert [line for line in base.splitlines() if line in set(kept)] == kept
        model.stand(base.splitlines())


@settings(max_examples=examples(30))
@given(count=st.integers(0, 12), steps=STEPS, end=st.sampled_from(["keep", "reject", "hunks"]), random=st.randoms())
def test_what_is_kept_is_there_and_what_is_rejected_is_as_it_was(count, steps, end, random) -> None:
    async def played(desk: Desk) -> None:
        one = Play(desk, count)
        await one.begin()
        for what, changes, choice in steps:
            await one.step(what, changes, choice)
            if one.is_over:
                event("not merged")
                return
        await desk.end_turn()
        await one.check()
        if end == "hunks":
            await one._judge(random)
        else:
            is_open = bool(desk.shown())
            await desk.judge(end)
            one.model.judge(end == "keep", one.model.lines("removed"), one.model.lines("added"))
            one.model.disk = one.model.current if end == "reject" and is_open else one.model.disk
        assert (desk.shown(), desk.errors()) == ({}, [])
        await one.check()
        event(end)

    play(played)

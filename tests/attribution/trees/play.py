"""Plays sequences in work trees, and checks the three promises after each turn."""

from __future__ import annotations

import json
import os
import random
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from collections.abc import Sequence as Steps
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from anyio.from_thread import start_blocking_portal

from acp_nvim.contract import events, review_events
from acp_nvim.snapshots.birth import is_older
from acp_nvim.snapshots.directories import CLOCK_NS
from tests.attribution.acts import AFTER_NS
from tests.attribution.stage import now, wait_past
from tests.attribution.trees.deeds import Deeds
from tests.attribution.trees.grow import Entry, Place, Tree, grow, look, look_at_git
from tests.attribution.trees.sequence import USERS, Sequence, Step, make
from tests.core.session.host import Host, running_host
from tests.support.sequence_runner import Broken, Play, SequenceRunner, playing, without_steps
from tests.support.waiting import wait_until

TRIES = 40
"""Sequences that are played to find a short one that fails."""

KEPT_BYTES = 2**30
"""Room for what the host remembers before the first prompt."""

# The prompt is a list of lines to run: the file of the line, and how it is told.
AGENT = """
import subprocess

def turn(agent, prompt):
    for number, (file, words, way) in enumerate(json.loads(prompt.text), 1):
        fields = {"title": words, "kind": "execute", "rawInput": {"command": words}}
        if way == "in background":
            fields["rawInput"]["run_in_background"] = True
        prompt.update("tool_call", toolCallId=str(number), status="in_progress", **fields)
        prompt.until_heard()
        subprocess.run(["sh", file], cwd=os.path.dirname(file) + "/cwd", check=False, stdin=subprocess.DEVNULL)
        prompt.update("tool_call_update", toolCallId=str(number), status="completed")
"""

T = TypeVar("T")


class Stage:
    """A host for many sequences, each with a session of its own in a directory of its own."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self._exit = ExitStack()
        self._portal = self._exit.enter_context(start_blocking_portal("asyncio"))
        self.host: Host = self._exit.enter_context(self._portal.wrap_async_context_manager(running_host(directory)))
        self.call(self._begin)
        self.keys = count(1)

    async def _begin(self) -> None:
        self.host.script(AGENT)

    def call(self, work: Callable[..., Awaitable[T]], *args: object) -> T:
        """Run it where the host runs."""
        return self._portal.call(work, *args)

    def close(self) -> None:
        """End all; nothing of it may be left."""
        self._exit.close()


class Player:
    """One sequence on a stage; `done` says what was done, in words."""

    def __init__(self, stage: Stage, sequence: Sequence) -> None:
        self._stage = stage
        self._sequence = sequence
        self._key = next(stage.keys)
        self._directory = stage.directory / f"tree{self._key}"
        self.place: Place = grow(self._directory, sequence)
        (self._directory / "cwd").symlink_to(self.place.cwd)
        self._ended = now()
        self._deeds = Deeds(self.place)
        self._host = stage.host
        self._root = os.path.realpath(self.place.cwd)
        self.done: list[str] = []

    def play(self) -> None:
        """Play the sequence; raise `Broken` if a rule does not hold."""
        wait_past(self._ended + CLOCK_NS)  # the files are older than the first snapshot
        with self._untouched():
            self._stage.call(self._open)
        turn: list[Step] = []
        for step in (*self._sequence.steps, Step(0, "end_turn", 0)):
            if step.op == "end_turn" or step.op in USERS:
                if turn:
                    self._turn(turn)
                turn = []
            if step.op in USERS:
                wait_past(self._ended + AFTER_NS)
                self._run(step)
            elif step.op != "end_turn":
                turn.append(step)

    def _turn(self, steps: list[Step]) -> None:
        before, rules, began = look(self.place.cwd), self.place.rules(), now()
        lines = self._lines(steps)
        with self._untouched(steps):
            self._work(steps, lines)
        self._ended = now()
        after = look(self.place.cwd)
        paths = [path for path in before.keys() | after.keys() if _content(before, path) or _content(after, path)]
        hidden, hidden_now = self.place.ignored(rules, paths), self.place.ignored(self.place.rules(), paths)
        self._check_listed(before, after, hidden, hidden_now)
        with self._untouched():
            self._stage.call(self._reject)
        rejected = look(self.place.cwd)
        self._check_rejected(before, after, rejected, hidden, hidden_now, began)
        with self._untouched():
            is_undone = self._stage.call(self._undo)
        if is_undone:
            self._check_undone(after, look(self.place.cwd), hidden | hidden_now)
        with self._untouched():
            self._stage.call(self._reject)
            self._stage.call(self._keep)

    @contextmanager
    def _untouched(self, steps: Steps[Step] = ()) -> Iterator[None]:
        """Meanwhile nothing of the user's repositories changes, unless a step does it."""
        before = look_at_git(self._directory)
        yield
        if not any(step.op.startswith("git_") for step in steps):
            now = look_at_git(self._directory)
            other = {path for path in before.keys() | now.keys() if before.get(path) != now.get(path)}
            if any(step.op == "exclude" for step in steps):
                other = {path for path in other if "info" not in path and not path.endswith((".git", "main"))}
            if other:
                raise Broken("git", f"{sorted(other)} are not as they were")

    def _work(self, steps: list[Step], lines: list[tuple[str, str, str]]) -> None:
        self._stage.call(self._prompt, lines)
        if any(step.op == "in_background" for step in steps):
            self._go_on(steps)

    def _go_on(self, steps: list[Step]) -> None:
        """What runs in the background does its work after the turn, and the next turn begins."""
        flag = self.place.home / "go"
        flag.touch()
        for step in steps:
            if step.op == "in_background":
                gone = Path(f"{flag}{step.number}")
                wait_until(gone.exists, what="the command in the background")
        flag.unlink()
        self._stage.call(self._prompt, [])

    # What is done

    def _lines(self, steps: list[Step]) -> list[tuple[str, str, str]]:
        """Each step is computed when the agent runs it, as it depends on what is there then: here by a dry copy."""
        lines = []
        for step in steps:
            line = self._line(step)
            if line is not None:
                file = self._directory / f"step{step.number}.sh"
                file.write_bytes(os.fsencode(line) + b"\n")
                words = f"git step{step.number}" if "git " in line else f"make step{step.number}"
                lines.append((str(file), words, "in background" if step.op == "in_background" else ""))
        return lines

    def _line(self, step: Step) -> str | None:
        self.done.append(f"{step.number} {step.op}: ...")
        line = self._deeds.line(step.op, random.Random(step.roll), step.number)
        self.done[-1] = f"{step.number} {step.op}: {line or '(cannot be done now)'}"
        return line

    def _run(self, step: Step) -> None:
        """Let the user carry out a step."""
        line = self._line(step)
        if line is not None:
            subprocess.run(["sh", "-c", os.fsencode(line)], cwd=self.place.cwd, check=False, capture_output=True)

    async def _open(self) -> None:
        self._host.open(self._key, cwd=str(self.place.cwd))
        await self._host.until_state("idle", self._key)
        workspace = self._host.app.reviews.workspaces.at(self._root)
        await self._host.until("the first snapshot", lambda: workspace.scanner.last is not None)
        await workspace.look_further(KEPT_BYTES)  # as users take their time before they prompt

    async def _prompt(self, lines: list[tuple[str, str, str]]) -> None:
        await self._host.turn(json.dumps(lines), self._key)
        await self._host.app.sessions[self._key].changes.settled()

    async def _reject(self) -> None:
        done = len(self._host.editor.all(review_events.Judged))
        self._host.app.receive("review", {"action": "reject", "session": self._key, "force": True})
        await self._host.until("the rejection", lambda: len(self._host.editor.all(review_events.Judged)) > done)

    async def _keep(self) -> None:
        done = len(self._host.editor.all(review_events.Judged))
        self._host.app.receive("review", {"action": "keep", "session": self._key})
        await self._host.until("the decision", lambda: len(self._host.editor.all(review_events.Judged)) > done)

    async def _undo(self) -> bool:
        """Take the rejection back; False if nothing was rejected."""
        judged = self._host.editor.all(review_events.Judged)[-1]
        if not judged.undo_id:
            return False
        done = len(self._host.editor.all(review_events.Restored))
        self._host.app.receive("restore", {"cwd": str(self.place.cwd), "id": judged.undo_id})
        await self._host.until("the undoing", lambda: len(self._host.editor.all(review_events.Restored)) > done)
        return True

    # What must be so

    def _reviews(self) -> dict[str, review_events.Review]:
        """The last word on each file of this tree that has something to review."""
        last = {one.path: one for one in self._host.editor.all(review_events.Review)}
        top = f"{self.place.cwd}{os.sep}"
        return {
            os.path.relpath(path, self.place.cwd): one
            for path, one in last.items()
            if path.startswith(top) and one.operation != "none"
        }

    def _check_listed(self, before: Tree, after: Tree, hidden: set[str], hidden_now: set[str]) -> None:
        reviews = self._reviews()
        named = set(reviews)
        for one in reviews.values():
            if one.old_path is not None:
                named.add(self._below(one.old_path))
        changed = {path for path in before.keys() | after.keys() if _content(before, path) != _content(after, path)}
        unseen = {
            path
            for path in changed
            if (_content(before, path) is None or path in hidden)
            and (_content(after, path) is None or path in hidden & hidden_now)
        }
        missing = {path for path in changed - unseen if not _is_named(path, named)}
        if missing:
            raise Broken("listed", f"{sorted(missing)} are not in {_words(reviews)}: {self._said()}")
        changed |= {path for path in before.keys() & after.keys() if before[path] != after[path]}  # permissions
        renamed = {path: self._below(one.old_path) for path, one in reviews.items() if one.old_path is not None}
        changed |= {path for path, old in renamed.items() if _has_moved(old, path, before, after)}
        left = set(renamed.values())
        lost = {path: _before(path, renamed) for path in reviews if path not in after}
        changed |= {path for path in reviews if _before(path, renamed) in changed}  # deleted from a renamed directory
        changed |= {path for path, was in lost.items() if was in before}  # and another one is there again
        if any(before.get(path) != after.get(path) for path in hidden):  # one was perhaps elsewhere in between
            changed |= {path for path in lost if reviews[path].operation == "delete"}
        changed |= {path for path in reviews if _is_named(os.path.dirname(path), left)}  # deleted and made again
        are_rules_touched = any(os.path.basename(path) == ".gitignore" for path in changed) or hidden - hidden_now
        changed |= hidden if are_rules_touched else set()  # perhaps shown as "earlier contents not known"
        wrong = {path for path in reviews if path not in changed and not _holds(path, changed)}
        if wrong:
            raise Broken("not done", f"{sorted(wrong)} are in {_words(reviews)}")
        users = {path for path, one in reviews.items() if one.by not in ("agent", "unknown")}
        if users:
            raise Broken("whose", f"{sorted(users)} in {_words(reviews)}")

    def _below(self, path: str) -> str:
        return os.path.relpath(path, self.place.cwd)

    def _check_rejected(
        self, before: Tree, after: Tree, now: Tree, hidden: set[str], hidden_now: set[str], since: int
    ) -> None:
        left = self._reviews()
        came = {
            path for path, one in after.items() if one[0] == "directory" and _is_older(self.place.cwd / path, since)
        }
        ignored = [after[path] for path in hidden_now & after.keys() if after[path][0] == "file"]
        links = [after[path] for path in hidden_now & after.keys() if after[path][0] == "link"]
        for path in sorted(before.keys() | after.keys() | now.keys()):
            was, did, has = before.get(path), after.get(path), now.get(path)
            if has == did and path in came and not _files_in(now, path, set()):
                continue  # perhaps it was the user's, and is empty now
            if has == was or (has == did and path in left) or _is_known_gap(path, was, did, has, hidden):
                continue
            if path in hidden and has is None and was in now.values():
                continue  # the agent had moved it away; what it put there is rejected
            if path in left and (path in hidden or None in (did, has)):
                continue  # it has come back with a renamed directory, or its contents went with the repository
            is_hidden = path in hidden | hidden_now
            if _is_ignored_change(did, has, path in hidden, ignored + links if is_hidden else ignored):
                continue
            is_not_seen = (was is None or path in hidden) and (did is None or path in hidden_now)
            if is_not_seen and _is_bare(path, now, ignored):
                continue  # it came back with a renamed directory
            if has == did and _is_named(path, set(left)):
                continue
            is_left = not _files_in(after, path, hidden_now) or _holds(path, set(left)) or _files_in(now, path, set())
            if has == did and has is not None and has[0] == "directory" and is_left:
                continue
            words = f"{path} was {was}, was {did} after the agent, is {has} now; {_words(left)}; {self._said()}"
            raise Broken("rejected", words)

    def _check_undone(self, after: Tree, now: Tree, hidden: set[str]) -> None:
        for path in sorted(after.keys() | now.keys()):
            did, has = after.get(path), now.get(path)
            if did != has and not _is_known_gap(path, did, did, has, hidden):
                raise Broken("undone", f"{path} was {did} after the agent, is {has} now; {self._said()}")

    def _said(self) -> list[str]:
        return self._host.notices(self._key) + [one.text for one in self._host.editor.all(events.Error)][-3:]


def _content(tree: Tree, path: str) -> tuple[str, bytes, bool] | None:
    """What git sees of it: nothing of a directory."""
    one = tree.get(path)
    return None if one is None or one[0] == "directory" else (one[0], one[1], bool(one[2] & 0o100))


def _is_ignored_change(did: Entry | None, has: Entry | None, was_hidden: bool, ignored: list[Entry]) -> bool:
    """Whether that is what the agent did to an ignored file, which is not listed."""
    is_removed = was_hidden and has is None and did is not None and did[0] == "directory"
    return is_removed or (did != has and has in ignored)  # it has come with its directory, as the agent has left it


def _is_named(path: str, named: set[str]) -> bool:
    while path:
        if path in named:
            return True
        path = os.path.dirname(path)
    return False


def _has_moved(old: str, path: str, before: Tree, after: Tree) -> bool:
    """Whether a directory of that name has gone, and another one has come."""

    def has(tree: Tree, name: str) -> bool:
        return name in tree and tree[name][0] == "directory"

    return has(before, old) and has(after, path) and not (has(before, path) and has(after, old))


def _is_older(directory: Path, than: int) -> bool:
    """Whether it was made before that, and has come from elsewhere since."""
    return directory.is_dir() and is_older(os.fsencode(directory), than)


def _before(path: str, renamed: dict[str, str]) -> str:
    """The earlier name of what is, or would be, at a path."""
    above, below = os.path.dirname(path), os.path.basename(path)
    while above and above not in renamed:
        above, below = os.path.dirname(above), os.path.join(os.path.basename(above), below)
    return os.path.join(renamed.get(above, above), below)


def _holds(directory: str, changed: set[str]) -> bool:
    return any(path.startswith(directory + os.sep) for path in changed)


def _files_in(tree: Tree, directory: str, hidden: set[str]) -> list[str]:
    """What there is to be seen below a directory."""
    below = (path for path, one in tree.items() if path.startswith(directory + os.sep) and one[0] != "directory")
    return [path for path in below if path not in hidden]


def _is_bare(path: str, tree: Tree, ignored: list[Entry]) -> bool:
    """Whether that is a directory with nothing in it but what is ignored."""
    inside = [one for one in _files_in(tree, path, set()) if tree[one] not in ignored]
    return path in tree and tree[path][0] == "directory" and not inside


def _is_known_gap(path: str, was: Any, did: Any, has: Any, hidden: set[str]) -> bool:
    """What is not promised: an empty directory is not made again; what is ignored stays as the agent left it."""
    if path in hidden:
        return bool(has == did)
    is_directory = was is not None and was[0] == "directory"
    return is_directory and (has is None or has[0] == "directory")


def _words(reviews: dict[str, review_events.Review]) -> str:
    lines = [
        f"{one.operation} {path}{f' from {one.old_path}' if one.old_path else ''} by {one.by}: {one.why}"
        for path, one in reviews.items()
    ]
    return f"[{'; '.join(lines)}]"


def _shorter(sequence: Sequence) -> Iterator[Sequence]:
    for steps in without_steps(sequence.steps):
        if steps:
            yield replace(sequence, steps=steps)
    for number in range(len(sequence.extras)):
        yield replace(sequence, extras=sequence.extras[:number] + sequence.extras[number + 1 :])
    for plain in ({"index": "plain"}, {"place": "top"}, {"format": "sha1"}):
        if any(getattr(sequence, name) != value for name, value in plain.items()):
            yield replace(sequence, **plain)


def sequence_runner(directory: Path) -> AbstractContextManager[SequenceRunner[Sequence]]:
    """Players that are gone at the end."""
    numbers = count()
    return playing(Play(lambda: Stage(directory / f"stage{next(numbers)}"), make, Player, _shorter, TRIES))

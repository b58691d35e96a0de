"""Steps of other programs and of the agent's own tools: the file changes behind Neovim's back, and it follows."""

from __future__ import annotations

import base64
import random
from collections.abc import Callable

from tests.agents.obedient_agent import write_bytes
from tests.support.sequence_runner import Broken
from tests.workspace.merging import merged
from tests.workspace.stage import Buffer, Stage, on_disk
from tests.workspace.texts import BOM, edited, encode, encoding_of, tokens
from tests.workspace.watched import Watched, demand, same


class Others:
    """Carries out steps of other programs; `settle` waits until Neovim has read what is on disk."""

    def __init__(self, stage: Stage, files: list[Watched]) -> None:
        self.stage = stage
        self.files = files

    # Other programs

    def program_write(self, file: Watched, rng: random.Random, number: int) -> str | None:
        data, in_place = self._edited(file, rng, f"P{number};"), rng.random() < 0.5
        file.changed_behind(self.stage)
        write_bytes(str(file.path), data, self.stage.next_time(), in_place)
        looked = rng.random() < 0.3
        if looked:
            file.known, file.told = on_disk(file.path), None
        return f"a program writes {data!r} {'in place' if in_place else 'anew'}{', the agent looks' if looked else ''}"

    def program_delete(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        if not file.path.exists():
            return None
        file.changed_behind(self.stage)
        file.path.unlink()
        file.told, file.asked = None, False
        return "a program deletes it"

    # The agent's own tools

    def agent_disk_write(self, file: Watched, rng: random.Random, number: int) -> str | None:
        data, in_place = self._edited(file, rng, f"A{number};"), rng.random() < 0.5
        before = on_disk(file.path)
        given = {"data": base64.b64encode(data).decode(), "mtime_ns": self.stage.next_time(), "in_place": in_place}
        self._noticed(lambda: self.stage.agent.tell("disk_write", path=str(file.path), **given), file)
        file.known = on_disk(file.path)
        # what it was like before is known of files that are open; of a conflict nobody says what the agent has seen
        buffer = self.stage.buffer(file.path)
        taken = buffer is not None and tokens(file.known or "") - tokens(before or "") <= tokens(buffer.text)
        file.told = file.known if taken and file.told == before else None
        return f"the agent's tool writes {data!r} {'in place' if in_place else 'anew'}"

    def agent_delete(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        if not file.path.exists():
            return None
        self._noticed(lambda: self.stage.agent.tell("delete", path=str(file.path)), file)
        file.told, file.asked = None, False
        return "the agent's tool deletes it"

    def agent_rename(self, file: Watched, _rng: random.Random, number: int) -> str | None:
        if not file.path.exists() or file.stale:  # another file is not known by a new name
            return None
        old, new = file.path, file.path.with_name(f"renamed{number}.txt")
        before = self.stage.buffer(old)

        def rename() -> None:
            self.stage.agent.tell("rename", path=str(old), to=str(new))
            file.path = new
            if before is not None:
                self.stage.wait(lambda: self.stage.buffer(new), "rename", f"the buffer of {old} to be that of {new}")

        self._noticed(rename)
        if before is None:  # whose name was another is known of files that are open
            file.told, file.asked = None, False
        return f"the agent's tool renames it to {new.name}"

    def agent_told(self, file: Watched, rng: random.Random, _number: int) -> str | None:
        kind = rng.choice(["execute", "edit", "other"])
        self._noticed(lambda: self.stage.agent.tell("told", kind=kind, path=str(file.path)))
        if kind == "edit":  # what is found on disk now is taken for the agent's own work
            file.seen |= tokens(on_disk(file.path) or "")
            file.told = None
        return f"the agent tells of a tool call: {kind}"

    # The user comes back

    def checktime(self, _file: Watched, _rng: random.Random, _number: int) -> str | None:
        self._noticed(lambda: self.stage.type(":checktime<CR>"), hidden=False)
        return ":checktime"

    def focus(self, _file: Watched, _rng: random.Random, _number: int) -> str | None:
        self._noticed(lambda: self.stage.nvim.api("ui_set_focus", True), hidden=False)
        return "the terminal gets the focus"

    # Inside

    def _edited(self, file: Watched, rng: random.Random, token: str) -> bytes:
        """The bytes on disk with a small change."""
        if not file.path.exists():
            text = f"{token} {file.kind.odd}\n"
            return encode(BOM + text if file.kind.bom else text, file.kind.encoding)
        data = file.path.read_bytes()
        encoding = encoding_of(data)
        return encode(edited(on_disk(file.path) or "", rng, token), encoding)

    def _noticed(self, act: Callable[[], object], changed: Watched | None = None, hidden: bool = True) -> None:
        """Make Neovim look at the files, also of hidden buffers if wanted, and wait until it has."""
        now = self.stage.caught_up()  # what was done before may be told a moment later
        for file in self.files:
            file.look_again(self.stage)
        before = [(file, self.stage.buffer(file.path), on_disk(file.path)) for file in self.files]
        told = [file.stale_since if file.stale else now for file in self.files]
        act()
        for (file, buffer, last), since in zip(before, told, strict=True):
            if buffer is not None and (file.stale or file is changed) and (hidden or buffer.windows):
                self._settle(file, buffer, last, since)

    def _settle(self, file: Watched, before: Buffer, last: str | None, told: int) -> None:
        """`last` is what was on disk before: of a file that is gone now Neovim may have seen it, or not."""
        disk = on_disk(file.path)
        if disk is None:
            if file.synced is not None:  # else it was gone before, as far as Neovim knows
                self._wait_told(file, told)
            if not (file.stale and last is not None and self._has_followed(file, before, last)):
                self._check_intact(file, before)
        elif not before.modified:
            self.stage.wait(lambda: self._follows(file, disk), "follow disk", f"the buffer to be as the file: {disk!r}")
            self._one_undo(file, before)
        elif disk != file.synced:
            self._settle_modified(file, before, disk, told)
        file.followed()

    def _settle_modified(self, file: Watched, before: Buffer, disk: str, told: int) -> None:
        base = file.synced
        news = tokens(disk) - tokens(base or "")
        self.stage.wait(
            lambda: news <= tokens(self._there(file).text) or file.is_told_of(self.stage, told),
            "merge disk",
            f"{sorted(news)} of the disk in the buffer, or words about a conflict",
        )
        after = self._there(file)
        if after.text not in (before.text, disk):
            self._wait_told(file, told)
        if not news <= tokens(after.text):
            self._check_intact(file, before)
        own = tokens(before.text) - tokens(base or "")
        demand(tokens(after.text), own, "follow disk", f"was unsaved in {before.text!r}, disk {disk!r}")
        wanted = None if base is None else merged(base, before.text, disk)
        if wanted is not None and after.text != wanted:
            raise Broken("merge", f"base {base!r} buffer {before.text!r} disk {disk!r} gave {after.text!r}")
        if after.lines != before.lines:
            file.undo_to = before.lines

    def _wait_told(self, file: Watched, since: int) -> None:
        self.stage.wait(
            lambda: file.is_told_of(self.stage, since), "told", f"the chat to say what became of {file.path}"
        )

    def _one_undo(self, file: Watched, before: Buffer) -> None:
        if self._there(file).lines != before.lines:
            file.undo_to = before.lines

    def _follows(self, file: Watched, disk: str) -> bool:
        after = self.stage.buffer(file.path)
        return after is not None and same(after, disk) and not after.modified

    def _has_followed(self, file: Watched, before: Buffer, disk: str) -> bool:
        """Whether the buffer took what was on disk for a while, and kept what was not saved."""
        after = self._there(file)
        if not before.modified:
            return same(after, disk)
        unsaved = tokens(before.text) - tokens(file.synced or "")
        return (tokens(disk) - tokens(file.synced or "")) | unsaved <= tokens(after.text)

    def _check_intact(self, file: Watched, before: Buffer) -> None:
        after = self._there(file)
        if after.text != before.text:
            raise Broken("intact", f"{file.path.name} had {before.text!r}, has {after.text!r}")

    def _there(self, file: Watched) -> Buffer:
        after = self.stage.buffer(file.path)
        if after is None:
            raise Broken("buffer", f"{file.path.name} has no buffer any more")
        return after

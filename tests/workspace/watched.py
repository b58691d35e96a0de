"""What a sequence knows of one of its files: who has seen what of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.sequence_runner import Broken
from tests.workspace.stage import Buffer, Stage, on_disk
from tests.workspace.texts import Kind, tokens


@dataclass
class Watched:
    """`known` is what the agent knows of the file, `told` the same as far as the client can tell."""

    path: Path
    kind: Kind
    known: str | None = None
    told: str | None = None
    seen: set[str] = field(default_factory=set)
    """Tokens in the last whole text that went through the client, and in the parts that were shown since."""
    asked: bool = False
    """The agent has read or written it through the client, and it was there since."""
    stale: bool = False
    """The file was changed, and nothing has told Neovim to look; it does that when the user comes to the buffer."""
    stale_since: int = 0
    """What the chat had said until then."""
    synced: str | None = None
    """The text that was on disk when Neovim last looked, or None after a conflict."""
    typed: set[str] = field(default_factory=set)
    """The user's tokens in this life of the buffer."""
    undo_to: list[str] | None = None
    """Lines that one `u` must bring back now."""
    last: str | None = None
    """The buffer's text at the end of the last step."""

    def learn(self, text: str) -> None:
        """The agent knows the whole text, from the client or to its knowledge."""
        self.known = self.told = text
        self.seen = tokens(text)
        self.asked = True

    def unseen(self, text: str, otherwise: str | None) -> set[str]:
        """Tokens of `text` that the agent cannot mean to remove.

        Of a file that it never asked for, it may have seen all that is in `otherwise`: it can read it by itself.
        """
        by_itself = set() if self.asked else tokens(otherwise or "")
        return tokens(text) - tokens(self.known or "") - self.seen - by_itself

    def changed_behind(self, stage: Stage) -> None:
        """Note that another program is about to change the file."""
        if stage.buffer(self.path) is not None and not self.stale:
            self.stale, self.stale_since = True, stage.caught_up()

    def followed(self) -> None:
        """The buffer has what is on disk, or there is a conflict, or it is the other way round."""
        self.stale, self.synced = False, on_disk(self.path)

    def is_told_of(self, stage: Stage, since: int) -> bool:
        """Whether the chat has told what became of the file on disk (of one with unsaved edits, or deleted)."""
        name = re.escape(self.path.name)
        return re.search(rf"{name} was (changed on disk|deleted)", stage.told()[since:]) is not None

    def look_again(self, stage: Stage) -> bool:
        """Whether Neovim has noticed by itself what others did to the file."""
        if not self.stale:
            return True
        buffer, disk = stage.buffer(self.path), on_disk(self.path)
        if buffer is None:
            self.stale = False
        elif self.is_told_of(stage, self.stale_since) or (disk is not None and self._has_followed(buffer, disk)):
            self.followed()
        return not self.stale

    def _has_followed(self, buffer: Buffer, disk: str) -> bool:
        """Whether the buffer took what is on disk; the user may have typed since."""
        news = tokens(disk) - tokens(self.synced or "")
        return same(buffer, disk) or (bool(news) and news <= tokens(buffer.text))


def same(buffer: Buffer, disk: str) -> bool:
    """Whether the buffer's text is the file's; Neovim writes the last line's end, which the file may lack."""
    end = {"unix": "\n", "dos": "\r\n", "mac": "\r"}[buffer.format]
    return buffer.text in (disk, disk + end)


def demand(found: set[str], wanted: set[str], rule: str, words: str) -> None:
    if wanted - found:
        raise Broken(rule, f"{sorted(wanted - found)} {words}")


def check_file(stage: Stage, file: Watched) -> None:
    """Check what holds after every step."""
    buffer = stage.buffer(file.path)
    disk = on_disk(file.path)
    if buffer is not None and disk is not None and not buffer.modified and not file.stale and not same(buffer, disk):
        raise Broken("unmodified", f"{file.path.name} has {buffer.text!r} in the buffer, {disk!r} on disk")
    file.last = None if buffer is None else buffer.text


def check_undo_tree(stage: Stage, file: Watched) -> None:
    """What the user typed is in the buffer, or can be had back."""
    buffer = stage.buffer(file.path)
    if buffer is None:
        return
    found = set().union(*(tokens(text) for text in [*stage.undo_texts(buffer), buffer.text]))
    demand(found, file.typed, "undo tree", f"is lost: neither in {file.path.name} nor in its undo tree")

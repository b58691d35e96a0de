"""The user's steps: real keys, in windows that show the file."""

from __future__ import annotations

import random

from tests.support.sequence_runner import Broken
from tests.workspace.stage import Buffer, Stage, on_disk
from tests.workspace.texts import tokens
from tests.workspace.watched import Watched, check_undo_tree, demand, same

TYPING = {
    "{at}Go{token} below<Esc>": True,
    "{at}GO{token} above<CR>and more<Esc>": True,
    "{at}GA {token}<Esc>": True,
    "{at}GI{token} <Esc>": True,
    "{at}Gcc{token} instead<Esc>": True,
    "Go{token} last<Esc>": True,
    ":call append({at}, '{token} by ex')<CR>": True,
    ":{at}s/$/ {token}/<CR>": True,
    "{at}Gdd": False,
    ":{at}delete<CR>": False,
    ":{at}move 0<CR>": False,
}
"""Keys, and whether they bring the token into the text."""


class User:
    """Carries out steps in a buffer; each returns what was done, for a report, or None if it cannot be done."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def user_edit(self, file: Watched, rng: random.Random, number: int) -> str | None:
        before = self.stage.buffer(file.path)
        if before is None:
            return None
        keys, brings = rng.choice(list(TYPING.items()))
        token = f"U{number};"
        keys = keys.format(at=rng.randint(1, len(before.lines)), token=token)
        self.stage.keys(before, keys)
        if brings:
            file.typed.add(token)
            demand(tokens(self._there(file).text), {token}, "typing", "was typed, and is not there")
        return f"types {keys}"

    def undo(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        before = self.stage.buffer(file.path)
        if before is None:
            return None
        self.stage.keys(before, "u")
        after = self._there(file)
        if file.undo_to is not None and not file.stale and after.lines != file.undo_to:
            raise Broken("one undo", f"u after a change by others gave {after.lines}, not {file.undo_to}")
        return "u"

    def redo(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        return self._type(file, "<C-r>")

    def save(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        before, disk = self.stage.buffer(file.path), on_disk(file.path)
        if before is None:
            return None
        try:
            self.stage.keys(before, ":w<CR>")
        except Broken:
            if not file.stale:
                raise
            self.stage.nvim.command("messages clear")
            return ":w; asked whether to overwrite what nobody knew of: n"  # which check_unblocked has answered
        after = self._there(file)
        if file.stale and disk is not None:
            self.stage.check_kept(
                tokens(disk) - tokens(file.synced or "") - tokens(after.text), "save", file.stale_since
            )
        if after.modified or not same(after, on_disk(file.path) or ""):
            raise Broken("save", f":w left {after} and {on_disk(file.path)!r}")
        file.followed()
        return ":w"

    def edit_again(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        disk = on_disk(file.path)
        if disk is None or self._type(file, ":e!<CR>") is None:
            return None
        after = self._there(file)
        if after.modified or not same(after, disk):
            raise Broken("edit", f":e! gave {after}, not {disk!r}")
        file.followed()
        return ":e!"

    def wipe(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        check_undo_tree(self.stage, file)
        if self._type(file, ":bwipe!<CR>") is None:
            return None
        file.typed, file.stale, file.synced = set(), False, None
        return ":bwipe!"

    def open(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        if self.stage.buffer(file.path) is not None:
            return None
        self.stage.type(f":e {file.path}<CR>")
        disk = on_disk(file.path)
        after = self._there(file)
        if after.modified or (disk is not None and not same(after, disk)):
            raise Broken("open", f":e gave {after}, not {disk!r}")
        file.followed()
        return ":e"

    def split(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        before = self.stage.buffer(file.path)
        return self._type(file, ":split<CR>") if before and before.windows < 3 else None

    def close(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        before = self.stage.buffer(file.path)
        return self._type(file, ":close<CR>") if before and before.windows > 1 else None

    def hide(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        return self._type(file, ":enew<CR>")

    def _type(self, file: Watched, keys: str) -> str | None:
        before = self.stage.buffer(file.path)
        if before is None:
            return None
        self.stage.keys(before, keys)
        return keys

    def _there(self, file: Watched) -> Buffer:
        after = self.stage.buffer(file.path)
        if after is None:
            raise Broken("buffer", f"{file.path.name} has no buffer any more")
        return after

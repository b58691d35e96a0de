"""The agent's steps: `fs/read_text_file` and `fs/write_text_file`, and what must have come of them."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.agents.obedient_client import RefusedError
from tests.support.sequence_runner import Broken
from tests.workspace.merging import merged
from tests.workspace.stage import Buffer, Stage, on_disk
from tests.workspace.texts import (
    BOM,
    ENDS,
    after_part,
    edited,
    encode,
    encoding_of,
    end_of,
    ending,
    lines_of,
    part,
    tokens,
)
from tests.workspace.watched import Watched, demand

MISSING = -32002
WHOLE = "{token} a wholly new text\nof {token} two lines\n"


@dataclass(frozen=True)
class Scene:
    """A file before the agent writes it: `current` is the text that the write replaces."""

    buffer: Buffer | None
    disk: str | None
    data: bytes | None

    @property
    def current(self) -> str | None:
        return self.disk if self.buffer is None else self.buffer.text

    @property
    def encoding(self) -> str:
        if self.buffer is not None:
            return self.buffer.fenc
        return encoding_of(self.data or b"")


class AgentFiles:
    """Carries out the steps of the agent."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage

    def agent_read(self, file: Watched, _rng: random.Random, _number: int) -> str | None:
        text = self._read(file)
        if text is None:
            return "the agent reads: there is no such file"
        file.learn(text)
        return f"the agent reads {text!r}"

    def agent_read_part(self, file: Watched, rng: random.Random, _number: int) -> str | None:
        scene = self._scene(file)
        if scene.current is None:
            return None
        count = len(lines_of(scene.current))
        line, limit = rng.randint(1, count + 3), rng.choice([None, 1, rng.randint(0, count + 2)])
        asked = {"line": line} if limit is None else {"line": line, "limit": limit}
        try:
            shown = self.stage.agent.tell("read", path=str(file.path), **asked)
        except RefusedError as refused:
            if not self._is_missing(scene, refused):
                raise Broken("read part", str(refused)) from refused
            return "the agent reads a part: there is no such file"
        after = self._scene(file)
        expected = [part(text, line, limit) for text in (scene.current, after.current) if text is not None]
        if shown not in expected:
            raise Broken("read part", f"{asked} gave {shown!r}, not {expected[-1]!r}")
        if file.known is not None and file.known != after.current:
            file.known = after_part(file.known, after.current or "", line, limit)
            file.told = None
        file.seen |= tokens(shown)
        if not file.asked:  # the rest of what was saved it may have seen by itself
            file.seen |= tokens(file.synced or "") | tokens(scene.disk or "")
        file.look_again(self.stage)
        return f"the agent reads {asked}: {shown!r}"

    def agent_write(self, file: Watched, rng: random.Random, number: int) -> str | None:
        scene = self._scene(file)
        text = self._new_text(file, rng, number)
        told = len(self.stage.told())
        try:
            self.stage.agent.tell("write", path=str(file.path), content=text)
        except RefusedError as refused:
            self._refused(file, scene, text, refused, told)
            return f"the agent writes {text!r}: {refused.message}"
        self._written(file, scene, text, told)
        return f"the agent writes {text!r}"

    # What it asks

    def _read(self, file: Watched) -> str | None:
        before = self._scene(file)
        try:
            text: str = self.stage.agent.tell("read", path=str(file.path))
        except RefusedError as refused:
            if not self._is_missing(before, refused):
                raise Broken("read", str(refused)) from refused
            return None
        after = self._scene(file)
        if text not in (before.current, after.current):
            raise Broken("read", f"gave {text!r}, not {after.current!r}")
        return text

    def _is_missing(self, scene: Scene, refused: RefusedError) -> bool:
        """Rightly so: the file is gone, and no buffer has more than it had."""
        return refused.code == MISSING and scene.data is None and not (scene.buffer and scene.buffer.modified)

    def _new_text(self, file: Watched, rng: random.Random, number: int) -> str:
        token, known = f"A{number};", file.known or ""
        how = rng.choice(["edit"] * 14 + ["whole", "ends", "sloppy", "bom", "empty", "last", "foreign"])
        if how == "whole":
            return WHOLE.format(token=token)
        if how == "empty":
            return ""
        if how == "sloppy":
            return edited(known, rng, token, "\n")
        text = edited(known, rng, token)
        if how == "ends":
            other = "\n" if end_of(text) != "\n" else "\r\n"
            return text.replace(end_of(text), other)
        if how == "bom":
            return text.removeprefix(BOM) if text.startswith(BOM) else BOM + text
        if how == "last":
            return text.rstrip("\r\n")
        return text + "日 in no Latin file" if how == "foreign" else text

    # What must have come of it

    def _refused(self, file: Watched, scene: Scene, text: str, refused: RefusedError, told: int) -> None:
        followed = self._as_written(Scene(None, scene.disk, scene.data), text)  # the buffer may follow the disk first
        text = self._as_written(scene, text)
        encodable = self._encoded(scene, text) is not None
        wanted = self._wanted(file, scene, text)
        if encodable and wanted is not None:
            raise Broken("refused", f"{text!r} into {scene.current!r}, known {file.known!r}: {refused.message}")
        after = self._scene(file)
        if after.data != scene.data:
            raise Broken("refused", f"wrote {after.data!r} nevertheless; had {scene.data!r}: {refused.message}")
        if after.current != scene.current:
            demand(tokens(after.current or ""), tokens(scene.current or "") & file.typed, "refused", "is gone")
            if not file.stale:
                raise Broken("refused", f"{scene.current!r} became {after.current!r} nevertheless: {refused.message}")
        if encodable:
            self._check_kept({text, followed} if file.stale else {text}, refused, told)
        file.look_again(self.stage)

    def _check_kept(self, texts: set[str], refused: RefusedError, told: int) -> None:
        """The agent is told to read again; the user is told where the agent's text, one of `texts`, is."""
        if "ead" not in refused.message:
            raise Broken("words", f"do not say to read again: {refused.message}")
        texts = texts | {text.removeprefix(BOM) for text in texts}
        kept = self.stage.kept
        self.stage.wait(
            lambda: texts & set(kept(told).values()), "kept", f"a file that keeps {texts}, named in the chat"
        )

    def _written(self, file: Watched, scene: Scene, text: str, told: int) -> None:
        text = self._as_written(scene, text)
        after = self._scene(file)
        result = after.current
        if result is None:
            raise Broken("write", "answered, and there is no file")
        self._check_survived(file, scene, text, result)
        if file.stale and scene.disk is not None and file.asked:
            self._check_disk_survived(file, scene, result, told)
        wanted = self._wanted(file, scene, text)
        if wanted is not None and result != wanted:
            raise Broken("write", f"{text!r} into {scene.current!r}, known {file.known!r}, gave {result!r}")
        if wanted is not None or after.buffer is None:
            self._check_disk(scene, after, result)
        if after.buffer is not None and self.stage.saves and (after.buffer.modified or after.disk != result):
            raise Broken("write", f"was not saved: {after}")
        changed = scene.buffer is not None and after.buffer is not None and scene.buffer.lines != after.buffer.lines
        file.undo_to = scene.buffer.lines if scene.buffer and changed and not file.stale else None
        file.learn(text)
        file.told = text if result == text else None
        file.followed()  # the buffer was brought up to the file before

    def _check_survived(self, file: Watched, scene: Scene, text: str, result: str) -> None:
        current = scene.current or ""
        words = f"is lost: {text!r} into {current!r} (disk {scene.disk!r}), known {file.known!r}, gave {result!r}"
        removed = tokens(file.synced or "") - tokens(scene.disk or "") if file.stale else set()
        saved = scene.disk if scene.buffer is None or scene.buffer.modified else current
        demand(tokens(result), file.unseen(current, saved) - removed, "survive", words)
        demand(tokens(result), (tokens(current) & tokens(text)) - removed, "survive", words)
        demand(tokens(result), tokens(text) - tokens(file.known or ""), "agent", words)

    def _check_disk_survived(self, file: Watched, scene: Scene, result: str, told: int) -> None:
        """What nobody has seen on disk was merged; or it is a conflict, and is kept."""
        news = tokens(scene.disk or "") - tokens(file.synced or "") - tokens(scene.current or "")
        lost = (news & file.unseen(scene.disk or "", scene.disk)) - tokens(result)
        self.stage.check_kept(lost, "disk", told)

    def _check_disk(self, scene: Scene, after: Scene, result: str) -> None:
        if not self.stage.saves and after.buffer is not None:
            if after.data != scene.data:
                raise Broken("write", "the file was written, although it should not be saved")
            return
        if after.data != encode(result, scene.encoding):
            raise Broken("bytes", f"{after.data!r} for {result!r} in {scene.encoding}")

    def _wanted(self, file: Watched, scene: Scene, text: str) -> str | None:
        """The only right result, where there is one."""
        if file.stale or self._encoded(scene, text) is None:
            return None
        if scene.current is None:
            return text
        if file.told is None or (scene.buffer is not None and scene.disk is None):
            return None
        return text if file.told == scene.current else merged(file.told, scene.current, text)

    def _as_written(self, scene: Scene, text: str) -> str:
        """A file keeps its BOM and its kind of line ends; each line has an end."""
        if scene.current is None:
            return text
        if scene.current.startswith(BOM) and not text.startswith(BOM):
            text = BOM + text
        ends = {ending(line) for line in lines_of(scene.current)} - {""}
        if not ends and scene.buffer is not None:
            ends = {ENDS[scene.buffer.format]}
        if len(ends) == 1 and "\r" not in text:
            text = text.replace("\n", *ends)
        lines = lines_of(text)
        if lines and not text.endswith("\n" if "\n" in text else "\r"):  # beside newlines, a lone CR ends no line
            own = {ending(line) for line in lines} - {""} or ends or {"\n"}
            text += own.pop() if len(own) == 1 else "\n"
        return text

    def _encoded(self, scene: Scene, text: str) -> bytes | None:
        try:
            return encode(text, scene.encoding)
        except UnicodeEncodeError:
            return None

    def _scene(self, file: Watched) -> Scene:
        data = file.path.read_bytes() if file.path.exists() else None
        return Scene(self.stage.buffer(file.path), on_disk(file.path), data)

"""What the agent last saw, compared with a plain dict, while texts are spilled, ruined and dropped."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import anyio
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from acp_nvim.workspace.last_seen import LastSeen
from tests.support.examples import examples

TEXT = 200
MEMORY = 700
FILES = 4
PATHS = st.sampled_from("abcdef")
CHARACTERS = st.sampled_from("ab\n\r\0é☃\ufeff\U0001f600\ud800\udc80")
TEXTS = st.builds(lambda start, times, end: start * times + end, CHARACTERS, st.integers(0, 300), CHARACTERS)


def files(directory: Path) -> list[Path]:
    """All the files below it."""
    return sorted(path for path in directory.rglob("*") if path.is_file())


class Model(RuleBasedStateMachine):
    """A dict of the texts, the least recently used first; `lost` are those that somebody else may have ruined."""

    @initialize(disk_bytes=st.sampled_from([0, 500, 100_000]))
    def begin(self, disk_bytes: int) -> None:
        self.temporary = tempfile.TemporaryDirectory()
        self.directory = Path(self.temporary.name) / "seen"
        self.disk_bytes = disk_bytes
        self.seen = LastSeen(self.directory, text_bytes=TEXT, memory_bytes=MEMORY, disk_bytes=disk_bytes, files=FILES)
        self.model: dict[str, str] = {}
        self.lost: set[str] = set()
        self.runner = asyncio.Runner()

    @rule(path=PATHS, text=TEXTS)
    def remember(self, path: str, text: str) -> None:
        self.runner.run(self.seen.remember(path, text))
        self.is_seen(path, text)

    @rule(path=PATHS)
    def remember_again(self, path: str) -> None:
        if path in self.model:
            self.remember(path, self.model[path])

    @rule(pairs=st.lists(st.tuples(PATHS, TEXTS), min_size=2, max_size=4))
    def remember_together(self, pairs: list[tuple[str, str]]) -> None:
        async def all_of_them() -> None:
            async with anyio.create_task_group() as group:
                for pair in pairs:
                    group.start_soon(self.seen.remember, *pair)

        self.runner.run(all_of_them())
        for pair in pairs:
            self.is_seen(*pair)

    @rule(path=PATHS)
    def ask(self, path: str) -> None:
        found = self.runner.run(self.seen.text(path))
        if path in self.model:
            self.is_seen(path, self.model[path])
        if found is None and path in self.model:
            assert path in self.lost or self.disk_bytes < 100_000
            assert self.seen._texts[path].text is None
        else:
            assert found == self.model.get(path)

    @rule(path=PATHS)
    def forget(self, path: str) -> None:
        self.seen.forget(path)
        self.model.pop(path, None)

    @rule(old=PATHS, new=PATHS)
    def move(self, old: str, new: str) -> None:
        self.seen.moved(old, new)
        text = self.model.pop(old, None)
        self.model.pop(new, None)
        if text is not None:
            self.model[new] = text
            self.lost |= {new} if old in self.lost else set()

    @rule(data=st.sampled_from([None, b"", b"damaged"]))
    def ruin(self, data: bytes | None) -> None:
        for file in files(self.directory):
            file.unlink()
            if data is not None:
                file.write_bytes(data)
        self.lost |= set(self.model)

    def is_seen(self, path: str, text: str) -> None:
        if self.model.pop(path, None) != text:
            self.lost.discard(path)
        self.model[path] = text
        while len(self.model) > FILES:
            del self.model[next(iter(self.model))]

    @invariant()
    def it_knows_what_the_model_knows(self) -> None:
        if not hasattr(self, "model"):
            return
        assert list(self.seen._texts) == list(self.model)
        for path in "abcdef":
            text = self.model.get(path)
            assert text is None or self.seen.knows(path, text)
            assert all(self.seen.knows(path, other) == (text == other) for other in self.model.values())

    @invariant()
    def it_keeps_to_its_room(self) -> None:
        if not hasattr(self, "model"):
            return
        sizes = [sys.getsizeof(sight.text) for sight in self.seen._texts.values() if sight.text is not None]
        assert sum(sizes) <= MEMORY
        assert max(sizes, default=0) <= TEXT
        assert sum(sizes) == self.seen._in_memory
        assert sum(file.stat().st_size for file in files(self.directory)) <= self.disk_bytes

    def teardown(self) -> None:
        if hasattr(self, "model"):
            self.seen.close()
            left = list(self.directory.iterdir()) if self.directory.exists() else []
            self.runner.close()
            self.temporary.cleanup()
            assert left == []


TestModel = Model.TestCase
TestModel.settings = settings(max_examples=examples(50), stateful_step_count=30)

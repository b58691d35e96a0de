"""What a shadow repository takes on the disk."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest

from acp_nvim.snapshots import pins, places
from acp_nvim.snapshots import shadow as shadow_module
from tests.core.snapshots.workspaces import repository, shadow_of, write

pytestmark = pytest.mark.anyio


async def test_versions_of_a_file_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty turns that rewrite it: what is kept is not much more than what is held."""
    monkeypatch.setattr(places, "GROWN_BYTES", 1 << 16)
    monkeypatch.setattr(shadow_module, "FRESH_SECONDS", 0.0)
    root = repository(tmp_path / "w", file="text 1")
    dice, objects = random.Random(1), tmp_path / "w.shadow" / "git" / "objects"
    sizes = {}
    async with shadow_of(root) as shadow:
        last = await shadow.take()
        for turn in range(50):
            for _ in range(2):  # looks in mid-turn, whose versions nobody needs
                text = dice.randbytes(20_000).hex().encode()
                write(root / "file", text)
                now = await shadow.take()
            [one] = await shadow.changes(last, now)
            assert one.before is not None
            assert one.after is not None
            sizes[one.after.oid] = len(zlib.compress(text))
            await shadow.hold(f"turn-{turn}", [one.before.oid, one.after.oid], [])
            await shadow.clean(1 << 30)
            last = now
        assert pins.size(objects) <= 3 * sum(sizes.values())
        await shadow.release([f"turn-{turn}" for turn in range(40)])
        await shadow.clean(1 << 30)
        assert pins.size(objects) <= 3 * sum(list(sizes.values())[39:])
        assert await shadow.read([list(sizes)[-1]]) == [text]

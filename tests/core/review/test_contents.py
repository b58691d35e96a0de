"""Texts that are stored by object id: a text that was stored just before is known, whatever happened in between."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.review.contents import Contents
from acp_nvim.snapshots.objects import EXECUTABLE, FILE
from acp_nvim.snapshots.shadow import Shadow
from acp_nvim.snapshots.snapshot import Blob
from tests.support.examples import examples

pytestmark = pytest.mark.anyio

steps = st.lists(
    st.tuples(
        st.sampled_from(["a.txt", "b.txt", ".env"]),
        st.sampled_from(["", "a\n", "b\n", "\u20ac\n", "\udc80\n"]),
        st.sampled_from(["utf-8", "latin1", "no encoding"]),
        st.sampled_from([FILE, EXECUTABLE]),
        st.booleans(),
    ),
    max_size=6,
)


@settings(max_examples=examples(40))
@given(steps)
async def test_the_same_text_is_the_same_content_again(given_steps) -> None:
    with TemporaryDirectory() as directory:
        root = Path(directory) / "project"
        root.mkdir()
        contents = Contents(Shadow(Path(directory) / "git", str(root)))
        for name, text, encoding, mode, is_flushed in given_steps:
            path = str(root / name)
            found = contents.put_text(path, text, encoding, Blob("", mode))
            other = Contents(contents.shadow)
            assert found == other.put_text(path, text, encoding, Blob("", mode))
            assert found.blob is not None
            assert await contents.read(found.blob) == await other.read(found.blob)
            if is_flushed:
                await contents.flush()

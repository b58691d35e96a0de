"""Lines of a text are found by their numbers, in whatever order they are asked for."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acp_nvim.workspace import text_lines
from acp_nvim.workspace.text_lines import TextLines

numbers = st.none() | st.integers(0, 12)


@given(
    text=st.text("ab\n", max_size=40) | st.text("ab\r", max_size=40) | st.text("a\n\r", max_size=20),
    block=st.integers(1, 9),
    wanted=st.lists(st.tuples(numbers, numbers), min_size=1, max_size=6),
)
@example(text="aaaaaaaaa\nb", block=2, wanted=[(2, 1), (1, 1), (3, None)])
def test_the_same_text_is_cut_again_and_again(
    text: str, block: int, wanted: list[tuple[int | None, int | None]]
) -> None:
    end = "\r" if "\r" in text and "\n" not in text else "\n"
    whole = [line + end for line in text.split(end)]
    whole[-1] = whole[-1].removesuffix(end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_BLOCK", block)
        lines = TextLines(text)
        for line, limit in wanted:
            first = max(line or 1, 1) - 1
            assert lines.cut(line, limit) == "".join(whole[first : None if limit is None else first + limit])

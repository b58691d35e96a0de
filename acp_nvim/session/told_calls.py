"""How much of the tool calls of one turn the editor is told: it keeps all of that in memory."""

from __future__ import annotations

import msgspec

from acp_nvim.items import CallView, OtherItem
from acp_nvim.limits.growth import OLD_TITLE_CHARS, PLACE_BYTES, TOLD_CALLS_BYTES, TOLD_TITLE_CHARS
from acp_nvim.session.blocks import CallBlock
from acp_nvim.wire.bounds import shortened


class ToldCalls:
    """Counts it since the user's last prompt."""

    def __init__(self) -> None:
        self._size = 0

    def __repr__(self) -> str:
        return f"<ToldCalls {self._size} bytes>"

    def begin(self) -> None:
        """The user prompts: count anew."""
        self._size = 0

    def fit(self, block: CallBlock, view: CallView) -> CallView:
        """`view`, or when the turn has no room for it, what the call is called and how many items it has."""
        if len(view.title) > TOLD_TITLE_CHARS:
            view = msgspec.structs.replace(view, title=shortened(view.title, TOLD_TITLE_CHARS))
        size = _size(view)
        if self._size + size - block.told > TOLD_CALLS_BYTES:
            view = _brief(view)
            size = _size(view)
        self._size, block.told = self._size + size - block.told, size
        return view


def _brief(view: CallView) -> CallView:
    count = len(view.content)
    return msgspec.structs.replace(
        view,
        title=shortened(view.title, OLD_TITLE_CHARS),
        content=[OtherItem(f"… {count:,} items, not shown here: the turn has too many")] if count else [],
        locations=view.locations[:1],
        locations_left=view.locations_left + max(0, len(view.locations) - 1),
    )


def _size(view: CallView) -> int:
    """About how many bytes it takes in Lua."""
    entries = len(view.content) + len(view.locations)
    try:
        return len(msgspec.msgpack.encode(view)) + PLACE_BYTES * entries
    except UnicodeEncodeError:  # half a character, which the wire can carry
        return len(repr(view)) + PLACE_BYTES * entries

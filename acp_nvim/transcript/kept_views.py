"""Turns a stored conversation into the events that show it in a session without an agent, without its actions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from acp_nvim.acp.diff import Piece
from acp_nvim.contract import events
from acp_nvim.contract.request_events import PermissionAuto
from acp_nvim.contract.session_events import PermissionKept
from acp_nvim.contract.views import DiffItem, Item, MediaItem, OtherItem, ResourceItem, TerminalItem, TextItem
from acp_nvim.history.records import KeptEvent
from acp_nvim.limits import FIRST_LINES, LAST_LINES
from acp_nvim.terminals.screen import Screen, is_plain
from acp_nvim.transcript.blocks import KeptBlock, MessageBlock
from acp_nvim.transcript.truncation import BEGINNING, IN_CHAT, beginning, cut, hunks, joined

MISSING_BLOCKS: Final = 1000
"""Consecutive unreadable blocks after which the rest of a stored conversation is left out: more is no accident."""


def shown(session: int, block: Sequence[KeptEvent]) -> Iterator[events.Event]:
    """Yield the events that show one block in the session with that key."""
    done = next((one for one in block if isinstance(one, events.PermissionDone)), None)
    for one in block:
        match one:
            case events.PermissionDone():
                continue
            case events.Permission():
                kept = PermissionKept(session=session, block=one.block, request=_request(one.request))
                if done is not None:
                    kept.outcome, kept.option_id, kept.name, kept.why = (
                        done.outcome,
                        done.option_id,
                        done.name,
                        done.why,
                    )
                yield kept
            case PermissionAuto():
                yield PermissionKept(
                    session=session,
                    block=one.block,
                    request=_request(one.request),
                    outcome="selected",
                    option_id=one.option_id,
                    name=one.name,
                    rule=one.rule,
                )
            case events.ToolCall(call=call):
                status = "unfinished" if call.status in ("pending", "in_progress") else call.status
                call = msgspec.structs.replace(call, content=_short(call.content, call.kind), status=status)
                yield events.ToolCall(session=session, block=one.block, call=call)
            case events.Plan():
                yield msgspec.structs.replace(one, session=session, over=True)
            case _:
                yield msgspec.structs.replace(one, session=session)


def whole(session: int, block: Sequence[KeptEvent]) -> Iterator[KeptEvent]:
    """Yield the stored events of a block unchanged, for the session with that key."""
    for one in block:
        yield msgspec.structs.replace(one, session=session)


def in_order(blocks: Iterable[Sequence[KeptEvent]]) -> Iterator[Sequence[KeptEvent]]:
    """Yield the blocks with plausible numbers: each is greater than the one before, but not by much."""
    last = 0
    for kept in blocks:
        if kept and last < kept[0].block <= last + MISSING_BLOCKS:
            last = kept[0].block
            yield kept


def block_of(kept: Sequence[KeptEvent]) -> MessageBlock | KeptBlock:
    """Return a stored block for the transcript of a session that continues the conversation."""
    texts = [one for one in kept if isinstance(one, events.Append | events.Replace)]
    if not texts:
        return KeptBlock(kept)
    block = MessageBlock(texts[0].kind, None)
    for one in texts:
        block.text += one.text.encode("utf-8", "surrogatepass")
    return block


def _request(request: events.RequestView) -> events.RequestView:
    command = None if request.command is None else beginning(request.command, IN_CHAT)[0]
    return msgspec.structs.replace(request, content=_short(request.content), command=command, input=[])


def _short(content: Sequence[Item], kind: str | None = None) -> list[Item]:
    return [short for one in content for short in _item(one, kind)]


def _item(one: Item, kind: str | None) -> Iterator[Item]:
    """Cut an item of a call of that kind, or of a request, to what the chat shows; describe media, not stored."""
    match one:
        case TextItem(text=text) if kind == "execute" and not is_plain(text):
            screen = Screen(FIRST_LINES)
            screen.feed(text)
            screen.finish()
            said, lines, tail = joined(screen.ends(LAST_LINES))
            yield msgspec.structs.replace(one, text=said, lines=lines, tail=tail)
        case TextItem(text=text) | ResourceItem(text=str(text)):
            said, lines, chars, tail = cut(text, IN_CHAT if kind is not None else BEGINNING)
            yield msgspec.structs.replace(one, text=said, lines=lines, chars=chars, tail=tail)
        case DiffItem(old_text=old, new_text=new, line=line) if old is not None or new:
            for hunk in hunks(Piece(old, new, line)):
                piece = hunk.piece
                yield msgspec.structs.replace(
                    one, old_text=piece.old_text, new_text=piece.new_text, line=piece.line, lines=one.lines + hunk.lines
                )
        case TerminalItem(output=output):
            said, lines, _, tail = (output, 0, 0, "") if kind is None else cut(output, IN_CHAT)
            yield msgspec.structs.replace(one, output=said, lines=lines, tail=tail, number=0)
        case MediaItem(kind=kind, mime_type=mime_type, size=size):
            yield OtherItem(f"{kind} ({mime_type}, {size} bytes), not kept")
        case _:
            yield one

"""`fs/write_text_file`: into the buffer when there is one, else the file (ACP "File System")."""

from __future__ import annotations

from acp_nvim.editor import BufferWrite, Editor
from acp_nvim.workspace import disk
from acp_nvim.workspace.refusals import ChangedSinceReadError, FileRefusedError, NoSuchFileError, NotSavedError
from acp_nvim.workspace.seen import SeenTexts

ATTEMPTS = 5
"""How often a write is tried while the user types into the very buffer."""


async def write_text_file(editor: Editor, seen: SeenTexts, path: str, text: str, save: bool) -> None:
    """Make `text` the text of the file at `path`, a real path that the agent may write.

    A buffer that holds edits which the agent has not seen is left as it is: raises `ChangedSinceReadError`; other
    refusals raise `FileRefusedError`.
    """
    for _ in range(ATTEMPTS):
        outcome = await _write_buffer(editor, seen, path, text, save)
        if outcome is None:
            await _write_file(path, text)
            return
        if outcome.tick is not None:
            seen.remember(path, text, outcome.tick)
        if outcome.error is None:
            return
        if outcome.tick is not None:
            raise NotSavedError(f"{path} was not saved: {outcome.error}", path)
        if not outcome.changed:
            raise FileRefusedError(f"{path} was not written: {outcome.error}")
    raise _changed(path)


async def _write_buffer(editor: Editor, seen: SeenTexts, path: str, text: str, save: bool) -> BufferWrite | None:
    """Write into the buffer in the state that the agent knows; None when there is no buffer."""
    tick = seen.tick(path)
    if tick is not None:
        outcome = await editor.write_buffer(path, text, tick, save)
        if outcome is None or not outcome.changed:
            return outcome
    buffer = await editor.read_buffer(path)
    if buffer is None:
        return None
    unseen = buffer.modified if tick is None else not seen.knows(path, buffer.text)
    if unseen:
        raise _changed(path)
    return await editor.write_buffer(path, text, buffer.tick, save)


async def _write_file(path: str, text: str) -> None:
    """Write a file that has no buffer, in the encoding that it has."""
    try:
        old = await disk.read(path)
    except NoSuchFileError:
        await disk.write(path, text)
    else:
        await disk.write(path, text, old.encoding, old.stamp)


def _changed(path: str) -> ChangedSinceReadError:
    return ChangedSinceReadError(
        f"{path} has edits of the user that you have not seen. Nothing was written. "
        "Read the file again and redo your change."
    )

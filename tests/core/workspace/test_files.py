"""`fs/read_text_file` and `fs/write_text_file`: the buffer comes first, and no edit of the user is lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from acp_nvim.workspace.read_text_file import read_text_file
from acp_nvim.workspace.refusals import ChangedSinceReadError, FileRefusedError, NoSuchFileError
from acp_nvim.workspace.seen import SeenTexts
from acp_nvim.workspace.write_text_file import ATTEMPTS, write_text_file
from tests.support.fake_editor import FakeBuffer, FakeEditor

pytestmark = pytest.mark.anyio


class Workspace:
    """A session's files, with an editor on them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.editor = FakeEditor()
        self.file = root / "f"
        self.file.write_text("one\ntwo\n")
        self._seen = SeenTexts()

    def _real(self, path: Path | None) -> str:
        return os.path.realpath(path or self.file)

    async def read(self, path: Path | None = None, line: int | None = None, limit: int | None = None) -> str:
        """The agent reads."""
        return await read_text_file(self.editor, self._seen, self._real(path), line, limit)

    async def write(self, text: str, path: Path | None = None, save: bool = True) -> None:
        """The agent writes."""
        await write_text_file(self.editor, self._seen, self._real(path), text, save)


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """With one file of two lines."""
    return Workspace(tmp_path)


class TestWithoutABuffer:
    """The file on disk is all there is."""

    async def test_the_file_is_read_or_a_part_of_it(self, workspace: Workspace) -> None:
        assert await workspace.read() == "one\ntwo\n"
        assert await workspace.read(line=2, limit=1) == "two\n"

    async def test_a_missing_file_is_told_apart(self, workspace: Workspace) -> None:
        with pytest.raises(NoSuchFileError):
            await workspace.read(workspace.root / "gone")

    async def test_the_file_is_written_and_a_link_to_it_stays(self, workspace: Workspace) -> None:
        link = workspace.root / "link"
        link.symlink_to(workspace.file)
        await workspace.write("new", link)
        assert workspace.file.read_text() == "new"
        assert link.is_symlink()

    async def test_a_new_file_is_written_with_its_directories(self, workspace: Workspace) -> None:
        await workspace.write("new", workspace.root / "a" / "b")
        assert (workspace.root / "a" / "b").read_text() == "new"


class TestWithABuffer:
    """What the user sees is what the agent reads and writes."""

    async def test_the_buffer_is_read_with_its_unsaved_edits(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, "edited\nby hand\n")
        assert await workspace.read() == "edited\nby hand\n"
        assert await workspace.read(line=2, limit=5) == "by hand\n"

    async def test_the_buffer_of_a_file_that_is_not_there_yet_is_read(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.root / "new", "only in the editor")
        assert await workspace.read(workspace.root / "new") == "only in the editor"

    async def test_the_buffer_is_found_through_a_link(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, "edited")
        link = workspace.root / "link"
        link.symlink_to(workspace.file)
        assert await workspace.read(link) == "edited"

    async def test_a_buffer_of_bytes_that_are_no_text_is_refused(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, "Gr\udcfcsse")
        with pytest.raises(FileRefusedError, match="not UTF-8"):
            await workspace.read()

    async def test_the_buffer_is_written_and_saved(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.write("new")
        assert (buffer.text, buffer.modified, workspace.file.read_text()) == ("new", False, "new")

    async def test_without_saving_only_the_buffer_is_written(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.write("new", save=False)
        assert (buffer.text, buffer.modified, workspace.file.read_text()) == ("new", True, "one\ntwo\n")

    async def test_what_the_buffer_refuses_is_told(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file).error = "'modifiable' is off"
        with pytest.raises(FileRefusedError, match="was not written: 'modifiable' is off"):
            await workspace.write("new")
        assert workspace.file.read_text() == "one\ntwo\n"


class TestEditsOfTheUser:
    """An edit that the agent has not seen is never overwritten."""

    async def test_one_that_the_agent_never_read_stays(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "precious")
        with pytest.raises(ChangedSinceReadError, match=r"Read the file again"):
            await workspace.write("new")
        assert (buffer.text, workspace.file.read_text()) == ("precious", "one\ntwo\n")

    async def test_one_that_the_agent_has_read_may_be_written_over(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "seen")
        await workspace.read()
        await workspace.write("new")
        assert buffer.text == "new"

    async def test_reading_a_part_counts_as_seeing_the_file(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "seen\nin part")
        await workspace.read(line=1, limit=1)
        await workspace.write("new")
        assert buffer.text == "new"

    async def test_one_made_after_the_read_stays(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type("typed since")
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("new")
        assert buffer.text == "typed since"

    async def test_one_that_was_saved_after_the_read_stays_too(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type("typed and saved")
        buffer.modified = False
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("new")

    async def test_one_that_was_undone_is_no_edit(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        text = await workspace.read()
        buffer.type("typed")
        buffer.type(text)
        await workspace.write("new")
        assert buffer.text == "new"

    async def test_one_made_after_the_write_of_the_agent_stays(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.write("first")
        await workspace.write("second")
        buffer.type("typed")
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("third")
        assert buffer.text == "typed"

    async def test_after_reading_again_the_agent_may_write(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type("typed")
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("new")
        assert await workspace.read() == "typed"
        await workspace.write("new")
        assert buffer.text == "new"

    async def test_one_made_during_the_write_stays(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        workspace.editor.on_write = lambda buffer: buffer.type("typed just then") if buffer.tick == 1 else None
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("new")
        assert buffer.text == "typed just then"

    async def test_a_change_of_state_without_an_edit_is_no_edit(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        text = await workspace.read()
        typed: list[int] = []

        def retype(buffer: FakeBuffer) -> None:
            if not typed:
                typed.append(buffer.tick)
                buffer.type(text)

        workspace.editor.on_write = retype
        await workspace.write("new")
        assert (len(typed), buffer.text) == (1, "new")

    async def test_someone_who_never_stops_typing_is_not_waited_for(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        text = await workspace.read()
        attempts: list[int] = []

        def keep_typing(buffer: FakeBuffer) -> None:
            attempts.append(buffer.tick)
            buffer.type(text)

        workspace.editor.on_write = keep_typing
        with pytest.raises(ChangedSinceReadError):
            await workspace.write("new")
        assert buffer.text == text
        assert len(attempts) <= 2 * ATTEMPTS

    async def test_a_buffer_that_was_closed_no_longer_counts(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, "edited")
        await workspace.read()
        workspace.editor.buffers.clear()
        await workspace.write("new")
        assert workspace.file.read_text() == "new"

    async def test_a_buffer_that_was_loaded_again_with_the_same_text_may_be_written(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file).tick = 40
        await workspace.read()
        buffer = workspace.editor.open(workspace.file)
        await workspace.write("new")
        assert buffer.text == "new"

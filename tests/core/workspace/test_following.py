"""Files of buffers that somebody changes on disk: the buffer follows, and what the user typed stays."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

import anyio
import pytest

from acp_nvim.contract.editor import LineChange
from acp_nvim.workspace.open_files import Followed
from acp_nvim.workspace.refusals import FileRefusedError
from tests.core.workspace.test_files import OLD, Workspace, once

pytestmark = pytest.mark.anyio


LATER = count(1_700_000_000_000_000_000)
"""Times of changes: the clock of a file system may be coarse."""


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with one file of five lines."""
    return Workspace(tmp_path)


async def changed(workspace: Workspace, text: str | bytes) -> None:
    """Change the file as another program, and let the editor notice."""
    workspace.file.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(workspace.file, ns=(next(LATER),) * 2)
    await workspace.files.disk_changed(str(workspace.file))


async def test_a_buffer_without_changes_follows_line_by_line(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    await changed(workspace, OLD.replace("two", "second"))
    assert (buffer.text, buffer.modified) == (OLD.replace("two", "second"), False)
    assert workspace.editor.changes == [LineChange(1, 1, ["second"])]
    assert workspace.told == []


async def test_unsaved_edits_are_merged_with_it(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
    await changed(workspace, OLD.replace("five", "fifth"))
    assert (buffer.text, buffer.modified) == ("ONE\ntwo\nthree\nfour\nfifth\n", True)
    assert workspace.told == [Followed(str(workspace.file), "merged")]
    # the base is the file as it was then
    await changed(workspace, OLD.replace("five", "fifth").replace("four", "fourth"))
    assert buffer.text == "ONE\ntwo\nthree\nfourth\nfifth\n"


async def test_edits_in_the_same_place_stay_and_the_version_on_disk_is_kept(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("two", "TWO"))
    await changed(workspace, OLD.replace("two", "second"))
    assert (buffer.text, buffer.modified) == (OLD.replace("two", "TWO"), True)
    assert workspace.kept() == [OLD.replace("two", "second")]
    [told], [kept] = workspace.told, workspace.conflicts.of(str(workspace.file))
    assert (told.kind, told.detail) == ("conflict", kept.file)
    await workspace.files.disk_changed(str(workspace.file))
    assert len(workspace.told) == 1


async def test_the_same_edit_on_both_sides_is_saved_then(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("two", "TWO"))
    await changed(workspace, OLD.replace("two", "TWO"))
    assert (buffer.modified, workspace.told) == (False, [])


async def test_what_the_user_types_meanwhile_is_merged_too(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    workspace.editor.on_follow = once(lambda buffer: buffer.type(OLD.replace("one", "typed")))
    await changed(workspace, OLD.replace("five", "fifth"))
    assert (buffer.text, buffer.modified) == ("typed\ntwo\nthree\nfour\nfifth\n", True)


async def test_an_agent_reads_and_writes_what_the_buffer_is_brought_up_to(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
    workspace.file.write_text(OLD.replace("five", "fifth"))
    assert await workspace.read() == "ONE\ntwo\nthree\nfour\nfifth\n"
    workspace.file.write_text(OLD.replace("five", "FIFTH"))
    assert await workspace.write("ONE\ntwo\n3\nfour\nfifth\n") == "merged"
    assert buffer.text == workspace.on_disk() == "ONE\ntwo\n3\nfour\nFIFTH\n"


async def test_the_encoding_is_the_files(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    buffer.encoding = "latin1"
    await changed(workspace, "Grüße\n")
    assert (buffer.text, buffer.encoding) == ("Grüße\n", "utf-8")
    buffer.encoding = "latin1"
    await changed(workspace, "ASCII\n")
    assert (buffer.text, buffer.encoding) == ("ASCII\n", "latin1")


@pytest.mark.parametrize("modified", [True, False])
async def test_the_buffer_of_a_deleted_file_stays(workspace: Workspace, modified: bool) -> None:
    text = OLD.replace("one", "ONE") if modified else OLD
    buffer = workspace.editor.open(workspace.file, text if modified else None)
    workspace.file.unlink()
    await workspace.files.disk_changed(str(workspace.file))
    assert (buffer.text, buffer.modified) == (text, modified)
    assert workspace.told == [Followed(str(workspace.file), "deleted")]
    if modified:
        assert await workspace.read() == text


@pytest.mark.parametrize("where", ["near", "a/b/far"])
async def test_the_buffer_of_a_renamed_file_goes_with_it(workspace: Workspace, where: str) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
    new = workspace.root / where
    new.parent.mkdir(parents=True, exist_ok=True)
    workspace.file.rename(new)
    await workspace.files.disk_changed(str(workspace.file))
    assert workspace.editor.buffers == {str(new): buffer}
    assert workspace.told == [Followed(str(workspace.file), "moved", str(new))]


async def test_a_file_that_was_touched_before_it_was_renamed_is_the_same(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    os.utime(workspace.file, ns=(next(LATER),) * 2)
    workspace.file.rename(workspace.root / "new")
    await workspace.files.disk_changed(str(workspace.file))
    assert workspace.editor.buffers == {str(workspace.root / "new"): buffer}


async def test_an_inode_that_is_used_again_for_another_text_is_no_renamed_file(workspace: Workspace) -> None:
    workspace.editor.open(workspace.file)
    workspace.file.write_text(OLD.replace("one", "ONE"))  # a text of the same size
    os.utime(workspace.file, ns=(next(LATER),) * 2)
    workspace.file.rename(workspace.root / "new")
    await workspace.files.disk_changed(str(workspace.file))
    assert [told.kind for told in workspace.told] == ["deleted"]


async def test_another_file_with_the_same_text_is_no_renamed_one(workspace: Workspace) -> None:
    workspace.editor.open(workspace.file)
    (workspace.root / "copy").write_text(OLD)
    workspace.file.unlink()
    await workspace.files.disk_changed(str(workspace.file))
    assert workspace.told == [Followed(str(workspace.file), "deleted")]


async def test_a_renamed_file_whose_new_name_has_a_buffer_is_a_deleted_one(workspace: Workspace) -> None:
    workspace.editor.open(workspace.file)
    workspace.editor.refuses_names = True
    workspace.file.rename(workspace.root / "new")
    await workspace.files.disk_changed(str(workspace.file))
    assert workspace.told == [Followed(str(workspace.file), "deleted")]


async def test_a_file_that_cannot_be_read_any_more_is_told_once_and_written_by_nobody(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, "typed\n")
    for _ in range(2):
        await changed(workspace, b"\0\1\2")
        with pytest.raises(FileRefusedError, match="binary"):
            await workspace.write("new")
    assert buffer.text == "typed\n"
    assert [told.kind for told in workspace.told] == ["unreadable"]
    assert workspace.file.read_bytes() == b"\0\1\2"


async def test_a_file_that_is_emptied_and_then_filled_is_changed_once(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
    workspace.file.write_text("")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(workspace.files.disk_changed, str(workspace.file))
        await anyio.wait_all_tasks_blocked()
        workspace.file.write_text(OLD.replace("five", "fifth"))
    assert buffer.text == "ONE\ntwo\nthree\nfour\nfifth\n"
    assert [told.kind for told in workspace.told] == ["merged"]


async def test_a_file_that_is_emptied_is_empty(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    await changed(workspace, "")
    assert (buffer.text, buffer.modified) == ("", False)

"""`fs/read_text_file` and `fs/write_text_file`: the buffer comes first, and no edit of the user is lost."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.contract.editor import LineChange
from acp_nvim.limits import FOLLOW_ATTEMPTS
from acp_nvim.workspace.conflicts import Conflicts
from acp_nvim.workspace.last_seen import LastSeen
from acp_nvim.workspace.open_files import Followed, OpenFiles
from acp_nvim.workspace.read_text_file import cut, read_text_file
from acp_nvim.workspace.refusals import ConflictError, FileRefusedError, NoSuchFileError
from acp_nvim.workspace.saves import Saves
from acp_nvim.workspace.write_text_file import write_text_file
from tests.support.fake_editor import FakeBuffer, FakeEditor

pytestmark = pytest.mark.anyio

OLD = "one\ntwo\nthree\nfour\nfive\n"


class Workspace:
    """Files of a session, with an editor on them."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.editor = FakeEditor()
        self.file = self.root / "f"
        self.file.write_text(OLD)
        self.told: list[Followed] = []
        self.conflicts = Conflicts(root / "conflicts")
        saves, roots = Saves(root / "saves"), [str(self.root)]
        self.files = OpenFiles(self.editor, self.conflicts, saves, self._followed, lambda: roots)
        self._seen = LastSeen(root / "seen")

    def forget_texts(self) -> None:
        """Keep nothing but digests of what the agent sees."""
        self._seen = LastSeen(None, text_bytes=0)

    async def _followed(self, what: Followed) -> None:
        told = msgspec.structs.replace(what, before=None, after=None, stamp=None, had=None, has=None)
        self.told += [] if what.kind == "read" else [told]

    async def read(self, path: Path | None = None, line: int | None = None, limit: int | None = None) -> str:
        """Read as the agent."""
        return await read_text_file(self.files, self._seen, str(path or self.file), line, limit)

    async def write(self, text: str, path: Path | None = None, save: bool = True) -> str:
        """Write as the agent."""
        return (await write_text_file(self.files, self._seen, str(path or self.file), text, save)).how

    def kept(self) -> list[str]:
        """The versions that were kept for the user."""
        return [Path(one.file).read_text() for one in self.conflicts.of(str(self.file))]

    def on_disk(self) -> str:
        """Return the text of the file on disk."""
        return self.file.read_text()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with one file of five lines."""
    return Workspace(tmp_path)


def once(act: Callable[[FakeBuffer], None]) -> Callable[[FakeBuffer], None]:
    """Return an act that does something only the first time."""
    done: list[int] = []

    def first(buffer: FakeBuffer) -> None:
        if not done:
            done.append(1)
            act(buffer)

    return first


class TestWithoutABuffer:
    """The file on disk is all there is."""

    async def test_the_file_is_read_or_a_part_of_it(self, workspace: Workspace) -> None:
        assert await workspace.read() == OLD
        assert await workspace.read(line=2, limit=1) == "two\n"

    async def test_a_missing_file_is_told_apart(self, workspace: Workspace) -> None:
        with pytest.raises(NoSuchFileError):
            await workspace.read(workspace.root / "gone")

    async def test_a_new_file_is_written_with_its_directories(self, workspace: Workspace) -> None:
        await workspace.write("new", workspace.root / "a" / "b")
        assert (workspace.root / "a" / "b").read_text() == "new"

    async def test_a_file_that_somebody_else_has_open_is_left_alone(self, workspace: Workspace) -> None:
        workspace.editor.obstacles[str(workspace.file)] = "another Neovim has it"
        with pytest.raises(FileRefusedError, match="another Neovim has it"):
            await workspace.write("new\n")
        assert workspace.on_disk() == OLD

    async def test_what_was_saved_since_the_agent_read_is_merged(self, workspace: Workspace) -> None:
        await workspace.read()
        workspace.file.write_text(OLD.replace("one", "ONE"))
        assert await workspace.write(OLD.replace("five", "5")) == "merged"
        assert workspace.on_disk() == "ONE\ntwo\nthree\nfour\n5\n"
        assert await workspace.write(OLD.replace("five", "6")) == "merged"  # the agent has not seen ONE yet
        assert workspace.on_disk() == "ONE\ntwo\nthree\nfour\n6\n"

    async def test_what_cannot_be_merged_stays_and_the_agents_version_is_kept(self, workspace: Workspace) -> None:
        await workspace.read()
        workspace.file.write_text(OLD.replace("two", "TWO"))
        with pytest.raises(ConflictError, match="Read the file again"):
            await workspace.write(OLD.replace("two", "2"))
        assert workspace.on_disk() == OLD.replace("two", "TWO")
        assert workspace.kept() == [OLD.replace("two", "2")]

    async def test_its_encoding_and_the_bom_that_tells_it_stay(self, workspace: Workspace) -> None:
        workspace.file.write_bytes("\ufeffGrüße\n".encode("utf-16-le"))
        assert await workspace.read() == "\ufeffGrüße\n"
        assert await workspace.write("Ä\n") == "clean"
        assert workspace.file.read_bytes() == "\ufeffÄ\n".encode("utf-16-le")


class TestWithABuffer:
    """What the user sees is what the agent reads and writes."""

    async def test_the_buffer_is_read_with_its_unsaved_edits(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, "edited\nby hand\n")
        assert await workspace.read() == "edited\nby hand\n"
        assert await workspace.read(line=2) == "by hand\n"

    async def test_its_text_is_sent_once(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "edited\n")
        for _ in range(3):
            assert await workspace.read() == "edited\n"
        assert workspace.editor.sent == ["edited\n"]
        buffer.type("again\n")
        assert await workspace.read() == "again\n"

    async def test_a_buffer_of_a_new_file_is_read_when_something_is_in_it(self, workspace: Workspace) -> None:
        new = workspace.root / "new"
        buffer = workspace.editor.open(new)
        with pytest.raises(NoSuchFileError):
            await workspace.read(new)
        buffer.type("only in the editor")
        assert await workspace.read(new) == "only in the editor"

    @pytest.mark.parametrize(("text", "words"), [("Gr\udcfcsse", "not valid text"), ("a\0b", "binary")])
    async def test_a_buffer_that_is_no_text_is_refused(self, workspace: Workspace, text: str, words: str) -> None:
        workspace.editor.open(workspace.file, text)
        with pytest.raises(FileRefusedError, match=words):
            await workspace.read()

    async def test_a_changed_line_is_sent_alone_and_saved(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        new = OLD.replace("two", "2")
        assert await workspace.write(new) == "clean"
        assert workspace.editor.changes == [LineChange(1, 1, ["2"])]
        assert (buffer.text, buffer.modified, workspace.on_disk()) == (new, False, new)

    async def test_without_saving_only_the_buffer_is_written(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.write("new\n", save=False)
        assert (buffer.text, buffer.modified, workspace.on_disk()) == ("new\n", True, OLD)

    async def test_what_the_buffer_refuses_is_told(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file).error = "'modifiable' is off"
        with pytest.raises(FileRefusedError, match="was not written: 'modifiable' is off"):
            await workspace.write("new\n")
        assert workspace.on_disk() == OLD

    async def test_what_a_formatter_makes_of_it_is_the_agents_view(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        buffer.formatter = lambda text: text.replace("two", "  two")
        await workspace.read()
        await workspace.write(OLD.replace("four", "4"))
        assert workspace.on_disk() == "one\n  two\nthree\n4\nfive\n"
        assert await workspace.write(OLD.replace("two", "two!")) == "clean"  # next to what the formatter changed
        assert workspace.on_disk() == "one\n  two!\nthree\nfour\nfive\n"


class TestEditsOfTheUser:
    """An edit that the agent has not seen is never overwritten."""

    async def test_one_that_the_agent_never_read_is_merged_with_what_is_on_disk_as_base(
        self, workspace: Workspace
    ) -> None:
        buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
        assert await workspace.write(OLD.replace("five", "5")) == "merged"
        assert buffer.text == workspace.on_disk() == "ONE\ntwo\nthree\nfour\n5\n"

    async def test_one_in_the_same_place_stays(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "precious\n")
        with pytest.raises(ConflictError, match=r"Read the file again"):
            await workspace.write("new\n")
        assert (buffer.text, workspace.on_disk(), workspace.kept()) == ("precious\n", OLD, ["new\n"])

    async def test_one_that_the_agent_has_read_may_be_written_over(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file, "seen\n")
        await workspace.read()
        await workspace.write("new\n")
        assert buffer.text == "new\n"

    async def test_what_the_agent_was_not_shown_it_has_not_seen(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type(OLD.replace("one", "ONE"))
        assert await workspace.read(line=4, limit=2) == "four\nfive\n"
        assert await workspace.write(OLD.replace("five", "5")) == "merged"
        assert buffer.text == "ONE\ntwo\nthree\nfour\n5\n"

    async def test_who_was_shown_a_part_of_an_unsaved_buffer_knows_the_rest_from_the_disk(
        self, workspace: Workspace
    ) -> None:
        buffer = workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
        assert await workspace.read(line=99) == ""
        with pytest.raises(ConflictError):
            await workspace.write("new\n")
        assert buffer.text == OLD.replace("one", "ONE")

    async def test_a_half_typed_command_is_waited_for(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        workspace.editor.busy = 2
        await workspace.write("new\n")
        assert (buffer.text, workspace.editor.busy) == ("new\n", 0)

    async def test_one_that_was_saved_after_the_read_is_merged_too(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type(OLD.replace("one", "ONE"))
        buffer.modified = False
        assert await workspace.write(OLD.replace("five", "5")) == "merged"
        assert buffer.text == "ONE\ntwo\nthree\nfour\n5\n"

    async def test_one_that_was_undone_is_no_edit(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        text = await workspace.read()
        buffer.type("typed")
        buffer.type(text)
        await workspace.write("new\n")
        assert buffer.text == "new\n"

    async def test_after_a_merge_the_agent_has_still_not_seen_it(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type(OLD.replace("one", "ONE"))
        await workspace.write(OLD.replace("five", "5"))
        assert await workspace.write(OLD.replace("five", "6")) == "merged"
        assert buffer.text == "ONE\ntwo\nthree\nfour\n6\n"
        assert await workspace.read() == buffer.text
        await workspace.write(OLD)
        assert buffer.text == OLD

    async def test_one_that_is_merged_and_formatted_is_not_seen_either(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        buffer.formatter = lambda text: text.replace("three", "  three")
        await workspace.read()
        buffer.type(OLD.replace("one", "ONE"))
        await workspace.write(OLD.replace("five", "5"))
        assert await workspace.write(OLD.replace("five", "6")) == "merged"
        assert buffer.text == "ONE\ntwo\n  three\nfour\n6\n"

    async def test_after_reading_again_the_agent_may_write(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        buffer.type("typed\n")
        with pytest.raises(ConflictError):
            await workspace.write("new\n")
        assert await workspace.read() == "typed\n"
        await workspace.write("new\n")
        assert buffer.text == "new\n"

    async def test_one_made_during_the_write_is_merged(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        await workspace.read()
        workspace.editor.on_write = once(lambda buffer: buffer.type(OLD.replace("one", "typed just then")))
        assert await workspace.write(OLD.replace("five", "5")) == "merged"
        assert buffer.text == "typed just then\ntwo\nthree\nfour\n5\n"

    async def test_someone_who_never_stops_typing_is_not_waited_for(self, workspace: Workspace) -> None:
        buffer = workspace.editor.open(workspace.file)
        text = await workspace.read()
        attempts: list[int] = []

        def keep_typing(buffer: FakeBuffer) -> None:
            attempts.append(buffer.tick)
            buffer.type(text)

        workspace.editor.on_write = keep_typing
        with pytest.raises(FileRefusedError, match="try again"):
            await workspace.write("new\n")
        assert (buffer.text, len(attempts)) == (text, FOLLOW_ATTEMPTS)

    async def test_a_buffer_that_was_closed_no_longer_counts(self, workspace: Workspace) -> None:
        workspace.editor.open(workspace.file, OLD.replace("one", "ONE"))
        await workspace.read()
        workspace.editor.buffers.clear()
        assert await workspace.write(OLD.replace("one", "ONE").replace("five", "5")) == "merged"
        assert workspace.on_disk() == "one\ntwo\nthree\nfour\n5\n"  # the edit was given up


@pytest.mark.parametrize(
    ("line", "limit", "shown"),
    [
        (1, None, "a\nb\nc"),
        (0, None, "a\nb\nc"),
        (2, None, "b\nc"),
        (None, 1, "a\n"),
        (2, 1, "b\n"),
        (3, 5, "c"),
        (4, None, ""),
        (99, 1, ""),
        (1, 0, ""),
    ],
)
async def test_parts_are_lines_from_one_on(line: int | None, limit: int | None, shown: str) -> None:
    assert cut("a\nb\nc", line, limit) == shown


@given(
    st.text("ab\n", max_size=30).flatmap(lambda piece: st.integers(1, 400).map(lambda times: piece * times)),
    st.none() | st.integers(0, 3000),
    st.none() | st.integers(0, 3000),
)
def test_parts_are_what_a_split_of_the_whole_text_gives(text: str, line: int | None, limit: int | None) -> None:
    lines = text.splitlines(keepends=True)
    first = max(line or 1, 1) - 1
    assert cut(text, line, limit) == "".join(lines[first : None if limit is None else first + limit])


async def test_the_lines_of_a_mac_file_end_with_cr() -> None:
    assert cut("a\rb\rc\r", 2, 1) == "b\r"


async def test_a_mark_without_which_nobody_knows_the_encoding_stays(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file, "\ufeffa\n")
    buffer.encoding = "utf-16-le"
    await workspace.read()
    for text in ("b\n", "c\n"):
        assert await workspace.write(text) == "clean"
        assert buffer.text == await workspace.read() == "\ufeff" + text


@pytest.mark.parametrize(("encoding", "text"), [("latin1", "日本\n"), ("ucs-2", "😀\n")])
async def test_characters_that_the_encoding_lacks_are_refused_by_name(
    workspace: Workspace, encoding: str, text: str
) -> None:
    buffer = workspace.editor.open(workspace.file)
    buffer.encoding = encoding
    for save in (True, False):
        with pytest.raises(FileRefusedError, match=f"lacks '{text[0]}'"):
            await workspace.write(text, save=save)
    assert buffer.text == OLD


async def test_an_encoding_that_only_neovim_knows_is_left_to_it(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    buffer.encoding = "viscii"
    await workspace.write("new\n", save=False)
    assert buffer.text == "new\n"


async def test_a_file_that_could_be_written_by_half_only_is_what_it_was(workspace: Workspace) -> None:
    buffer = workspace.editor.open(workspace.file)
    workspace.editor.disk_is_full = True
    with pytest.raises(FileRefusedError, match="E514"):
        await workspace.write("new\n")
    assert (buffer.text, workspace.on_disk()) == (OLD, OLD)


@pytest.mark.parametrize("opened", [True, False])
async def test_what_is_no_longer_kept_is_not_taken_for_known(
    workspace: Workspace, opened: bool, tmp_path: Path
) -> None:
    workspace.forget_texts()
    buffer = workspace.editor.open(workspace.file) if opened else None
    await workspace.read()
    await workspace.write(OLD)  # it is what the agent has seen: its digest says so
    workspace.file.write_text("of the user\n")
    if buffer is not None:
        await workspace.files.disk_changed(str(workspace.file))
    with pytest.raises(ConflictError, match="not kept any more"):
        await workspace.write("new\n")
    assert workspace.on_disk() == "of the user\n"
    assert workspace.kept() == ["new\n"]
    assert await workspace.read(line=1, limit=1) == "of the user\n"
    with pytest.raises(ConflictError):
        await workspace.write("new\n")
    await workspace.read()
    await workspace.write("new\n")
    assert workspace.on_disk() == "new\n"


async def test_a_buffer_that_was_wiped_does_not_say_what_a_new_file_may_have(workspace: Workspace) -> None:
    workspace.editor.open(workspace.file).encoding = "latin1"
    await workspace.read()
    workspace.editor.buffers.clear()
    await workspace.write("日本\n")
    assert workspace.on_disk() == "日本\n"

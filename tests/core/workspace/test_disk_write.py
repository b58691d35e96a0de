"""Writing files: whole or not at all, only over the one that is meant, with all that belongs to it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from acp_nvim.workspace import disk
from acp_nvim.workspace.disk import LEFT_OVER_SECONDS, stamp_of
from acp_nvim.workspace.refusals import ChangedOnDiskError, FileRefusedError
from tests.core.workspace.as_nobody import as_nobody, give, nobodys_directory

pytestmark = pytest.mark.anyio


def entries(directory: Path) -> list[str]:
    """Everything in it, hidden files included."""
    return sorted(os.listdir(directory))


async def overwrite(path: Path | str, text: str = "new", encoding: str = "utf-8") -> str:
    """Write over the file that is there, or make it."""
    expected = None
    with suppress(OSError):
        expected = stamp_of(os.stat(path))
    with anyio.fail_after(60):
        return await disk.write(str(path), text, encoding, expected)


async def refusal(path: Path | str) -> str:
    """Return the reason why the file is not written."""
    with pytest.raises(FileRefusedError) as caught:
        await overwrite(path)
    assert not isinstance(caught.value, ChangedOnDiskError)
    return str(caught.value)


@pytest.mark.parametrize(
    "text", ["", "a", "a\n", "a\r\nb\r\n", "a\rb", "\ufeffbom", "ä☃\U0001f600", "tab\t\x1b[31m\x0c", "\n\n"]
)
async def test_what_is_written_is_read_to_the_byte(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f"
    for _ in range(2):
        stamp = await overwrite(path, text)
        assert path.read_bytes() == text.encode()
        now = path.stat()
        assert await disk.read(str(path)) == disk.DiskText(text, "utf-8", stamp, now.st_size, now.st_ctime_ns)


async def test_the_encoding_is_kept(tmp_path: Path) -> None:
    await overwrite(tmp_path / "f", "\ufeffgrü", "utf-16le")
    assert (tmp_path / "f").read_bytes() == b"\xff\xfeg\0r\0\xfc\0"


async def test_a_character_that_the_encoding_lacks_leaves_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    with pytest.raises(FileRefusedError, match=r"lacks '€' \(U\+20AC\) of line 1"):
        await overwrite(tmp_path / "f", "€", "latin1")
    assert (tmp_path / "f").read_text() == "old"


async def test_the_stamp_is_that_of_the_new_file_in_its_place(tmp_path: Path) -> None:
    path = tmp_path / "f"
    for _ in range(3):
        stamp = await overwrite(path)
        assert stamp == stamp_of(path.stat())


class TestTheFileThatIsMeant:
    """Only the file that was read is replaced."""

    async def test_one_that_somebody_wrote_since_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        stamp = stamp_of(path.stat())
        path.write_text("theirs")
        with pytest.raises(ChangedOnDiskError, match=r"has changed on disk since it was read\. Nothing was written"):
            await disk.write(str(path), "new", expected=stamp)
        assert path.read_text() == "theirs"

    async def test_one_of_the_same_size_and_time_but_another_inode_stays(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        status = path.stat()
        (tmp_path / "g").write_text("its")
        (tmp_path / "g").replace(path)
        os.utime(path, ns=(status.st_mtime_ns, status.st_mtime_ns))
        with pytest.raises(ChangedOnDiskError):
            await disk.write(str(path), "new", expected=stamp_of(status))
        assert path.read_text() == "its"

    async def test_one_that_was_deleted_is_not_made_again(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        stamp = stamp_of(path.stat())
        path.unlink()
        with pytest.raises(ChangedOnDiskError, match="was deleted since it was read"):
            await disk.write(str(path), "new", expected=stamp)
        assert entries(tmp_path) == []

    async def test_directories_that_were_deleted_with_it_are_not_made_again(self, tmp_path: Path) -> None:
        with pytest.raises(ChangedOnDiskError, match="was deleted since it was read"):
            await disk.write(str(tmp_path / "d" / "f"), "new", expected="1:2:3:4.5")
        assert entries(tmp_path) == []

    async def test_one_that_appeared_stays(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("theirs")
        with pytest.raises(ChangedOnDiskError, match="was made by somebody else just now"):
            await disk.write(str(tmp_path / "f"), "new")
        assert (tmp_path / "f").read_text() == "theirs"

    @pytest.mark.parametrize("old", ["old", None])
    async def test_one_that_is_written_during_the_write_stays(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str | None
    ) -> None:
        path = tmp_path / "f"
        if old is not None:
            path.write_text(old)
        real = os.fsync

        def write_meanwhile(descriptor: int) -> None:
            path.write_text("theirs")
            real(descriptor)

        monkeypatch.setattr(disk.os, "fsync", write_meanwhile)
        with pytest.raises(ChangedOnDiskError):
            await overwrite(path)
        assert path.read_text() == "theirs"
        assert entries(tmp_path) == ["f"]

    @pytest.mark.parametrize("exists", [True, False])
    async def test_a_directory_that_becomes_a_link_is_not_followed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exists: bool
    ) -> None:
        """At no moment do the files change in the directory that the link leads to."""
        swapped = 0
        for moment in range(1, 30):
            top = tmp_path / str(moment)
            for name in ("mine", "guarded"):
                (top / name).mkdir(parents=True)
                if exists:
                    (top / name / "config").write_text("old")
            calls = 0

            def swap(event: str, top: Path = top, moment: int = moment) -> None:
                nonlocal calls
                calls += 1
                if calls == moment:
                    (top / "mine").rename(top / "away")
                    (top / "mine").symlink_to("guarded")

            for name in ("open", "link", "replace", "lstat"):
                real = getattr(os, name)

                def then(*args: Any, real: Any = real, name: str = name, **more: Any) -> Any:
                    swap(name)
                    return real(*args, **more)

                monkeypatch.setattr(disk.os, name, then)
            with suppress(FileRefusedError):
                await overwrite(top / "mine" / "config")
            monkeypatch.undo()
            swapped += (top / "away").exists()
            assert entries(top / "guarded") == (["config"] if exists else [])
            if exists:
                assert (top / "guarded" / "config").read_text() == "old"
        assert swapped > 3

    @pytest.mark.parametrize("appears", [True, False])
    async def test_a_file_system_without_links_has_new_files_too(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, appears: bool
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            if appears:
                (tmp_path / "f").write_text("theirs")
            raise OSError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(disk.os, "link", refuse)
        if appears:
            with pytest.raises(ChangedOnDiskError):
                await overwrite(tmp_path / "f")
        else:
            await overwrite(tmp_path / "f")
        assert (tmp_path / "f").read_text() == ("theirs" if appears else "new")
        assert entries(tmp_path) == ["f"]


class TestWhatBelongsToAFile:
    """Mode, owner, attributes; and that it is one step."""

    @pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o664, 0o200 | 0o400, 0o6755])
    async def test_the_mode_is_kept(self, tmp_path: Path, mode: int) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        path.chmod(mode)
        await overwrite(path)
        assert stat.S_IMODE(path.stat().st_mode) == mode

    async def test_a_new_file_has_the_mode_that_the_umask_gives(self, tmp_path: Path) -> None:
        before = os.umask(0o027)
        try:
            await overwrite(tmp_path / "f")
        finally:
            after = os.umask(before)
        assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640
        assert after == 0o027

    async def test_nobody_else_can_read_it_before_it_has_its_mode(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        modes: list[int] = []
        real = os.write

        def look(descriptor: int, data: bytes) -> int:
            modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
            return real(descriptor, data)

        (tmp_path / "f").write_text("old")
        (tmp_path / "f").chmod(0o604)
        monkeypatch.setattr(disk.os, "write", look)
        await overwrite(tmp_path / "f")
        assert modes == [0o600]

    async def test_the_owner_is_kept_as_far_as_possible_and_rights_are_not_passed_on(self) -> None:
        with nobodys_directory() as directory:
            path = directory / "f"
            path.write_text("old")
            path.chmod(0o6777)  # of root, if root runs this
            before = path.stat()
            assert "stamp" in as_nobody("write", path)
            after = path.stat()
        same_user, same_group = after.st_uid == before.st_uid, after.st_gid == before.st_gid
        rights = (stat.S_ISUID if same_user else 0) | (stat.S_ISGID if same_group else 0)
        assert same_user == (os.geteuid() != 0)
        assert stat.S_IMODE(after.st_mode) == 0o777 | rights

    @pytest.mark.parametrize("may_give", [True, False])
    async def test_the_group_is_kept_where_the_owner_cannot_be(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, may_give: bool
    ) -> None:
        asked: list[tuple[int, int]] = []

        def change(descriptor: int, user: int, group: int) -> None:
            asked.append((user, group))
            if user != -1 and not may_give:
                raise PermissionError(errno.EPERM, "Operation not permitted")

        (tmp_path / "f").write_text("old")
        status = (tmp_path / "f").stat()
        monkeypatch.setattr(disk.os, "fchown", change)
        await overwrite(tmp_path / "f")
        assert asked == [(status.st_uid, status.st_gid), (-1, status.st_gid)][: 1 if may_give else 2]

    async def test_extended_attributes_are_kept_and_none_come_from_the_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kept: dict[str, bytes] = {}
        removed: list[str] = []
        names = {True: ["user.a", "user.odd", "security.capability", "system.posix_acl_access"], False: ["user.of it"]}

        def set_one(descriptor: int, name: str, value: bytes) -> None:
            if name == "user.odd":
                raise OSError(errno.ENOTSUP, "Operation not supported")
            kept[name] = value

        # the file systems of test machines have different ones, or none
        monkeypatch.setattr(disk.os, "listxattr", lambda file, **_: names[isinstance(file, str)])
        monkeypatch.setattr(disk.os, "getxattr", lambda path, name, **_: name.encode())
        monkeypatch.setattr(disk.os, "setxattr", set_one)
        monkeypatch.setattr(disk.os, "removexattr", lambda descriptor, name: removed.append(name))
        (tmp_path / "f").write_text("old")
        await overwrite(tmp_path / "f")
        assert kept == {"user.a": b"user.a", "system.posix_acl_access": b"system.posix_acl_access"}
        assert removed == ["user.of it"]

    async def test_a_link_to_the_file_stays(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("old")
        (tmp_path / "link").symlink_to("f")
        await overwrite((tmp_path / "link").resolve())
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "link").read_text() == "new"

    async def test_directories_are_made(self, tmp_path: Path) -> None:
        await overwrite(tmp_path / "a" / "b" / "f")
        assert (tmp_path / "a" / "b" / "f").read_text() == "new"
        assert entries(tmp_path / "a" / "b") == ["f"]

    async def test_who_has_the_file_open_still_reads_the_old_one(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        with path.open() as reader:
            await overwrite(path)
            assert reader.read() == "old"
        assert entries(tmp_path) == ["f"]


FULL = "no space is left on the disk. The user has to make room first"


class TestWhatFails:
    """After a failure only the old file is there, and the error says who has to act."""

    @pytest.mark.parametrize(
        ("number", "words"),
        [
            (errno.ENOSPC, FULL),
            (errno.EDQUOT, "the user's disk quota is used up. They have to make room first"),
            (errno.EROFS, "its file system is mounted read-only. Ask the user, or write elsewhere"),
            (errno.EIO, "the user's disk reports an error. Tell them"),
            (errno.ESTALE, os.strerror(errno.ESTALE)),
        ],
    )
    @pytest.mark.parametrize("step", ["open", "write", "fsync", "replace", "fchmod", "fstat"])
    async def test_any_step(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, number: int, words: str
    ) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        expected = stamp_of(path.stat())
        with monkeypatch.context() as broken:
            broken.setattr(disk.os, step, failing(number))
            with pytest.raises(FileRefusedError) as caught:
                disk._write(str(path), "new", "utf-8", expected)
        assert str(caught.value) == f"{path} cannot be written: {words}"
        assert entries(tmp_path) == ["f"]
        assert path.read_text() == "old"

    @pytest.mark.parametrize("step", ["open", "write", "fsync", "mkdir"])
    async def test_any_step_of_a_new_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
        path = tmp_path / "d" / "f"
        with monkeypatch.context() as broken:
            broken.setattr(disk.os, step, failing(errno.ENOSPC))
            with pytest.raises(FileRefusedError) as caught:
                disk._write(str(path), "new", "utf-8", None)
        assert str(caught.value) == f"{path} cannot be written: {FULL}"
        assert [file for _, _, files in os.walk(tmp_path) for file in files] == []

    @pytest.mark.parametrize("step", ["fchown", "listxattr", "scandir"])
    async def test_what_a_file_system_may_lack_stops_nothing(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
    ) -> None:
        path = tmp_path / "f"
        path.write_text("old")
        expected = stamp_of(path.stat())
        with monkeypatch.context() as broken:
            broken.setattr(disk.os, step, failing(errno.ENOTSUP))
            disk._write(str(path), "new", "utf-8", expected)
        assert path.read_text() == "new"
        assert entries(tmp_path) == ["f"]

    async def test_a_file_larger_than_may_be(self) -> None:
        with nobodys_directory() as directory:
            path = directory / "f"
            path.write_text("old")
            give(path)
            words = as_nobody("write", path, largest=1500)["refused"]
            assert words.startswith(f"{path} cannot be written: it would be larger than the user's system allows")
            assert path.read_text() == "old"
            assert entries(directory) == ["f"]

    async def test_a_file_that_may_not_be_written(self) -> None:
        with nobodys_directory() as directory:
            path = directory / "f"
            path.write_text("old")
            give(path)
            path.chmod(0o444)
            words = as_nobody("write", path)["refused"]
            assert words.startswith(f"{path} cannot be written: the user who runs Neovim has no permission")
            assert path.read_text() == "old"

    @pytest.mark.parametrize("name", ["f", "new"])
    async def test_a_directory_that_may_not_be_written(self, name: str) -> None:
        with nobodys_directory() as directory:
            (directory / "f").write_text("old")
            give(directory / "f")
            directory.chmod(0o555)
            words = as_nobody("write", directory / name)["refused"]
            assert f"may not make files in {directory}. Ask them" in words
            assert entries(directory) == ["f"]
            assert (directory / "f").read_text() == "old"
            directory.chmod(0o700)

    async def test_what_is_no_regular_file(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "fifo")
        (tmp_path / "d").mkdir()
        (tmp_path / "gone").symlink_to("nothing")
        assert "is a FIFO, not a regular file" in await refusal(tmp_path / "fifo")
        assert "is a directory" in await refusal(tmp_path / "d")
        assert "is a symbolic link" in await refusal(tmp_path / "gone")
        assert "is a device" in await refusal("/dev/null")
        assert "belongs to the system itself" in await refusal("/proc/self/oom_score_adj")
        assert entries(tmp_path) == ["d", "fifo", "gone"]

    async def test_a_file_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "f").write_text("old")
        assert "a part of its path is a file, not a directory" in await refusal(tmp_path / "f" / "below")
        assert "a part of its path is a file, not a directory" in await refusal(tmp_path / "f" / "far" / "below")

    async def test_a_name_that_is_too_long(self, tmp_path: Path) -> None:
        assert "its name is too long" in await refusal(tmp_path / ("x" * 300))
        assert "its name is too long" in await refusal(tmp_path / ("x" * 300) / "f")
        assert entries(tmp_path) == []


def failing(number: int) -> Callable[..., None]:
    """Stands in for a function of the system."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return fail


class TestLeftOvers:
    """Temporary files of writers that were killed."""

    NAME = ".acp_nvim-0123456789abcdef"

    @pytest.mark.parametrize(
        ("name", "age", "stays"),
        [
            (NAME, LEFT_OVER_SECONDS + 60, False),
            (NAME, LEFT_OVER_SECONDS - 60, True),
            (NAME, -1000, True),
            (NAME + "0", LEFT_OVER_SECONDS + 60, True),
            (NAME.upper(), LEFT_OVER_SECONDS + 60, True),
            (NAME[1:], LEFT_OVER_SECONDS + 60, True),
        ],
    )
    async def test_old_ones_of_ours_are_removed_by_the_next_write(
        self, tmp_path: Path, name: str, age: float, stays: bool
    ) -> None:
        old = tmp_path / name
        old.write_text("half")
        then = old.stat().st_mtime - age
        os.utime(old, (then, then))
        await overwrite(tmp_path / "f")
        assert old.exists() == stays

    @pytest.mark.parametrize("make", [Path.mkdir, lambda path: path.symlink_to("f"), os.mkfifo])
    async def test_nothing_but_files_is_removed(self, tmp_path: Path, make: Callable[[Path], None]) -> None:
        make(tmp_path / self.NAME)
        os.utime(tmp_path / self.NAME, (0, 0), follow_symlinks=False)
        await overwrite(tmp_path / "f")
        assert entries(tmp_path) == [self.NAME, "f"]

    async def test_those_of_other_users_stay(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / self.NAME).write_text("theirs")
        os.utime(tmp_path / self.NAME, (0, 0))
        other = os.geteuid() + 1
        monkeypatch.setattr(disk.os, "geteuid", lambda: other)
        await overwrite(tmp_path / "f")
        assert entries(tmp_path) == [self.NAME, "f"]


async def test_what_is_left_of_a_file_is_replaced_in_place_when_there_is_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"half of what was meant")

    def full(*_args: object) -> None:
        raise FileRefusedError("no room")

    monkeypatch.setattr(disk, "replace", full)
    inode = path.stat().st_ino
    await disk.put_back(str(path), "Gr\u00fc\u00dfe\n", "latin1")
    assert (path.read_bytes(), path.stat().st_ino) == ("Gr\u00fc\u00dfe\n".encode("latin1"), inode)


def test_nobody_else_can_read_a_file_before_it_has_its_permissions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, write = [], os.write

    def watched(descriptor: int, data: bytes) -> int:
        seen.append(os.fstat(descriptor).st_mode & 0o077)
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", watched)
    path = tmp_path / "new" / "in" / "f"
    numbers = [one | os.getegid() << 12 for one in (0o2644, 0o500, 0o750)]
    disk.replace(str(path), b"secret", None, numbers)
    found = [one.stat().st_mode & 0o7777 for one in (path, path.parent, path.parent.parent)]
    assert found == [0o2644, 0o700, 0o750]  # what a file is made in can be written
    disk.replace(str(path), b"other", disk.stamp_of(path.stat()), [0o777])
    assert path.stat().st_mode & 0o7777 == 0o2644
    assert seen == [0, 0]


def test_a_group_that_a_new_file_cannot_have_gives_its_own_no_rights(tmp_path: Path, monkeypatch) -> None:
    def refuse(*args: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    disk.replace(str(tmp_path / "f"), b"secret", None, [0o2674 | 54321 << 12])
    assert (tmp_path / "f").stat().st_mode & 0o7777 == 0o644

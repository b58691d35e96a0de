"""Text files on disk: what is read, and what is refused in words."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_nvim.workspace import disk, regular_files
from acp_nvim.workspace.disk import stamp_of
from acp_nvim.workspace.encoding import decode
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError
from tests.core.workspace.as_nobody import as_nobody, nobodys_directory

pytestmark = pytest.mark.anyio


async def refusal(path: Path | str) -> str:
    """Why it is not read; within a limit."""
    with anyio.fail_after(60), pytest.raises(FileRefusedError) as caught:
        await disk.read(str(path))
    assert not isinstance(caught.value, NoSuchFileError)
    return str(caught.value)


def entries(directory: Path) -> list[str]:
    """Everything in it, hidden files included."""
    return sorted(os.listdir(directory))


async def test_the_text_comes_with_its_encoding_and_stamp(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"gr\xfc\r\n")
    now = (tmp_path / "f").stat()
    found = await disk.read(str(tmp_path / "f"))
    assert found == disk.DiskText("grü\r\n", "latin1", stamp_of(now), 5, now.st_ctime_ns)


async def test_the_encoding_of_the_buffer_is_a_hint(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x80")
    assert (await disk.read(str(tmp_path / "f"), "cp1252")).text == "€"


async def test_the_stamp_is_of_the_file_before_it_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    before = stamp_of(path.stat())
    real = os.fdopen

    def write_just_then(*args, **more):
        path.write_text("newer")
        return real(*args, **more)

    monkeypatch.setattr(disk.os, "fdopen", write_just_then)
    assert (await disk.read(str(path))).stamp == before


async def test_a_missing_file_is_told_apart(tmp_path: Path) -> None:
    for path in (tmp_path / "gone", tmp_path / "no directory" / "gone"):
        with pytest.raises(NoSuchFileError, match="does not exist"):
            await disk.read(str(path))


async def test_a_file_that_goes_just_before_it_is_opened_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "regular_file", lambda path: os.stat(tmp_path))
    with pytest.raises(NoSuchFileError, match="does not exist"):
        await disk.read(str(tmp_path / "gone"))


async def test_a_file_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert "is a file, not a directory" in await refusal(tmp_path / "f" / "below")


async def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "symbolic link in a circle" in await refusal(tmp_path / "circle")
    assert "symbolic links in a circle" in await refusal(tmp_path / "circle" / "below")


async def test_a_link_in_the_place_of_a_real_path_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_text("s")
    (tmp_path / "f").symlink_to(tmp_path / "secret")
    assert "put there just now" in await refusal(tmp_path / "f")
    monkeypatch.setattr(disk, "regular_file", lambda path: os.stat(path))  # as if it was put there a moment later
    assert "put there just now" in await refusal(tmp_path / "f")


@pytest.mark.parametrize(("name", "words"), [("fifo", "a FIFO, not a regular file"), ("d", "a directory")])
async def test_what_takes_the_place_of_a_file_just_before_it_is_opened_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, words: str
) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "d").mkdir()
    monkeypatch.setattr(disk, "regular_file", lambda path: os.stat(path))
    real = os.open

    def check(path: str, flags: int) -> int:
        assert flags & os.O_NONBLOCK  # else we would wait here for ever
        return real(path, flags)

    monkeypatch.setattr(disk.os, "open", check)
    assert await refusal(tmp_path / name) == f"{tmp_path}/{name} is {words}"


async def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    assert "too long" in await refusal(tmp_path / ("x" * 300))
    assert "too long" in await refusal("/" + "x/" * 3000)


@pytest.mark.parametrize("path", ["/a\0b", "/\ud800"])
async def test_what_cannot_be_a_path_is_refused_in_words_that_can_be_sent(path: str) -> None:
    words = await refusal(path)
    assert "cannot be the path of a file" in words
    assert words.encode()


async def test_a_relative_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f").write_text("x")
    assert await refusal("f") == "'f' is not an absolute path"


async def test_a_file_that_may_not_be_read_is_refused() -> None:
    with nobodys_directory() as directory:
        (directory / "d").mkdir()
        for name in ("f", "d/f"):
            (directory / name).write_text("secret")
        (directory / "f").chmod(0)
        (directory / "d").chmod(0)
        for name in ("f", "d/f"):
            words = as_nobody("read", f"{directory}/{name}")["refused"]
            assert words.startswith(f"{directory}/{name} cannot be read: the user who runs Neovim has no permission")
        (directory / "d").chmod(0o700)


async def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert await refusal(tmp_path) == f"{tmp_path} is a directory"


async def test_a_fifo_without_a_writer_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "is a FIFO, not a regular file" in await refusal(tmp_path / "fifo")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/urandom"])
async def test_a_device_is_refused(device: str) -> None:
    assert await refusal(device) == f"{device} is a device, not a regular file"


async def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "is a socket, not a regular file" in await refusal(tmp_path / "s")


@pytest.mark.parametrize("path", ["/proc/self/status", "/proc/1/mem", "/proc", "/sys/kernel/mm", "/sys/no such"])
async def test_files_of_the_system_are_refused(path: str) -> None:
    assert "belongs to the system itself, and is never opened" in await refusal(path)


def test_what_is_refused_is_not_left_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened, open_it = [], os.open
    monkeypatch.setattr(os, "open", lambda *given: opened.append(open_it(*given)) or opened[-1])
    with pytest.raises(IsADirectoryError):
        regular_files.read_regular(str(tmp_path), 10)
    [descriptor] = opened
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


async def test_nothing_but_regular_files_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(disk.os, "open", lambda path, *_: opened.append(path))
    os.mkfifo(tmp_path / "fifo")
    for path in (
        tmp_path,
        tmp_path / "fifo",
        "/dev/zero",
        "/proc/self/status",
        "/proc/self/mem",
        "/sys/kernel/profiling",
    ):
        await refusal(path)
    assert opened == []


async def test_names_that_only_begin_like_the_system_are_ordinary() -> None:
    for path in ("/process", "/sysadmin/file"):
        assert regular_files.regular_file(path) is None


async def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x7fELF\x00\x01")
    assert await refusal(tmp_path / "f") == f"{tmp_path}/f is a binary file"


async def test_a_file_over_the_limit_is_refused_and_one_of_the_limit_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 10)
    (tmp_path / "f").write_text("x" * 10)
    assert (await disk.read(str(tmp_path / "f"))).text == "x" * 10
    (tmp_path / "f").write_text("x" * 1000)
    assert await refusal(tmp_path / "f") == f"{tmp_path}/f has 1000 bytes or more; the limit is 10"


async def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fdopen

    def grow(*args, **more):
        (tmp_path / "f").write_text("x" * 1000)
        return real(*args, **more)

    (tmp_path / "f").write_text("x")
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 10)
    monkeypatch.setattr(disk.os, "fdopen", grow)
    assert await refusal(tmp_path / "f") == f"{tmp_path}/f has 11 bytes or more; the limit is 10"


async def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    await disk.write(str(tmp_path / "ok"), "x")
    before = entries(Path("/proc/self/fd"))
    (tmp_path / "f").write_bytes(b"\0")
    await disk.read(str(tmp_path / "ok"))
    await disk.write(str(tmp_path / "new"), "x")
    for path in (tmp_path, tmp_path / "f", "/dev/null"):
        await refusal(path)
    assert entries(Path("/proc/self/fd")) == before


@given(st.binary(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_read_as_their_encoding_says(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(data)
    try:
        found = disk._read(str(path), None)
    except FileRefusedError:
        assert b"\0" in data
    else:
        assert (found.text, found.encoding) == decode("", data)

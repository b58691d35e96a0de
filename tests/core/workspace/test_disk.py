"""Text files on disk: what is read, what is refused in words, and writes that happen whole or not at all."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acp_nvim.workspace import disk
from acp_nvim.workspace.refusals import FileRefusedError, NoSuchFileError

pytestmark = pytest.mark.anyio


async def refusal(path: Path | str) -> str:
    """Why it is not read; within a limit."""
    with anyio.fail_after(20), pytest.raises(FileRefusedError) as caught:
        await disk.read(str(path))
    return str(caught.value)


def entries(directory: Path) -> list[str]:
    """Everything in it, hidden files included."""
    return sorted(os.listdir(directory))


@pytest.mark.parametrize(
    "text", ["", "a", "a\n", "a\r\nb\r\n", "a\rb", "\ufeffbom", "ä☃\U0001f600", "tab\t\x1b[31m\x0c", "\n\n"]
)
async def test_what_is_written_is_read_to_the_byte(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f"
    await disk.write(str(path), text)
    assert path.read_bytes() == text.encode()
    assert await disk.read(str(path)) == text


async def test_a_missing_file_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(NoSuchFileError, match="does not exist"):
        await disk.read(str(tmp_path / "gone"))


async def test_a_file_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("x")
    assert "Not a directory" in await refusal(tmp_path / "f" / "below")


async def test_a_circle_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    assert "symbolic links" in await refusal(tmp_path / "circle")


async def test_a_name_that_is_too_long_is_refused(tmp_path: Path) -> None:
    assert "too long" in await refusal(tmp_path / ("x" * 300))


async def test_a_file_that_may_not_be_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: str, *_: object) -> int:
        raise PermissionError(13, "Permission denied", path)  # what open says; root may open everything

    monkeypatch.setattr(disk.os, "open", deny)
    assert await refusal(tmp_path / "f") == f"{tmp_path}/f cannot be read: Permission denied"


async def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert await refusal(tmp_path) == f"{tmp_path} is a directory"


async def test_a_fifo_without_a_writer_is_refused_and_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert "not a regular file" in await refusal(tmp_path / "fifo")


@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero", "/dev/urandom"])
async def test_a_device_is_refused_and_not_read(device: str) -> None:
    assert await refusal(device) == f"{device} is not a regular file"


async def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket must be short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "cannot be read" in await refusal(tmp_path / "s")


async def test_a_binary_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"\x7fELF\x00\x01")
    assert "binary" in await refusal(tmp_path / "f")


async def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes("Grüße".encode("latin-1"))
    assert "not UTF-8" in await refusal(tmp_path / "f")


async def test_a_file_over_the_limit_is_refused_and_one_of_the_limit_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 10)
    (tmp_path / "f").write_text("x" * 10)
    assert await disk.read(str(tmp_path / "f")) == "x" * 10
    (tmp_path / "f").write_text("x" * 11)
    assert await refusal(tmp_path / "f") == f"{tmp_path}/f has 11 bytes or more; the limit is 10"


async def test_a_file_that_grows_past_the_limit_while_it_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "MAX_FILE_BYTES", 10)
    assert "the limit is 10" in await refusal("/proc/self/status")  # says that it has 0 bytes


async def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    before = entries(Path("/proc/self/fd"))
    (tmp_path / "f").write_bytes(b"\0")
    for path in (tmp_path, tmp_path / "f", tmp_path / "gone", "/dev/null"):
        await refusal(path)
    assert entries(Path("/proc/self/fd")) == before


@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o664])
async def test_a_write_keeps_the_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    path.chmod(mode)
    await disk.write(str(path), "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


async def test_a_new_file_has_the_mode_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        await disk.write(str(tmp_path / "f"), "x")
    finally:
        after = os.umask(before)
    assert stat.S_IMODE((tmp_path / "f").stat().st_mode) == 0o640
    assert after == 0o027


async def test_directories_are_made(tmp_path: Path) -> None:
    await disk.write(str(tmp_path / "a" / "b" / "f"), "x")
    assert (tmp_path / "a" / "b" / "f").read_text() == "x"


async def test_a_write_replaces_the_file_in_one_step(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("old")
    with path.open() as reader:
        await disk.write(str(path), "new")
        assert reader.read() == "old"
    assert entries(tmp_path) == ["f"]


async def unwritable(path: Path | str) -> str:
    """Why it is not written; within a limit."""
    with anyio.fail_after(20), pytest.raises(FileRefusedError) as caught:
        await disk.write(str(path), "new")
    return str(caught.value)


@pytest.mark.parametrize("failing", ["fsync", "replace", "chmod"])
async def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "f").write_text("old")
    monkeypatch.setattr(disk.os, failing, fail)
    words = await unwritable(tmp_path / "f")
    assert words == f"{tmp_path}/f cannot be written: No space left on device"
    assert entries(tmp_path) == ["f"]
    assert (tmp_path / "f").read_text() == "old"


async def test_a_file_that_may_not_be_written_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("old")
    monkeypatch.setattr(disk.os, "access", lambda path, mode: mode != os.W_OK)  # root may write everything
    assert "Permission denied" in await unwritable(tmp_path / "f")
    assert (tmp_path / "f").read_text() == "old"


async def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "d").mkdir()
    for name in ("fifo", "d"):
        assert "not a regular file" in await unwritable(tmp_path / name)
    assert "not a regular file" in await unwritable("/dev/null")
    assert entries(tmp_path) == ["d", "fifo"]


async def test_a_file_below_a_file_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("old")
    assert "cannot be written" in await unwritable(tmp_path / "f" / "below")


@given(st.binary(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_a_text_or_a_refusal(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "f"
    path.write_bytes(data)
    try:
        expected = None if b"\0" in data else data.decode()
    except UnicodeDecodeError:
        expected = None
    if expected is None:
        with pytest.raises(FileRefusedError):
            disk._read(str(path))
    else:
        assert disk._read(str(path)) == expected

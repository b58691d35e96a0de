"""The file with the bytecode of the host: what it gives is what the sources say, and a bad one does no harm."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acp_nvim.bytecode import Archive
from tests.support.places import ROOT

PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:3]
from acp_nvim import bytecode
bytecode.use(sys.argv[3])
import sample.part, sample
archive = bytecode.take()
assert bytecode.take() is None
print(sample.part.VALUE, sample.__file__, sample.part.__spec__.has_location, sample.__path__, archive.is_complete)
if not archive.is_complete:
    archive.write()
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    """A package with one module, whose value is `one`."""
    package = tmp_path / "sources" / "sample"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (package / "part.py").write_text("VALUE = 'one'\n")
    return package


def run(sample: Path, archive: Path) -> list[str]:
    """What the program says of the package: its value, file and so on, and whether all of it came from the archive."""
    command = [sys.executable, "-P", "-E", "-c", PROGRAM, str(ROOT), str(sample.parent), str(archive)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_the_second_start_takes_all_from_the_archive(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "cache" / "archive"
    first, second = run(sample, archive), run(sample, archive)
    assert first == ["one", str(sample / "__init__.py"), "True", f"['{sample}']", "False"]
    assert second == [*first[:-1], "True"]
    assert os.listdir(archive.parent) == [archive.name]
    with_other_path = Archive(str(archive))
    with_other_path.close()
    assert repr(with_other_path) == f"<Archive {archive}: 0 modules>"


def test_a_changed_source_is_what_runs(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    stat = (sample / "part.py").stat()
    (sample / "part.py").write_text("VALUE = 'two'\n")  # as long as before
    os.utime(sample / "part.py", ns=(stat.st_atime_ns, stat.st_mtime_ns + 2 * 10**9))
    changed = run(sample, archive)
    assert (changed[0], changed[-1]) == ("two", "False")
    again = run(sample, archive)
    assert (again[0], again[-1]) == ("two", "True")


def test_a_source_that_is_gone_is_not_found(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    (sample / "part.py").unlink()
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(sample, archive)
    assert "No module named 'sample.part'" in failed.value.stderr


@pytest.mark.parametrize("keep", [0, 4, 8, 30, 200, -1, -40])
def test_a_file_that_was_cut_off_does_no_harm(sample: Path, tmp_path: Path, keep: int) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    archive.write_bytes(archive.read_bytes()[:keep])
    assert run(sample, archive)[0] == "one"
    assert run(sample, archive)[-1] == "True"


@pytest.mark.parametrize("filling", [b"\0", b"\xff", b"(", b"c"])
def test_a_file_of_garbage_does_no_harm(sample: Path, tmp_path: Path, filling: bytes) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    data = archive.read_bytes()
    for kept in (0, 4, 12, 40, len(data) // 2, len(data) - 40):  # of the head, the codes, the table
        archive.write_bytes(data[:kept] + filling * (len(data) - kept))
        assert run(sample, archive)[0] == "one"


def test_a_source_that_is_broken_meanwhile_leaves_the_file_as_it_was(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    before = archive.read_bytes()
    (sample / "more.py").write_text(f"open({str(sample / 'more.py')!r}, 'w').write('not Python (')")
    (sample / "__init__.py").write_text("from . import more")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(sample, archive)
    assert "SyntaxError" in failed.value.stderr
    assert archive.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["archive"]


def test_a_package_of_the_same_name_in_another_place_is_what_runs(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    other = tmp_path / "others" / "sample"
    shutil.copytree(sample, other)  # with the same times
    (other / "part.py").write_text("VALUE = 'two'\n")
    stat = (sample / "part.py").stat()
    os.utime(other / "part.py", ns=(stat.st_atime_ns, stat.st_mtime_ns))
    shutil.rmtree(other / "__pycache__", ignore_errors=True)
    found = run(other, archive)
    assert (found[0], found[1], found[-1]) == ("two", str(other / "__init__.py"), "False")
    assert run(other, archive)[-1] == "True"
    assert run(sample, archive)[0] == "one"


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_is_not_used(sample: Path, tmp_path: Path, mode: int) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    assert archive.stat().st_mode & 0o777 == 0o600
    archive.chmod(mode)
    assert run(sample, archive)[-1] == "False"
    assert archive.stat().st_mode & 0o777 == 0o600
    assert run(sample, archive)[-1] == "True"


def test_another_version_of_python_does_not_use_it(sample: Path, tmp_path: Path) -> None:
    archive = tmp_path / "archive"
    run(sample, archive)
    from importlib.util import MAGIC_NUMBER

    archive.write_bytes(archive.read_bytes().replace(MAGIC_NUMBER, b"\0" * len(MAGIC_NUMBER), 1))
    assert run(sample, archive)[-1] == "False"

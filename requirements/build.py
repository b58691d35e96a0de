"""Builds the Python environment of the host: `.venv` in the plugin's directory, with what `run.txt` names.

Neovim runs it with the Python that the environment is made of (`lua/acp_nvim/host/environment.lua`). It prints a line
for each step, and on stderr why it failed, after `acp_nvim: `. The environment is built in a directory of its own and
renamed when it is finished. So an interrupted build changes nothing, and two builds do not disturb each other. Python's
standard library is all that this needs.
"""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FINISHED = ROOT / ".venv"
LOCK = ROOT / "requirements" / "run.txt"
BUILT_FROM = "requirements.txt"
"""In the environment: a copy of the lock file that it was built from."""


class BuildError(Exception):
    """The environment cannot be built; the text says why and what to do."""


def main() -> int:
    """Builds what is missing or outdated, with the argument `again` also what is not. Returns the exit code."""
    try:
        with _directories() as new:
            if "again" in sys.argv[1:] or not _is_current(FINISHED):
                _build(new)
                _replace(new)
        _compile(FINISHED)
    except BuildError as error:
        print(f"acp_nvim: {error}", file=sys.stderr)
    except OSError as error:
        print(f"acp_nvim: {_in_words(error)}", file=sys.stderr)
    else:
        return 0
    return 1


@contextlib.contextmanager
def _directories() -> Iterator[Path]:
    """Gives the directory to build in, and removes it, and those of builds that were interrupted."""
    new = ROOT / f".venv-{os.getpid()}"
    for left in ROOT.glob(".venv-*"):
        number = left.name.removeprefix(".venv-").removesuffix("-old")
        if left == new or not (number.isdecimal() and _runs(int(number))):
            shutil.rmtree(left, ignore_errors=True)
    try:
        yield new
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(_aside(new), ignore_errors=True)


def _runs(process: int) -> bool:
    """Tells whether a process with this id runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _python(environment: Path) -> Path:
    """Returns the path of the interpreter of an environment."""
    return environment / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def _is_current(environment: Path) -> bool:
    """Tells whether an environment was built from the lock file as it is now, and its Python is still there."""
    try:
        return (environment / BUILT_FROM).read_bytes() == LOCK.read_bytes() and _python(environment).exists()
    except FileNotFoundError:
        return False


def _build(new: Path) -> None:
    """Makes an environment with all packages, and marks it as finished."""
    print(f"making .venv with Python {platform.python_version()}", flush=True)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from acp_nvim import pythons

    for words in pythons.shortcomings():
        print(words, flush=True)
    try:
        venv.create(new, with_pip=True, symlinks=os.name != "nt")
    except subprocess.CalledProcessError as error:
        raise BuildError(_without_pip((error.output or b"").decode(errors="replace"))) from error
    print("downloading the host's packages", flush=True)
    install = subprocess.run([_python(new), "-I", ROOT / "requirements" / "install.py", "run"], check=False)
    if install.returncode:
        raise SystemExit(install.returncode)  # it has said why
    shutil.copyfile(LOCK, new / BUILT_FROM)


def _without_pip(said: str) -> str:
    """Returns why pip could not be put into the environment, from what its installation said."""
    if "No space left on device" in said:
        return "the disk is full. Make room on it."
    lines = [line for line in said.splitlines() if line.strip() and "CalledProcessError" not in line]
    return (
        f"{sys.executable} cannot make environments: {lines[-1].strip() if lines else 'it does not say why'}. Install "
        "Python's venv module (on Debian and Ubuntu: apt install python3-venv)."
    )


def _aside(new: Path) -> Path:
    """Returns where the previous environment lies until it is removed."""
    return new.with_name(f"{new.name}-old")


def _replace(new: Path) -> None:
    """Puts the new environment in the place of the previous one."""
    with contextlib.suppress(FileNotFoundError):
        FINISHED.rename(_aside(new))
    try:
        new.rename(FINISHED)
    except OSError:
        if not _is_current(FINISHED):  # else another Neovim was faster
            raise


def _compile(environment: Path) -> None:
    """Compiles the host, so that its first start is as fast as the others."""
    folders = [ROOT / "acp_nvim", ROOT / "rplugin"]
    options = ["-q", "-x", "demo_project"]  # the sample is copied as it is
    subprocess.run(
        [_python(environment), "-m", "compileall", *options, *folders], check=False, stdout=subprocess.DEVNULL
    )


def _in_words(error: OSError) -> str:
    """Returns what happened and what to do."""
    return (
        f"{error.filename or ROOT} cannot be written: {error.strerror}. Make room on its disk, or make the plugin's "
        "directory writable for you, or set the option `python` to a Python that has the packages of "
        "requirements/run.txt."
    )


if __name__ == "__main__":
    sys.exit(main())

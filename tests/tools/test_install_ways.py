"""Each way of the README to install the plugin, with its snippets as they are, up to the demo agent's first answer.

No plugin manager is here: `MANAGERS` performs the steps of lazy.nvim and vim.pack that matter. The address of the
snippets leads to a repository of this test, by git's `insteadOf`. One environment is really built, from wheels that
are made of the packages that set-up has installed; the others are pretended.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tests.support.editor import HeadlessEditor
from tests.support.installation import copy_plugin, pretend_python
from tests.support.places import ROOT
from tests.support.waiting import LIMIT

ADDRESS = "https://example.org/acp_nvim"

MANAGERS = r"""
local directory = ...
_G.managers = {}

local function clone(address, path)
  local done = vim.system({ "git", "clone", "--quiet", address, path }):wait()
  assert(done.code == 0, done.stderr)
end

-- lazy.nvim clones what has an address, makes help tags, runs build.lua in a coroutine that may yield, and loads the
-- plugin; a local directory is only loaded.
function managers.lazy(spec)
  local path = spec.dir and vim.fn.expand(spec.dir) or directory .. "/lazy/acp_nvim"
  local function load()
    vim.opt.rtp:prepend(path)
    vim.cmd.source(vim.fn.fnameescape(path .. "/plugin/acp_nvim.lua"))
    _G.loaded = true
  end
  if spec.dir then
    return load()
  end
  clone(spec[1], path)
  vim.cmd.helptags(vim.fn.fnameescape(path .. "/doc"))
  package.loaded["lazy.async"] = {}
  local thread = coroutine.create(assert(loadfile(path .. "/build.lua")))
  local function step()
    local ok, words = coroutine.resume(thread)
    _G.build_problem = not ok and words or nil
    if coroutine.status(thread) ~= "dead" then
      return vim.defer_fn(step, 10)
    end
    package.loaded["lazy.async"] = nil
    load()
  end
  step()
end

-- Neovim 0.11 has no such event.
local create = vim.api.nvim_create_autocmd
vim.api.nvim_create_autocmd = function(event, opts)
  if event == "PackChanged" then
    event, opts.pattern = "User", "PackChanged"
  end
  return create(event, opts)
end

-- vim.pack clones into pack/core/opt, triggers PackChanged before it loads the plugin, and loads it.
vim.pack = {
  add = function(specs)
    local path = directory .. "/site/pack/core/opt/acp_nvim"
    clone(specs[1], path)
    local data = { kind = "install", spec = { src = specs[1], name = "acp_nvim" }, path = path }
    vim.api.nvim_exec_autocmds("User", { pattern = "PackChanged", data = data })
    vim.cmd.packadd("acp_nvim")
  end,
}
"""


def snippets(language: str) -> list[str]:
    """The code of the README's section on installing."""
    section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Install\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


LAZY, LAZY_LOCAL, PACK = snippets("lua")
PLAIN, ARCHIVE = snippets("sh")


def make_wheels(directory: Path, lock: Path) -> None:
    """Makes wheels of the installed packages that the lock file names, and locks these instead."""
    directory.mkdir()
    lines = []
    for name in re.findall(r"^([a-z][\w-]*)==", lock.read_text(), re.MULTILINE):
        package = metadata.distribution(name)
        info = re.sub(r"[-.]+", "_", package.name)
        tag = re.search(r"^Tag: (.*)$", package.read_text("WHEEL") or "", re.MULTILINE)
        assert tag
        wheel = directory / f"{info}-{package.version}-{tag[1]}.whl"
        with zipfile.ZipFile(wheel, "w") as file:
            for path in package.files or []:
                if ".." not in path.parts and path.suffix != ".pyc" and path.name not in ("INSTALLER", "REQUESTED"):
                    file.write(str(path.locate()), str(path))
        lines.append(f"{name}=={package.version} --hash=sha256:{hashlib.sha256(wheel.read_bytes()).hexdigest()}\n")
    lock.write_text("".join(lines))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plugin in a git repository, whose lock file names the wheels in the directory `wheels` beside it."""
    directory = tmp_path_factory.mktemp("published")
    copy_plugin(directory / "acp_nvim")
    make_wheels(directory / "wheels", directory / "acp_nvim/requirements/run.txt")
    (directory / "acp_nvim/.gitignore").write_text((ROOT / ".gitignore").read_text())
    plain = ["config", "pack.window", "0"]  # clones need not be small
    for command in (["init", "--quiet"], plain, ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@localhost"]
        subprocess.run(["git", *who, *command], cwd=directory / "acp_nvim", check=True)
    return directory / "acp_nvim"


@pytest.fixture
def install(tmp_path: Path, repository: Path) -> Iterator[Callable[..., HeadlessEditor]]:
    """Runs the shell commands, if any, and starts Neovim with this configuration; the home is `tmp_path / "home"`."""
    home = tmp_path / "home"
    home.mkdir()
    data = home / ".local/share/nvim"
    path = pretend_python(tmp_path / "bin")
    git = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.{repository.as_uri()}.insteadOf"}
    env = {"HOME": str(home), "PATH": path, "XDG_DATA_HOME": str(data.parent), **git, "GIT_CONFIG_VALUE_0": ADDRESS}
    started = []

    def run(config: str, *commands: str, **more: str) -> HeadlessEditor:
        for command in commands:
            subprocess.run(["sh", "-euc", command], env=env, cwd=home, check=True, capture_output=True)
        (home / "managers.lua").write_text(MANAGERS)
        (home / "init.lua").write_text(
            f"vim.g.acp_nvim = nil vim.opt.packpath:prepend('{data}/site') "
            f"assert(loadfile('{home}/managers.lua'))('{data}')\n{config}"
        )
        started.append(
            HeadlessEditor(tmp_path, plugin=False, arguments=["--cmd", f"luafile {home}/init.lua"], env={**env, **more})
        )
        return started[-1]

    yield run
    for nvim in started:
        nvim.close()


def answers(nvim: HeadlessEditor, asks: bool) -> None:
    """The demo agent answers a prompt, and the help is there. If it `asks` for the build, the answer is yes."""
    nvim.lua("vim.ui.select = function(items, _, on_choice) _G.asked = true on_choice(items[1]) end")
    nvim.command("AcpPrompt /markdown")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"), what="the first answer")
    assert "/markdown" in nvim.chat_text()
    assert nvim.lua("return _G.asked or false") is asks
    nvim.command("help :AcpBuild")
    assert nvim.lua("return vim.fn.expand('%:t')") == "acp_nvim.txt"


def test_lazy_with_an_address_and_a_real_build(install, repository, tmp_path):
    real = Path(sys.executable).resolve()
    (tmp_path / "bin/python3").unlink()
    (tmp_path / "bin/python3").symlink_to(real)
    wheels = {
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": (repository.parent / "wheels").as_uri(),
        "PIP_CONFIG_FILE": "/dev/null",
    }
    nvim = install(f"managers.lazy({LAZY.split('--')[0]})", **wheels)
    nvim.wait_until("_G.loaded", 3 * LIMIT, what="the end of the build")
    assert nvim.lua("return _G.build_problem") is None
    answers(nvim, asks=False)
    host = nvim.host()
    assert host
    assert host.command[0] == str(tmp_path / "home/.local/share/nvim/lazy/acp_nvim/.venv/bin/python")


def test_lazy_shows_why_it_cannot_build(install):
    nvim = install(f"managers.lazy({LAZY.split('--')[0]})", BUILD_FAILS="the package index could not be reached.")
    nvim.wait_until("_G.loaded", what="the end of the build")
    words = (
        "acp_nvim: the Python environment was not built: the package index could not be reached. Then type :AcpBuild."
    )
    assert nvim.lua("return _G.build_problem") == words


def test_vim_pack(install):
    nvim = install(PACK)
    nvim.wait_until(lambda: "acp_nvim: the Python environment is ready" in nvim.messages(), what="the end of the build")
    answers(nvim, asks=False)


def test_vim_pack_shows_why_it_cannot_build(install):
    nvim = install(PACK, BUILD_FAILS="the package index could not be reached.")
    nvim.wait_until(lambda: any("was not built" in text for text in nvim.messages()), what="the failure")


BUILT_BY_THE_FIRST_COMMAND = {
    "a directory of lazy.nvim": (f"managers.lazy({LAZY_LOCAL})", f"git clone --quiet {ADDRESS} ~/src/acp_nvim"),
    "plain packages": ("", PLAIN),
    "a release archive": ("", f"git -C {{}} archive --prefix=acp_nvim/ -o ~/acp_nvim.tar.gz HEAD\n{ARCHIVE}"),
}


@pytest.mark.parametrize("way", BUILT_BY_THE_FIRST_COMMAND)
def test_the_first_command_builds(install, repository, way):
    config, commands = BUILT_BY_THE_FIRST_COMMAND[way]
    answers(install(config, commands.format(repository)), asks=True)


def test_the_first_command_shows_why_it_cannot_build(install):
    nvim = install("", PLAIN, BUILD_FAILS="the package index could not be reached.")
    nvim.lua("vim.ui.select = function(items, _, on_choice) on_choice(items[1]) end")
    nvim.command("AcpChat demo")
    words = "the Python environment was not built: the package index could not be reached. Then type :AcpBuild."
    nvim.wait_until(lambda: words in nvim.chat_text(), what="the failure in the chat")

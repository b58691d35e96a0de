"""Files that make programs run: git, editors, shells and other tools execute what they hold, or what they name.

The table is data: the help lists it (a test compares the two), and the reasons are shown in permission requests.
Files that run only when somebody starts a build, a test or a script (Makefile, package.json) are ordinary files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec


class Guarded(msgspec.Struct, frozen=True):
    """Files and directories, with all below them, that always need the user's permission to be written.

    `names` are globs, divided by blanks, for one component of a path, or for several that follow each other (`a/b`).
    """

    names: str
    why: str

    @property
    def globs(self) -> list[str]:
        """The names, one by one."""
        return self.names.split()


GIT: Final = "git runs hooks and programs that its directory names"

GUARDED: Final = (
    Guarded(".git", GIT),
    Guarded(".gitconfig .config/git", "git runs programs that its configuration names"),
    Guarded(".gitmodules", "git fetches and checks out what it names"),
    Guarded(
        ".husky .githooks .git-hooks .lefthook* lefthook.* .pre-commit-config.yaml .overcommit.yml",
        "git runs it as a hook",
    ),
    Guarded(
        ".nvim.lua .nvimrc .exrc .lazy.lua .neoconf.json .vim",
        "Neovim and its plugins run it when the project is opened",
    ),
    Guarded(
        ".vscode *.code-workspace .idea .zed .fleet .dir-locals.el .devcontainer*",
        "editors run tasks and programs that it names when the project is opened",
    ),
    Guarded(
        ".envrc .direnv .autoenv* .mise* mise.toml mise.*.toml .config/mise",
        "the shell runs it when somebody enters the directory",
    ),
    Guarded(
        ".claude .claude.json .mcp.json .agents .amp .augment .cline .codex .continue .copilot .github/hooks .cursor "
        ".factory .fast-agent fastagent.config.* .gemini .goose .junie .kilocode .kimi* .kiro .opencode "
        "opencode.json* .qwen .roo .vibe .windsurf",
        "agents run hooks and servers that it names",
    ),
    Guarded(
        ".npmrc .yarnrc* .yarn .pnpmfile.* bunfig.toml",
        "npm, yarn, pnpm and bun run programs that it names, whatever they are started for",
    ),
    Guarded("node_modules", "editors and package managers run the programs in it"),
    Guarded(
        ".venv pyvenv.cfg sitecustomize.py usercustomize.py *.pth",
        "Python runs it whenever it starts, and editors start Python",
    ),
    Guarded(".cargo", "cargo and rust-analyzer run programs that it names"),
    Guarded(".mvn gradle/wrapper", "build tools run it as soon as an editor loads the project"),
    Guarded(".gdbinit .lldbinit", "the debugger runs it when it starts"),
)

_INVISIBLE = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
"""Characters that HFS+ ignores in names (git's `next_hfs_char`, utf8.c)."""

_SHORT_GIT = re.compile(r"git~[0-9]+")
"""What NTFS calls `.git` where names have eight characters (git's `is_ntfs_dotgit`, path.c)."""


def plain_name(component: str) -> str:
    """The name that the least exact file systems take `component` for: HFS+, APFS, NTFS, FAT."""
    name = component.lower()
    if not name.isascii():
        name = unicodedata.normalize("NFKC", _INVISIBLE.sub("", component)).casefold()
    name = name.partition(":")[0].rstrip(". ") or name
    return ".git" if _SHORT_GIT.fullmatch(name) else name


def why_guarded(components: Sequence[str]) -> str | None:
    """The reason of the first entry of the table that a path with these components falls under; None without one."""
    path = f"/{'/'.join(map(plain_name, components))}/"
    return next((guarded.why for guarded, names in _TABLE if names.search(path)), None)


def why_named(text: str) -> str | None:
    """The same for a text that has a guarded name somewhere, as a word or as a part of a path. Takes linear time."""
    plain = text.lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return next((guarded.why for guarded, words in _WORDS if words.search(plain)), None)


def _regex(glob: str) -> str:
    return re.escape(glob).replace(r"\*", "[^/]*")


_TABLE = [(one, re.compile(f"/(?:{'|'.join(map(_regex, one.globs))})/")) for one in GUARDED]
_WORDS = [
    (
        one,
        re.compile(
            rf"(?<![\w.-])(?:{'|'.join(map(_regex, one.globs))}{'|git~[0-9]' if one.why is GIT else ''})(?![\w-])"
        ),
    )
    for one in GUARDED
]

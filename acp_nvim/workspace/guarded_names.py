"""Names of files that make programs run: git, editors, shells and other tools execute them, or what they name.

The table is data: the help lists it (a test compares the two), and permission requests show the reasons. Files that run
only when a user starts a build, a test or a script (Makefile, package.json) are ordinary files.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import msgspec

from acp_nvim.lazy import pattern


class Guarded(msgspec.Struct, frozen=True):
    """Files and directories, with all below them, that always need the user's permission to be written.

    `names` are globs separated by blanks, for one path component, or for several in sequence (`a/b`).
    """

    names: str
    why: str

    @property
    def globs(self) -> list[str]:
        """The patterns in `names`, which are separated by blanks."""
        return self.names.split()


PYTHON: Final = "Python runs it whenever it starts, and editors start Python"
GIT: Final = "git runs hooks and programs that its directory names"

GUARDED: Final = (
    Guarded(".git", GIT),
    Guarded(".gitconfig .config/git", "git runs programs that its configuration names"),
    Guarded(".gitmodules", "git fetches and checks out what it names"),
    Guarded(
        ".husky .githooks .git-hooks .lefthook* lefthook.* lefthook-local.* .pre-commit-config.yaml .overcommit.yml",
        "git runs it as a hook",
    ),
    Guarded(".hg .hgrc .jj .sl", "version control runs hooks and programs that it names"),
    Guarded(
        ".nvim.lua .nvimrc* .exrc* .lvimrc .lazy.lua .neoconf.json .nlsp-settings .vim",
        "Neovim and its plugins run it when the project is opened",
    ),
    Guarded(
        ".vscode *.code-workspace *.sublime-project .idea .zed .fleet .helix .dir-locals* .devcontainer*",
        "editors run tasks and programs that it names when the project is opened",
    ),
    Guarded(
        ".envrc .direnv flake.nix shell.nix devenv.* .autoenv* .mise* mise.toml mise.*.toml mise/config* .config/mise",
        "the shell runs it when somebody enters the directory",
    ),
    Guarded(
        ".claude .claude.json .mcp.json .agents .amp .augment .cline .codex .continue .copilot .github/hooks .cursor "
        ".factory .fast-agent fastagent.config.* .gemini .goose .junie .kilocode .kimi* .kiro .opencode "
        "opencode.json* .qwen .roo .vibe .windsurf",
        "agents run hooks and servers that it names",
    ),
    Guarded(
        "eslint.config.* .eslintrc* prettier.config.* .prettierrc* stylelint.config.* .stylelintrc*",
        "language servers and formatters run it when a file is opened",
    ),
    Guarded(
        ".npmrc .yarnrc* .yarn .pnp.* .pnpmfile.* pnpm-workspace.yaml bunfig.toml",
        "npm, yarn, pnpm and bun run programs that it names, whatever they are started for",
    ),
    Guarded("node_modules .terraform", "editors and package managers run the programs in it"),
    Guarded(".venv pyvenv.cfg sitecustomize.py usercustomize.py *.pth", PYTHON),
    Guarded(".cargo rust-toolchain*", "cargo and rust-analyzer run programs that it names"),
    Guarded(".mvn gradle/wrapper build.rs", "build tools run it as soon as an editor loads the project"),
    Guarded(".gdbinit .lldbinit .pdbrc", "the debugger runs it when it starts"),
    Guarded(
        ".bashrc .bash_profile .bash_login .profile .zshrc .zshenv .zprofile .zlogin .config/fish .ssh",
        "shells and ssh run it, or what it names, when they start",
    ),
)

_INVISIBLE = pattern(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Characters that file systems ignore in names: Unicode's Default_Ignorable_Code_Point, as ext4 and F2FS do where they
fold case (fs/unicode of Linux); HFS+ ignores some of them (git's `next_hfs_char`, utf8.c)."""

_SHORT_GIT = pattern(r"git~[0-9]+")
"""The short name of `.git` on NTFS with names of eight characters (git's `is_ntfs_dotgit`, path.c)."""


def plain_name(component: str) -> str:
    """The name that the least exact file systems take `component` for: HFS+, APFS, NTFS, FAT."""
    name = component.lower()
    if not name.isascii():
        name = unicodedata.normalize("NFKC", _INVISIBLE.sub("", component)).casefold()
    name = name.partition(":")[0].rstrip(". ") or name
    return ".git" if _SHORT_GIT.fullmatch(name) else name


def why_guarded(components: Sequence[str]) -> str | None:
    """Return the reason of the first table entry that matches a path with these components; None without one."""
    path = f"/{'/'.join(map(plain_name, components))}/"
    return next((guarded.why for guarded, names in _TABLE if names.search(path)), None)


def prepare() -> None:
    """Compile the patterns of `why_guarded`, which takes 4 ms: they are needed before the first question is shown."""
    why_guarded([".no-such-name"])


def why_named(text: str) -> str | None:
    """Return the reason if a text contains a guarded name as a word or part of a path. Takes linear time."""
    plain = text.lower()
    if not plain.isascii():
        plain = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).casefold()
    return next((guarded.why for guarded, names in _WORDS if _has_word(plain, names)), None)


def _has_word(text: str, names: re.Pattern[str]) -> bool:
    found = names.search(text)
    while found is not None:
        at = found.start()
        if found.lastgroup == "end" or at == 0 or not _IN_A_WORD.match(text, at - 1):
            return True
        found = names.search(text, at + 1)
    return False


def _regex(glob: str) -> str:
    return re.escape(glob).replace(r"\*", "[^/]*")


def _words_regex(globs: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern for names at the start of a word, and in the group `end` for those at the end of one.

    A leading or trailing `*` needs no match, one inside a name matches few characters. No lookbehind: that makes a
    search five times as fast.
    """
    ways: dict[bool, list[str]] = {True: [], False: []}
    for glob in globs:
        words = re.escape(glob.strip("*")).replace(r"\*", "[^/]{0,64}")
        ways[glob.startswith("*")].append(words if glob.endswith("*") else words + r"(?![\w-])")
    return pattern("|".join([*ways[False], *(["(?P<end>" + "|".join(ways[True]) + ")"] if ways[True] else [])]))


_IN_A_WORD = pattern(r"[\w.-]")
_TABLE = [(one, pattern(f"/(?:{'|'.join(map(_regex, one.globs))})/")) for one in GUARDED]
_WORDS = [
    (one, _words_regex([*one.globs, *(f"git~{number}" for number in range(10) if one.why is GIT)])) for one in GUARDED
]

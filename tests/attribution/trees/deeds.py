"""What agents do in a work tree, as lines for a shell; and what the user does there."""

from __future__ import annotations

import os
import random
import shlex
import stat
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.attribution.trees.grow import Place

Q = shlex.quote
OLD = "touch -d 2020-02-02"


class Deeds:
    """Each method gives the line that a shell runs in the session's directory; None: it cannot be done now."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._cwd = place.cwd
        self._far = Q(str(place.home.parent / "far"))
        self._flag = Q(str(place.home / "go"))

    def line(self, op: str, rng: random.Random, number: int) -> str | None:
        """The line for an operation of `sequence.DEEDS`."""
        done: str | None = getattr(self, op)(rng, number)
        return done

    def in_background(self, rng: random.Random, number: int) -> str | None:
        """It goes on when the command has ended, until there is a file `go`."""
        path = self._file(rng) or f"new{number}.txt"
        work = f"until [ -e {self._flag} ]; do sleep 0.01; done; echo A{number} >> {Q(path)}; : > {self._flag}{number}"
        return f"({work}) </dev/null >/dev/null 2>&1 &"

    # Files

    def edit(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and rng.choice(
            [
                f"echo A{number} >> {Q(path)}",
                f"sed -i '1s/^/A{number} /' {Q(path)}",
                f"printf 'A{number}\\nonly\\n' > {Q(path)}",
            ]
        )

    def edit_atomically(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"cp -p {Q(path)} .new{number}; echo A{number} >> .new{number}; mv .new{number} {Q(path)}"

    def edit_with_old_time(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"echo A{number} >> {Q(path)}; {OLD} {Q(path)}"

    def add(self, rng: random.Random, number: int) -> str | None:
        where = rng.choice([".", ".", *self._directories()])
        name = rng.choice([f"new{number}.txt", f"new{number}.sh", f".new {number}"])
        return f"echo A{number} > {Q(f'{where}/{name}')}"

    def add_below(self, rng: random.Random, number: int) -> str | None:
        return f"mkdir -p n{number}/o/p; echo A{number} > n{number}/o/p/q; : > n{number}/empty"

    def delete(self, rng: random.Random, number: int) -> str | None:
        path = self._any(rng)
        return path and f"rm -f {Q(path)}"

    def rename(self, rng: random.Random, number: int) -> str | None:
        path = self._any(rng)
        where = rng.choice([".", *self._directories()])
        return path and f"mv {Q(path)} {Q(f'{where}/moved{number}')}"

    def rename_and_edit(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"mv {Q(path)} moved{number}; echo A{number} >> moved{number}"

    def swap(self, rng: random.Random, number: int) -> str | None:
        return _swap(*self._two(rng, self._files()), number)

    def hard_link(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"ln {Q(path)} hard{number}"

    def executable(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"chmod {rng.choice(['+x', '-x'])} {Q(path)}"

    def permissions(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"chmod {rng.choice(['600', '644', '666', '640'])} {Q(path)}; echo A{number} >> {Q(path)}"

    # What is of another kind then

    def file_to_link(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"rm {Q(path)}; ln -s A{number} {Q(path)}"

    def link_to_file(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._links())
        return path and f"rm {Q(path)}; echo A{number} > {Q(path)}"

    def file_to_directory(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"rm {Q(path)}; mkdir {Q(path)}; echo A{number} > {Q(path)}/in; echo A{number} > {Q(path)}/on"

    def directory_to_file(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._directories())
        return path and f"rm -r {Q(path)}; echo A{number} > {Q(path)}"

    # Directories

    def delete_directory(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._directories())
        return path and f"rm -r {Q(path)}"

    def rename_directory(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._directories())
        to = rng.choice([f"dir{number}", f"dir{number}", f"docs/dir{number}"])
        return path and f"mkdir -p {Q(os.path.dirname(to) or '.')}; mv {Q(path)} {Q(to)}"

    def hide_directory(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, [one for one in self._directories() if one.split("/")[0] != "build"])
        return path and f"mkdir -p build; mv {Q(path)} build/dir{number}"

    def rename_and_link(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, [one for one in self._directories() if "/" not in one])
        return path and f"mv {Q(path)} dir{number}; ln -s dir{number} {Q(path)}"

    def swap_directories(self, rng: random.Random, number: int) -> str | None:
        return _swap(*self._two(rng, self._directories()), number)

    def copy_directory(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._directories())
        return path and f"cp -a {Q(path)} copy{number}"

    def move_from_outside(self, rng: random.Random, number: int) -> str | None:
        return f"mv {self._far} far{number}"

    def move_outside(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, self._directories() + self._files())
        return path and f"mv {Q(path)} {self._far}/out{number}"

    # What is ignored

    def ignore(self, rng: random.Random, number: int) -> str | None:
        """Rules change; what was not ignored may be, or the other way round; and files there change."""
        rules = rng.choice(["", "*.txt\n", "src/\n*.log\n", "build/sub/\n", "*\n!*.py\n!.gitignore\n"])
        more = _choice(rng, ["local.conf", "some.log", "build/out.o", "src/other.log", "a.txt"])
        return f"printf {Q(rules)} > .gitignore; [ ! -f {more} ] || echo A{number} >> {more}"

    def ignore_new(self, rng: random.Random, number: int) -> str | None:
        return f"echo A{number} > hidden{number}; echo hidden{number} >> .gitignore"

    def exclude(self, rng: random.Random, number: int) -> str | None:
        """Change the rules in git's own `info/exclude`."""
        if not self._place.is_repository:
            return None
        rules = "d=$(git rev-parse --git-common-dir); mkdir -p $d/info; echo '*.md' >> $d/info/exclude"
        return f"{rules}; echo A{number} > n{number}.md"

    def change_ignored(self, rng: random.Random, number: int) -> str | None:
        found = [path for path in ("local.conf", "some.log", "build/out.o") if (self._cwd / path).is_file()]
        path = _choice(rng, found)
        return path and rng.choice([f"echo A{number} >> {path}", f"rm {path}"])

    def move_in(self, rng: random.Random, number: int) -> str | None:
        """What was ignored is not any more."""
        found = [path for path in ("build/out.o", "local.conf", "some.log") if (self._cwd / path).is_file()]
        path = _choice(rng, found)
        return path and f"mv {path} in{number}.txt"

    # The agent's git

    def git_add(self, rng: random.Random, number: int) -> str | None:
        return self._git(f"echo A{number} > n{number}.txt; git add -A .")

    def git_mv(self, rng: random.Random, number: int) -> str | None:
        found = sorted({path.split("/")[0] for path in self._place.tracked() if "/" in path} | self._place.tracked())
        path = _choice(rng, [one for one in found if os.path.lexists(self._cwd / one) and not one.startswith(".git")])
        return self._git(f"git mv -k -- {Q(path)} gone{number}") if path else None

    def git_rm(self, rng: random.Random, number: int) -> str | None:
        path = _choice(rng, sorted(self._place.tracked()))
        return self._git(f"git rm -q -f --ignore-unmatch {rng.choice(['--cached', ''])} -- {Q(path)}") if path else None

    def git_stash(self, rng: random.Random, number: int) -> str | None:
        return self._git(f"echo A{number} >> {Q(self._file(rng) or 'x')}; git stash -q || true")

    def git_commit(self, rng: random.Random, number: int) -> str | None:
        return self._git(f"echo A{number} > n{number}.txt; git add -A . && git commit -q -m work || true")

    def git_checkout(self, rng: random.Random, number: int) -> str | None:
        return self._git("git checkout -q -- . || true")

    def git_gone(self, rng: random.Random, number: int) -> str | None:
        """The repository itself is moved, removed, or begun anew."""
        if not (self._cwd / ".git").is_dir():
            return None
        line = rng.choice(["rm -rf .git", "rm -rf .git; git init -q", f"mv .git {self._far}/kept.git"])
        return f"{line}; echo A{number} >> {Q(self._file(rng) or 'x')}"

    def _git(self, line: str) -> str | None:
        return line if self._place.is_repository else None

    # The user

    def user_edits(self, rng: random.Random, number: int) -> str | None:
        path = self._file(rng)
        return path and f"echo U{number} >> {Q(path)}"

    def user_adds(self, rng: random.Random, number: int) -> str | None:
        return f"mkdir -p of-user; echo U{number} > of-user/u{number}.txt"

    def user_changes_ignored(self, rng: random.Random, number: int) -> str | None:
        return f"mkdir -p build; echo U{number} > build/u{number}.o; echo U{number} > local.conf"

    # What there is

    def _walk(self) -> list[tuple[str, os.stat_result]]:
        found = []
        for where, directories, names in os.walk(self._cwd):
            directories[:] = [name for name in directories if name != ".git"]
            for name in [*names, *(one for one in directories if not (Path(where) / one / ".git").exists())]:
                path = Path(where) / name
                if name not in (".git", ".gitmodules"):
                    found.append((str(path.relative_to(self._cwd)), path.lstat()))
        return sorted(found, key=lambda one: one[0])

    def _of(self, is_kind: Callable[[int], bool]) -> list[str]:
        return [f"./{path}" if path.startswith("-") else path for path, one in self._walk() if is_kind(one.st_mode)]

    def _files(self) -> list[str]:
        """The regular files that can be written."""
        return [path for path in self._of(stat.S_ISREG) if os.lstat(self._cwd / path).st_mode & 0o200]

    def _links(self) -> list[str]:
        return self._of(stat.S_ISLNK)

    def _directories(self) -> list[str]:
        return self._of(stat.S_ISDIR)

    def _file(self, rng: random.Random) -> str | None:
        return _choice(rng, self._files())

    def _any(self, rng: random.Random) -> str | None:
        return _choice(rng, self._of(stat.S_ISREG) + self._links())

    def _two(self, rng: random.Random, found: Sequence[str]) -> tuple[str, str]:
        """Two of them, of which none is in the other."""
        pairs = [
            (one, other)
            for one in found
            for other in found
            if one < other and not other.startswith(f"{one}/") and not one.startswith(f"{other}/")
        ]
        return rng.choice(pairs) if pairs else ("", "")


def _swap(one: str, other: str, number: int) -> str | None:
    away = f".away{number}"
    return f"mv {Q(one)} {away}; mv {Q(other)} {Q(one)}; mv {away} {Q(other)}" if one else None


def _choice(rng: random.Random, found: Sequence[str]) -> str | None:
    return rng.choice(found) if found else None

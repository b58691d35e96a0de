"""Makes the work trees of sequences, and looks at them."""

from __future__ import annotations

import hashlib
import os
import random
import shutil
import stat
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.attribution.trees.sequence import Sequence

USER = {"GIT_AUTHOR_NAME": "User", "GIT_AUTHOR_EMAIL": "user@example.org", "GIT_CONFIG_NOSYSTEM": "1"}
USER |= {"GIT_COMMITTER_NAME": "User", "GIT_COMMITTER_EMAIL": "user@example.org", "GIT_OPTIONAL_LOCKS": "0"}
SETTINGS = {"gc.auto": "0", "maintenance.auto": "false", "protocol.file.allow": "always", "init.defaultBranch": "main"}

LINES = b"".join(b"line %d of it\n" % number for number in range(12))
CONTENTS = {
    "text": LINES,
    "short": b"one\n",
    "no end": LINES[:-1],
    "crlf": LINES.replace(b"\n", b"\r\n"),
    "mixed": LINES.replace(b"it\n", b"it\r\n", 4),
    "bom": b"\xef\xbb\xbf" + LINES,
    "latin": "zw\u00f6lf\nFl\u00fcsse\n".encode("latin-1"),
    "binary": bytes(range(256)),
    "empty": b"",
    "only an end": b"\n",
}
NAMES = {
    "a.txt": 0o644,
    "b.py": 0o644,
    "with space.txt": 0o644,
    "\u00fc.txt": 0o644,
    "-dash": 0o644,
    "new\nline": 0o644,
    "odd\udcff": 0o644,
    "run.sh": 0o755,
    "mine.sh": 0o700,
    "private": 0o600,
    "group": 0o640,
    "read only": 0o444,
    ".env": 0o600,
    "id_rsa": 0o600,
    "src/a.py": 0o644,
    "src/b.py": 0o644,
    "src/deep/c.py": 0o644,
    "src/deep/run.sh": 0o755,
    "lib/a.py": 0o644,
    "lib/d.txt": 0o644,
    "lib/key.pem": 0o600,
    "docs/e.md": 0o644,
    "x/y/z/f.txt": 0o644,
    "local.conf": 0o644,
    "some.log": 0o644,
    "src/other.log": 0o600,
    "build/out.o": 0o644,
    "build/sub/list.txt": 0o644,
}
IGNORED = "*.log\n/local.conf\nbuild/\n"
"""The first `.gitignore`."""
INNER = ("inner", "module")
"""Directories that may be repositories of their own."""
LINKS = {"link": "a.txt", "to-src": "src", "lib/up": "../a.txt", "dangling": "nowhere"}

Entry = tuple[str, bytes, int]
Tree = dict[str, Entry]
"""By path: `file`, `link` or `directory`; content, or target; permission bits."""


@dataclass(frozen=True)
class Rules:
    """What git ignored at a time: the `files` with rules; paths in `inner` repositories are not asked for."""

    files: dict[str, bytes]
    below: str
    inner: tuple[str, ...]
    tracked: frozenset[str]


@dataclass(frozen=True)
class Place:
    """A work tree; the session works in `cwd`. `top` has the repository, if there is one; `home` is the user's."""

    cwd: Path
    top: Path
    home: Path
    is_repository: bool

    def git(self, *words: str, where: Path | None = None, stdin: bytes = b"", check: bool = True) -> bytes:
        """Run git as the user; return what it printed."""
        return git(self.home, where or self.top, *words, stdin=stdin, check=check)

    def rules(self) -> Rules:
        """The rules of now, about files that are not in repositories of their own."""
        inner = tuple(f"{path}/" for path in INNER if (self.cwd / path / ".git").exists())
        files = {}
        for where, _, names in os.walk(self.top):
            path = Path(where, ".gitignore")
            if ".gitignore" in names and not path.is_symlink():
                files[str(path.relative_to(self.top))] = path.read_bytes()
        if (self.top / ".git").exists():
            common = Path(os.fsdecode(self.git("rev-parse", "--path-format=absolute", "--git-common-dir").strip()))
            exclude = common / "info" / "exclude"
            if exclude.exists():
                files[".git/info/exclude"] = exclude.read_bytes()
        return Rules(files, str(self.cwd.relative_to(self.top)), inner, frozenset(self.tracked()))

    def ignored(self, rules: Rules, paths: Iterable[str]) -> set[str]:
        """Return the paths, relative to `cwd`, that these rules ignore, and that were not tracked then."""
        top = self.home / "rules"
        shutil.rmtree(top, ignore_errors=True)
        git(self.home, self.home, "init", "-q", "--template=", str(top))
        for name, data in rules.files.items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_bytes(data)
        (top / rules.below).mkdir(parents=True, exist_ok=True)
        asked = [path for path in paths if not path.startswith(rules.inner) and path not in rules.tracked]
        stdin = b"".join(os.fsencode(path) + b"\0" for path in asked)
        words = ["check-ignore", "--no-index", "-z", "--stdin"]
        found = git(self.home, top / rules.below, *words, stdin=stdin, check=False)
        return {os.fsdecode(path) for path in found.split(b"\0")[:-1]}

    def tracked(self) -> set[str]:
        """The paths, relative to `cwd`, in the user's index."""
        if not (self.top / ".git").exists():
            return set()
        return {os.fsdecode(path) for path in self.git("ls-files", "-z", where=self.cwd).split(b"\0")[:-1]}


def git(home: Path, where: Path, *words: str, stdin: bytes = b"", check: bool = True) -> bytes:
    """The user's git, with nothing of the machine's settings."""
    settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
    env = {**os.environ, **USER, "HOME": str(home), "XDG_CONFIG_HOME": str(home)}
    done = subprocess.run(["git", *settings, *words], cwd=where, env=env, input=stdin, capture_output=True, check=False)
    if check and done.returncode:
        raise AssertionError((words, done.stderr))
    return done.stdout


def grow(directory: Path, sequence: Sequence) -> Place:
    """Make the work tree of a sequence in a new directory."""
    directory.mkdir(parents=True)
    rng = random.Random(sequence.roll)
    home = directory / "home"
    home.mkdir()
    for name in ("far/a.txt", "far/deep/b.txt"):
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_bytes(f"{name}\n".encode() + LINES)
    top = directory / "work"
    place = Place(top / "below" if sequence.place == "below" else top, top, home, sequence.format != "none")
    if not place.is_repository:
        place.cwd.mkdir(parents=True)
        _lay_out(place.cwd, rng)
        return place
    _begin(place, sequence, directory)
    place.cwd.mkdir(exist_ok=True)
    _lay_out(place.cwd, rng)
    if sequence.place == "below":
        (top / "above.txt").write_text("above\n")
    if "attributes" in sequence.extras:
        (place.cwd / ".gitattributes").write_text("*.txt text eol=lf\n*.py ident\n")
    if "info/exclude" in sequence.extras:
        common = Path(os.fsdecode(place.git("rev-parse", "--path-format=absolute", "--git-common-dir").strip()))
        (common / "info").mkdir(exist_ok=True)
        (common / "info" / "exclude").write_text("docs/\n")
    if sequence.index == "none":
        return place
    if "submodule" in sequence.extras and sequence.format == "sha1":
        _add_submodule(place, directory)
    untracked = rng.sample(sorted(NAMES), 3)
    place.git("add", "-A")
    place.git("rm", "-q", "--cached", "--ignore-unmatch", "--", *untracked, where=place.cwd)
    forced = [name for name in ("some.log", "build/out.o") if rng.random() < 0.3 and (place.cwd / name).exists()]
    if forced:
        place.git("add", "-f", "--", *forced, where=place.cwd)
    place.git("commit", "-q", "--allow-empty", "-m", "first")
    _settle(place, sequence, rng)
    if "clone inside" in sequence.extras:
        _commit(place, place.cwd / "inner", sequence.format)
    return place


def _above(place: Place, name: str) -> str:
    return str((place.cwd / name).relative_to(place.top))


def _begin(place: Place, sequence: Sequence, directory: Path) -> None:
    words = ["init", "-q", "--template=", "-b", "main", f"--object-format={sequence.format}"]
    if sequence.place in ("linked", "bare"):
        main = directory / "main"
        bare = ["--bare"] if sequence.place == "bare" else []
        place.git(*words, *bare, str(main), where=directory)
        tree = os.fsdecode(place.git("mktree", where=main).strip())
        commit = os.fsdecode(place.git("commit-tree", "-m", "none", tree, where=main).strip())
        place.git("update-ref", "refs/heads/main", commit, where=main)
        place.git("worktree", "add", "-q", "-b", "other", str(place.top), "main", where=main)
    else:
        place.git(*words, str(place.top), where=directory)


def _lay_out(cwd: Path, rng: random.Random) -> None:
    for name in sorted(rng.sample(sorted(NAMES), rng.randint(8, 18))):
        path = cwd / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = CONTENTS[rng.choice(["text"] * 6 + sorted(CONTENTS))]
        path.write_bytes(data and os.fsencode(name).replace(b"\n", b" ") + b"\n" + data)
        path.chmod(NAMES[name])
    for name in rng.sample(sorted(LINKS), 2):
        if (cwd / name).parent.is_dir():
            (cwd / name).symlink_to(LINKS[name])
    if rng.random() < 0.8:
        (cwd / ".gitignore").write_text(IGNORED)
    if rng.random() < 0.3 and (cwd / "src").is_dir():
        (cwd / "src" / ".gitignore").write_text("deep/\n")
    if rng.random() < 0.3:
        (cwd / "lib").mkdir(exist_ok=True)
        (cwd / "lib").chmod(0o700)


def _add_submodule(place: Place, directory: Path) -> None:
    origin = directory / "origin"
    _commit(place, origin, "sha1")
    place.git("submodule", "--quiet", "add", str(origin), "module")


def _commit(place: Place, top: Path, object_format: str) -> None:
    """Make a repository with a commit of two files."""
    place.git("init", "-q", "--template=", f"--object-format={object_format}", str(top), where=place.home)
    (top / "of").mkdir()
    for name in ("in.txt", "of/other.txt"):
        (top / name).write_bytes(f"{top.name} {name}\n".encode() + LINES)
    place.git("add", "-A", where=top)
    place.git("commit", "-q", "-m", "inner", where=top)


def _settle(place: Place, sequence: Sequence, rng: random.Random) -> None:
    """The kind of index, and what the user has not committed."""
    tracked = sorted(path for path in place.tracked() if (place.cwd / path).is_file())
    texts = [path for path in tracked if not (place.cwd / path).is_symlink()]
    match sequence.index:
        case "split":
            place.git("update-index", "--split-index")
        case "sparse" | "sparse index":
            more = ["--sparse-index"] if sequence.index == "sparse index" else []
            place.git("sparse-checkout", "set", "--cone", *more, _above(place, "src"), _above(place, "lib"))
        case "version 4":
            place.git("update-index", "--index-version", "4")
        case "assumed" if len(texts) > 1:
            one, other = rng.sample(texts, 2)
            place.git("update-index", "--assume-unchanged", "--", one, where=place.cwd)
            place.git("update-index", "--skip-worktree", "--", other, where=place.cwd)
    if "packed refs" in sequence.extras:
        place.git("pack-refs", "--all")
        place.git("repack", "-q", "-a", "-d")
    texts = [path for path in texts if (place.cwd / path).is_file() and os.access(place.cwd / path, os.W_OK)]
    texts = [path for path in texts if not path.startswith(".git") and "module" not in path]
    for extra in ("changed", "staged"):
        if extra in sequence.extras and texts:
            path = place.cwd / rng.choice(texts)
            if path.stat().st_mode & 0o200:
                path.write_bytes(path.read_bytes() + f"{extra} by the user\n".encode())
            if extra == "staged":
                place.git("add", "--", str(path), check=False)  # not outside of a sparse checkout


def look(root: Path) -> Tree:
    """All that is there, without `.git`."""
    found: Tree = {}
    for where, directories, names in os.walk(root):
        for name in [*names, *directories]:
            path = os.path.join(where, name)
            relative = os.path.relpath(path, root)
            status = os.lstat(path)
            if ".git" in relative.split(os.sep):
                continue
            bits = stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[relative] = ("link", os.fsencode(os.readlink(path)), 0)
            elif stat.S_ISDIR(status.st_mode):
                found[relative] = ("directory", b"", bits)
            else:
                found[relative] = ("file", Path(path).read_bytes(), bits)
    return found


def look_at_git(directory: Path) -> dict[str, tuple[str, int, int]]:
    """Every file and directory in the user's repositories: a hash of its bytes, its permissions, its time."""
    found = {}
    walked = ((Path(where), directories) for where, directories, _ in os.walk(directory))
    tops = [where for where, directories in walked if where.name != "empty.git" and _is_repository(where, directories)]
    for top in tops:
        for where, _, names in os.walk(top):
            for path in (Path(where), *(Path(where, name) for name in names)):
                status = os.lstat(path)
                data = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
                found[str(path.relative_to(directory))] = (digest, status.st_mode, status.st_mtime_ns)
    return found


def _is_repository(where: Path, directories: list[str]) -> bool:
    return where.name == ".git" or {"objects", "refs"} <= set(directories)

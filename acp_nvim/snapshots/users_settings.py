"""What the user's configuration says that matters for snapshots; only named files are read, so that nothing is run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, NamedTuple

import anyio
import anyio.to_thread

from acp_nvim.limits import EXCLUDES_BYTES
from acp_nvim.limits.git import GIT_LOOK_SECONDS
from acp_nvim.snapshots.enclosing import Enclosing
from acp_nvim.snapshots.failures import GitFailedError
from acp_nvim.snapshots.run_git import run_git
from acp_nvim.workspace.regular_files import read_regular

_KEYS: Final = r"^(core\.(excludesfile|attributesfile|autocrlf)|extensions\.objectformat)$"
_NO_CONVERSION: Final = (b"", b"false", b"no", b"off", b"0")
_SYSTEM_ATTRIBUTES: Final = "/etc/gitattributes"


class Settings(NamedTuple):
    """Of one repository, or of a directory without one."""

    excludes_file: str
    """`core.excludesFile`, or git's default."""
    attributes_file: str
    """`core.attributesFile`, or git's default."""
    autocrlf: bool
    is_sha256: bool

    def may_convert(self, repository: Enclosing) -> bool:
        """Whether files may be stored in other bytes, whatever the work tree's `.gitattributes` files say. Blocks."""
        files = (self.attributes_file, _SYSTEM_ATTRIBUTES, _own_attributes(repository))
        return self.autocrlf or any(os.path.isfile(file) for file in files)

    def own_attributes(self, repository: Enclosing) -> bytes:
        """The rules of the repository that are not in its work tree. Blocks."""
        try:
            return read_regular(_own_attributes(repository), EXCLUDES_BYTES)
        except OSError:
            return b""


async def users_settings(directory: Path, configuration: str | None) -> Settings:
    """Read them. `configuration` is the repository's file; `directory` is a git directory of ours."""
    home = await anyio.to_thread.run_sync(os.path.expanduser, "~")
    default = os.path.join(os.environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git")
    usual = [os.path.join(home, ".gitconfig"), os.path.join(default, "config"), "/etc/gitconfig"]
    found: dict[bytes, bytes] = {}
    with anyio.move_on_after(GIT_LOOK_SECONDS):  # one of the user's may include what waits when it is read
        for file in [*([configuration] if configuration else []), *usual]:
            # what the repository includes is not read: anybody may have made that
            includes = "--no-includes" if file == configuration else "--includes"
            words = ["config", "--file", file, includes, "--type=path", "-z", "--get-regexp", _KEYS]
            if not await anyio.to_thread.run_sync(os.path.isfile, file):
                continue
            try:
                answer = await run_git(directory, words, env={"HOME": home})
            except GitFailedError:
                continue  # it has none, or git cannot read it
            said = dict(row.partition(b"\n")[::2] for row in answer.split(b"\0")[:-1])
            found = said | found
    return Settings(
        os.fsdecode(found.get(b"core.excludesfile", os.fsencode(os.path.join(default, "ignore")))),
        os.fsdecode(found.get(b"core.attributesfile", os.fsencode(os.path.join(default, "attributes")))),
        found.get(b"core.autocrlf", b"").lower() not in _NO_CONVERSION,
        found.get(b"extensions.objectformat", b"sha1").lower() != b"sha1",
    )


def _own_attributes(repository: Enclosing) -> str:
    return os.path.join(repository.common_dir, "info", "attributes")

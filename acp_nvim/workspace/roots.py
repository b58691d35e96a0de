"""Which paths belong to a session: those really below its directories, symlinks resolved."""

from __future__ import annotations

import os
from collections.abc import Sequence

from acp_nvim.workspace.refusals import NotAllowedError


class Roots:
    """The directories of a session (ACP "Session Setup": the working directory is the boundary)."""

    def __init__(self, directories: Sequence[str]) -> None:
        self._directories = [os.path.realpath(directory) for directory in directories]

    def __repr__(self) -> str:
        return f"<Roots {self._directories}>"

    def resolve(self, path: str) -> str:
        """The real path of `path`. Raises `NotAllowedError` when it is relative or lies outside."""
        if not os.path.isabs(path):
            raise NotAllowedError(f"{path} is not an absolute path, which the protocol asks for")
        real = os.path.realpath(path)
        for directory in self._directories:
            if real == directory or real.startswith(directory.rstrip(os.sep) + os.sep):
                return real
        raise NotAllowedError(f"{path} is outside of the session's {self._named()}")

    def _named(self) -> str:
        several = len(self._directories) > 1
        return ("directories " if several else "directory ") + ", ".join(self._directories)

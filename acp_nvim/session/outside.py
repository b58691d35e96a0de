"""Files outside of the session's directories: an error for the agent."""

from __future__ import annotations

from typing import Literal

from acp_nvim.workspace.roots import Roots

Access = Literal["read", "write"]
"""What an agent wants to do with a file."""


class Outside:
    """Decides for one session which files its agent gets at."""

    def __init__(self, roots: Roots) -> None:
        self._roots = roots

    def __repr__(self) -> str:
        return f"<Outside of {self._roots!r}>"

    async def resolve(self, path: str, access: Access) -> str:
        """The real path of `path`, which the agent may read or write. Raises `NotAllowedError`."""
        return self._roots.resolve(path)

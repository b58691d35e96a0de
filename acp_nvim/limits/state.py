"""Bounds of the state directory as a whole."""

from __future__ import annotations

from typing import Final

MEGABYTES: Final = 2000.0
"""Size of the state directory, when the user set none: as much as a few large projects need for weeks."""

UNUSED_SECONDS: Final = 30 * 24 * 3600.0
"""A workspace that no Neovim has used for so long is removed; checkpoints are not kept longer either."""

GONE_SECONDS: Final = 7 * 24 * 3600.0
"""The same when its directory is gone: one that was moved away for a while, or is on a disk that is elsewhere, may come
back."""

TEMPORARY_SECONDS: Final = 3600.0
"""Age at which a temporary file of git is removed: git writes to one all the time until it is done, or was killed."""

SMALL: Final = 10
"""A workspace below this part of the limit is not cleaned for what others take: to clean costs a first snapshot."""

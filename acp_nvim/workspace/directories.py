"""The directories that a session may use besides its working directory, as the user configured them."""

from __future__ import annotations

import os
from collections.abc import Iterable


def additional(cwd: str, configured: Iterable[str]) -> tuple[list[str], list[str]]:
    """The absolute paths of those that are there, in order; and, as they were written, those that are not.

    `~` is the user's home; the rest is relative to `cwd`, which itself is none of them.
    """
    there: dict[str, None] = {}
    missing: dict[str, None] = {}
    for one in configured:
        path = os.path.abspath(os.path.join(cwd, os.path.expanduser(one)))
        if os.path.isdir(path):
            there[path] = None
        else:
            missing[one] = None
    there.pop(os.path.abspath(cwd), None)
    return list(there), list(missing)

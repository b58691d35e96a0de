"""Regular expressions that are compiled when they are first used: compiling them all would delay the first prompt."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Pattern:
    """Becomes the compiled expression, one attribute at a time."""

    def __init__(self, source: str | bytes, flags: re.RegexFlag) -> None:
        self._source = source
        self._flags = flags

    def __repr__(self) -> str:
        return f"<pattern {self._source!r}>"

    def __getattr__(self, name: str) -> Any:
        value = getattr(re.compile(self._source, self._flags), name)  # `re` keeps what it has compiled
        setattr(self, name, value)
        return value


def pattern(source: AnyStr, flags: re.RegexFlag = re.NOFLAG) -> re.Pattern[AnyStr]:
    """Return the expression, to be used through its methods only: `re`'s functions do not take it.

    Its first use raises `re.error` when it is malformed.
    """
    return cast("re.Pattern[AnyStr]", _Pattern(source, flags))

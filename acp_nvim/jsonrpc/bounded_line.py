"""Keeps a long JSON line within bounds while it arrives: what long lists have too much, and long strings, is dropped.

What was dropped is counted in a member `LEFT_OUT` of the object around it: `{"entries": 999500}`. All objects around
that have such a member too, with 0 for the member in which something is missing.
"""

from __future__ import annotations

import re
from typing import Final

from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES, NESTED, STRING_BYTES

VALUES: Final = 100_000
"""All of them in one message: Python takes 10 MB and 20 ms for them. With more the message is lost."""

_TO_BRACKET: Final = re.compile(rb'(?:[^"\[\]{}]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_IN_STRING: Final = re.compile(rb'(?:[^"\\]++|\\u[0-9a-fA-F]{4}|\\[^u])*+', re.DOTALL)
_KEY: Final = re.compile(rb'("(?:[^"\\]|\\.)*")\s*:\s*\Z', re.DOTALL)
_ESCAPE: Final = re.compile(rb"\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_ESCAPE_BYTES: Final = 6
_KEY_BYTES: Final = 256
_OPENING: Final = b"{["


class TooMuchError(Exception):
    """The message cannot be kept: too many values, nested too deeply; in words for the user."""


class _Container:
    """An array or an object that has not ended: `key` is the quoted name that it has, `left` what is missing in it."""

    __slots__ = ("count", "is_object", "key", "left")

    def __init__(self, is_object: bool, key: bytes) -> None:
        self.is_object = is_object
        self.key = key
        self.count = 0
        self.left: dict[bytes, int] = {}


class BoundedLine:
    """One JSON text, fed in pieces. `kept` is what is left of it, and JSON if the text is.

    With `whole_strings` no string is cut. Raises `TooMuchError`.
    """

    def __init__(self, whole_strings: bool = False) -> None:
        self.kept = bytearray()
        self._whole_strings = whole_strings
        self._stack: list[_Container] = []
        self._values = 0
        self._rest = b""  # the beginning of an escape in a string
        self._string: int | None = None  # bytes of the string that has not ended
        self._cut = 0  # characters left out of it
        self._name = b""  # the quoted name of the member that it is the value of
        self._dropping = 0  # open brackets since elements are dropped, the list's own included
        self._is_json = True

    def __repr__(self) -> str:
        return f"<BoundedLine {len(self.kept)} bytes, depth {len(self._stack)}>"

    def feed(self, piece: bytes) -> None:
        """Take the next piece of the line; strings beyond the bounds do not come into `kept`."""
        data, self._rest = self._rest + piece, b""
        at = 0
        while at < len(data) and self._is_json:
            at = self._between(data, at) if self._string is None else self._within_string(data, at)
        if at < len(data):
            self.kept += data[at:]  # no JSON: whoever decodes it will say so

    def end(self) -> bytearray:
        """All that is left of it, now that it has ended."""
        self.kept += self._rest
        return self.kept

    # --- between strings ---------------------------------------------------------------------------------------------

    def _between(self, data: bytes, at: int) -> int:
        """Up to the next bracket, or a string that does not end in `data`."""
        found = _TO_BRACKET.match(data, at)
        end = found.end() if found else at
        segment = data[at:end]
        if self._dropping != 1:
            self._keep(segment)
        if b"," in segment:
            self._count(segment)
        if end == len(data):
            return end
        byte = data[end : end + 1]
        if byte == b'"':
            self._string, self._name = 0, self._last_name()
            self._keep(byte)
        elif byte in _OPENING:
            self._open(byte)
        else:
            self._close(byte)
        return end + 1

    def _keep(self, data: bytes) -> None:
        if not self._dropping:
            self.kept += data

    def _count(self, segment: bytes) -> None:
        """Elements that begin in it; the first that is too many ends what is kept of its list."""
        if self._dropping > 1 or not self._stack:
            return
        plain = _STRING.sub(b"", segment) if b'"' in segment else segment
        commas, inner = plain.count(b","), self._stack[-1]
        inner.count += commas
        if self._dropping:
            return
        self._values += commas
        if self._values > VALUES:
            raise TooMuchError(f"a message with more than {VALUES:,} values")
        if inner.count >= LIST_ENTRIES:
            self._end_list(segment, inner)

    def _end_list(self, segment: bytes, inner: _Container) -> None:
        """`segment` is what was kept last; from the comma on that is one too many nothing is."""
        allowed = LIST_ENTRIES - 1 - (inner.count - _commas(segment))
        at = 0
        for match in re.finditer(rb'"(?:[^"\\]++|\\.)*+"|,', segment, re.DOTALL):
            if match[0] == b",":
                if not allowed:
                    at = match.start()
                    break
                allowed -= 1
        del self.kept[len(self.kept) - len(segment) + at :]
        self._dropping = 1

    def _open(self, byte: bytes) -> None:
        if self._dropping:
            self._dropping += 1
            return
        self._values += 1
        if len(self._stack) >= NESTED:
            raise TooMuchError("a message is nested too deeply")
        self._stack.append(_Container(byte == b"{", self._last_name()))
        self.kept += byte

    def _last_name(self) -> bytes:
        """The quoted name of the member whose value begins now; that of an element is empty."""
        if self._dropping or not (self._stack and self._stack[-1].is_object):
            return b'""'
        name = _KEY.search(bytes(self.kept[-_KEY_BYTES:]))
        return name[1] if name else b'""'

    def _close(self, byte: bytes) -> None:
        if self._dropping > 1:
            self._dropping -= 1
            return
        if not self._stack:
            self._is_json = False
            self.kept += byte
            return
        inner = self._stack.pop()
        if self._dropping:
            self._dropping = 0
            inner.left[b'""'] = inner.left.get(b'""', 0) + inner.count + 1 - LIST_ENTRIES
        if inner.left:
            self._tell(inner)
        self.kept += byte

    def _tell(self, inner: _Container) -> None:
        """Write down what is missing in it, and that something is missing, in what is around it."""
        if inner.is_object:
            members = b",".join(b"%b:%d" % item for item in inner.left.items())
            self.kept += b',"%b":{%b}' % (LEFT_OUT.encode(), members)
        elif not self._stack:
            raise TooMuchError(f"a batch of more than {LIST_ENTRIES:,} messages")
        if self._stack:
            around = self._stack[-1]
            name = inner.key if around.is_object else b'""'
            missing = 0 if inner.is_object else inner.left.get(b'""', 0)
            around.left[name] = around.left.get(name, 0) + (missing if around.is_object else 0)

    # --- in a string -------------------------------------------------------------------------------------------------

    def _within_string(self, data: bytes, at: int) -> int:
        found = _IN_STRING.match(data, at)
        end = found.end() if found else at
        self._take_text(data[at:end])
        if end == len(data):
            return end
        if data[end : end + 1] == b'"':
            self._end_string()
            return end + 1
        if len(data) - end >= _ESCAPE_BYTES:
            self._is_json = False
            return end
        self._rest = data[end:]
        return len(data)

    def _take_text(self, text: bytes) -> None:
        if self._dropping or self._string is None:
            return
        room = len(text) if self._whole_strings else max(STRING_BYTES - self._string, 0)
        if len(text) <= room:
            self._string += len(text)
            self.kept += text
            return
        self._string = STRING_BYTES
        if not self._cut:
            self._drop_half_character()
        self._cut += len(text.translate(None, _CONTINUATION)) - sum(len(one) - 1 for one in _ESCAPE.findall(text))

    def _drop_half_character(self) -> None:
        """What is kept of the string may end within one."""
        while self.kept[-1] & 0xC0 == 0x80:
            del self.kept[-1]
        if self.kept[-1] >= 0xC0:
            del self.kept[-1]
            self._cut += 1

    def _end_string(self) -> None:
        self._string = None
        if self._cut and self._stack:
            left = self._stack[-1].left
            left[self._name] = left.get(self._name, 0) + self._cut
        self._cut = 0
        self._keep(b'"')


def _commas(segment: bytes) -> int:
    return _STRING.sub(b"", segment).count(b",")


def bounded(line: bytes | bytearray) -> bytearray:
    """Return a whole line within the bounds. Raises `TooMuchError`."""
    text = BoundedLine()
    text.feed(bytes(line))
    return text.end()

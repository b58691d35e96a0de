"""Bounds a long JSON line while it arrives: excess list entries and the ends of long strings are dropped.

The object around them counts what was dropped in a member `LEFT_OUT`: `{"entries": 999500}`. So do all outer objects,
with 0 for the member in which something is missing.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Final

import msgspec

from acp_nvim.lazy import pattern
from acp_nvim.limits import LEFT_OUT, LIST_ENTRIES, NESTED, STRING_BYTES

VALUES: Final = 100_000
"""Values in one message: Python takes 10 MB and 20 ms for them. A message with more is skipped."""

_TEXT: Final = rb'[^"\\]*+(?>(?:\\.[^"\\]*+)*)'
_TO_BRACKET: Final = pattern(rb'[^"\[\]{}]*+(?>(?:"[^"\\]*+(?>(?:\\.[^"\\]*+){0,100})"[^"\[\]{}]*+)*)', re.DOTALL)
"""Stops at a string with many escapes, too: one that does not end in the piece would be searched in vain."""
_STRING: Final = pattern(rb'"%b"' % _TEXT, re.DOTALL)
_STRING_OR_COMMA: Final = pattern(rb'"%b"|,' % _TEXT, re.DOTALL)
_IN_STRING: Final = pattern(rb'[^"\\]*+(?>(?:(?:\\u[0-9a-fA-F]{4}|\\[^u])[^"\\]*+)*)', re.DOTALL)
_KEY: Final = pattern(rb'("(?:[^"\\]|\\.)*")\s*:\s*\Z', re.DOTALL)
_ESCAPE: Final = pattern(rb"\\u[0-9a-fA-F]{4}|\\.", re.DOTALL)
_CONTINUATION: Final = bytes(range(0x80, 0xC0))
_ESCAPE_BYTES: Final = 6
_ESCAPED_QUOTES: Final = 16
"""Quotes of a text that are looked at one by one, before the escapes of all the rest are replaced."""
_BACKSLASH: Final = ord("\\")
_KEY_BYTES: Final = 256
_OPENING: Final = b"{["
_NO_KEY: Final = b'""'


class TooMuchError(Exception):
    """The message has too many values or is nested too deeply; the text says which, for the user."""


class _Container(msgspec.Struct):
    """An array or object whose end was not read yet; `key` is its quoted name, `left` counts what is missing."""

    is_object: bool
    key: bytes
    count: int = 0
    left: dict[bytes, int] = msgspec.field(default_factory=dict)


class BoundedLine:
    """One JSON text, fed in pieces; `kept` is the bounded text, which is JSON if the input is.

    `was_cut`: something was dropped from it. With `whole_strings` no string is cut. Raises `TooMuchError`.
    """

    def __init__(self, whole_strings: bool = False) -> None:
        self.kept = bytearray()
        self.was_cut = False
        self._whole_strings = whole_strings
        self._stack: list[_Container] = []
        self._values = 0
        self._rest = b""  # the beginning of an escape in a string
        self._string: int | None = None  # length in bytes of the current string; None between strings
        self._cut = 0  # characters dropped from that string
        self._name = _NO_KEY  # quoted name of the member whose value it is
        self._dropping = 0  # open brackets since elements are dropped, including the list's own
        self._is_json = True

    def feed(self, piece: bytes) -> None:
        """Append the next piece of the line to `kept`, without what is beyond the bounds."""
        data, self._rest = self._rest + piece, b""
        at = 0
        while at < len(data) and self._is_json:
            at = self._between(data, at) if self._string is None else self._within_string(data, at)
        if at < len(data):
            self.kept += data[at:]  # not JSON, which the decoder will report

    def end(self) -> bytearray:
        """Return the bounded text after the last piece was fed."""
        self.kept += self._rest
        return self.kept

    # --- between strings ---------------------------------------------------------------------------------------------

    def _between(self, data: bytes, at: int) -> int:
        """Process up to the next bracket, or to the start of a string that is long, or does not end in `data`."""
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
        """Count the elements that begin in `segment`; start to drop at the first one beyond the limit."""
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
            allowed = LIST_ENTRIES - 1 - (inner.count - commas)
            starts = (match.start() for match in _STRING_OR_COMMA.finditer(segment) if match[0] == b",")
            excess = next(islice(starts, allowed, None))
            del self.kept[len(self.kept) - len(segment) + excess :]
            self._dropping, self.was_cut = 1, True

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
        """Return the quoted name of the member whose value begins now; `_NO_KEY` for an element of a list."""
        if self._dropping or not (self._stack and self._stack[-1].is_object):
            return _NO_KEY
        name = _KEY.search(bytes(self.kept[-_KEY_BYTES:]))
        return name[1] if name else _NO_KEY

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
            inner.left[_NO_KEY] = inner.left.get(_NO_KEY, 0) + inner.count + 1 - LIST_ENTRIES
        if inner.left:
            self._record_missing(inner)
        self.kept += byte

    def _record_missing(self, inner: _Container) -> None:
        """Write what is missing in `inner` into it, and note it for the container around it."""
        if inner.is_object:
            members = b",".join(b"%b:%d" % item for item in inner.left.items())
            self.kept += b',"%b":{%b}' % (LEFT_OUT.encode(), members)
        elif not self._stack and inner.left[_NO_KEY]:  # not only something inside of a message
            raise TooMuchError(f"a batch of more than {LIST_ENTRIES:,} messages")
        if self._stack:
            around = self._stack[-1]
            is_list_of_object = around.is_object and not inner.is_object
            missing = inner.left.get(_NO_KEY, 0) if is_list_of_object else 0
            around.left[inner.key] = around.left.get(inner.key, 0) + missing

    # --- in a string -------------------------------------------------------------------------------------------------

    def _within_string(self, data: bytes, at: int) -> int:
        end = self._end_of_kept(data, at)
        if end is None:
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

    def _end_of_kept(self, data: bytes, at: int) -> int | None:
        """Find the end of a string's text, or that of `data`, many times faster than the pattern; None if it is cut.

        The escapes are not checked: the decoder does that, because all of the text is kept.
        """
        is_cut = not self._whole_strings and (self._string or 0) + len(data) - at > STRING_BYTES
        if is_cut or self._dropping:
            return None
        start = at  # of what was not looked at: no escape begins before it
        for _ in range(_ESCAPED_QUOTES):
            quote = data.find(b'"', start)
            if quote < 0:
                return _end_of_escapes(data, at)
            if not _is_escaped(data, at, quote):
                return quote
            start = quote + 1
        plain = data[start:].replace(b"\\\\", b"..").replace(b'\\"', b"..")
        found = plain.find(b'"')
        return start + found if found >= 0 else _end_of_escapes(data, at)

    def _take_text(self, text: bytes) -> None:
        if self._dropping or self._string is None:
            return
        room = len(text) if self._whole_strings else max(STRING_BYTES - self._string, 0)
        if len(text) <= room:
            self._string += len(text)
            self.kept += text
            return
        self._string, self.was_cut = STRING_BYTES, True
        if not self._cut:
            self._drop_half_character()
        self._cut += len(text.translate(None, _CONTINUATION)) - sum(len(one) - 1 for one in _ESCAPE.findall(text))

    def _drop_half_character(self) -> None:
        """Remove the beginning of a UTF-8 character from the end of `kept`."""
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


def _is_escaped(data: bytes, start: int, at: int) -> bool:
    """Whether the byte at `at` follows an odd number of backslashes, counted back to `start`."""
    text = at
    while text > start and data[text - 1] == _BACKSLASH:
        text -= 1
    return (at - text) % 2 == 1


def _end_of_escapes(data: bytes, start: int) -> int:
    """Return the end of the text from `start` on, without an escape of which only the beginning is there."""
    slash = data.rfind(b"\\", max(start, len(data) - _ESCAPE_BYTES + 1))
    if slash < 0 or _is_escaped(data, start, slash):
        return len(data)
    length = _ESCAPE_BYTES if data[slash + 1 : slash + 2] == b"u" else 2
    return len(data) if slash + length <= len(data) else slash

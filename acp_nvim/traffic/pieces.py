"""Masks texts that come in pieces, so that a secret which several pieces share is in none of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Final, Literal

from acp_nvim.traffic.masking import MASK, Masker, Path, cut, decoded, encoded
from acp_nvim.traffic.secret_kinds import find_secrets

_BEFORE_BYTES: Final = 400
"""Of the text before a piece: every kind of secret is recognized by as much of its beginning."""
_BEGINNING_BYTES: Final = 160
"""Of a long secret: with more of the same characters it is recognized as well as with all of them."""
_KNOWN_BYTES: Final = 2048
"""Longest part of a known secret that is searched for in pieces."""
_FIRST_BYTES: Final = 4
"""Beginning of a known secret by which it is recognized at the end of a piece: many words end with a shorter one."""
_FILLER: Final = b"A" * 16
_TEXTS: Final = 256
"""Texts of one connection that grow at the same time; of older ones the beginning is forgotten."""

_NO_PIECES: Final = frozenset(
    {
        *("jsonrpc", "method", "sessionId", "sessionUpdate", "toolCallId", "messageId", "terminalId", "type", "kind"),
        *("status", "mimeType", "uri", "path", "role", "stopReason", "optionId", "protocolVersion", "name"),
    }
)
"""Members of messages that are complete in each message."""


class Pieces:
    """One text that grows by pieces. Each piece is masked when it comes; nothing is held back.

    What may be the beginning of a secret at the end of a piece is masked, too, also if it turns out to be none.
    """

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._before = b""
        self._is_masked = False  # what was fed last ends with a mask

    def feed(self, piece: str, *, grows: bool = True) -> str:
        """Return the next piece of the text with secrets masked; empty if it only goes on with a masked one.

        If the text does not grow any more, nothing is masked only because it may become a secret.
        """
        data = encoded(piece)
        spans = self._spans(data, grows=grows)
        return decoded(self._cut(data, spans)) if spans else piece

    def line(self, line: str) -> str:
        """Return a whole line, which has no line end, with secrets masked, also those of several lines."""
        data = encoded(line)
        spans = self._spans(data + b"\n", grows=False)
        return decoded(self._cut(data, [(start, min(end, len(data))) for start, end in spans])) if spans else line

    def _spans(self, data: bytes, *, grows: bool) -> list[tuple[int, int]]:
        """Return where the secrets in the next bytes of the text are, sorted."""
        if not data:
            return []
        text, begin = self._before + data, len(self._before)
        known = [part for secret in self._masker.known for part in _parts(secret)]
        spans = [*_known_spans(text, known), *find_secrets(text, grows=grows)]
        if begin:  # it may also be the whole text again
            spans += [(start + begin, end + begin) for start, end in find_secrets(data, grows=grows)]
        self._before = _remembered(text, spans, max(map(len, known), default=0))
        return sorted((max(start, begin) - begin, end - begin) for start, end in spans if end > begin)

    def _cut(self, data: bytes, spans: list[tuple[int, int]]) -> bytes:
        """Return the bytes with a mask in place of each span, but only one for a secret in several pieces."""
        goes_on = self._is_masked and spans[0][0] == 0
        masked = cut(data, spans)
        self._is_masked = any(end == len(data) for _, end in spans)
        return masked.removeprefix(MASK.encode()) if goes_on else masked


def _parts(secret: bytes) -> Iterator[bytes]:
    for start in range(0, len(secret), _KNOWN_BYTES):
        part = secret[start : start + _KNOWN_BYTES]
        if start == 0 or len(part) > _FIRST_BYTES:
            yield part


def _known_spans(text: bytes, known: list[bytes]) -> Iterator[tuple[int, int]]:
    """Yield where known secrets are, and at the end of the text where one may begin."""
    for secret in known:
        at = text.find(secret)
        while at >= 0:
            yield at, at + len(secret)
            at = text.find(secret, at + len(secret))
        at = text.find(secret[:_FIRST_BYTES], max(0, len(text) - len(secret) + 1))
        while at >= 0:
            if secret.startswith(text[at:]):
                yield at, len(text)
                break
            at = text.find(secret[:_FIRST_BYTES], at + 1)


def _remembered(text: bytes, spans: list[tuple[int, int]], longest: int) -> bytes:
    """Return what must be known of a text to recognize secrets that begin in it, in bounded length."""
    kept = max(0, len(text) - longest - _BEFORE_BYTES)
    start = min((start for start, end in spans if end >= len(text) - len(_FILLER)), default=len(text))
    if start - _BEFORE_BYTES >= kept:
        return text[kept:]
    first = max(0, start - _BEFORE_BYTES)
    if start + _BEGINNING_BYTES >= kept:
        return text[first:]
    return text[first : start + _BEGINNING_BYTES] + _FILLER + text[kept:]


class MessagePieces:
    """Masks the messages of one connection, whose notifications contain pieces of texts."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker
        self._texts: dict[tuple[Any, ...], Pieces] = {}

    def message(self, direction: Literal["received", "sent"], message: Any) -> Any:
        """Return a copy of a message, in the order of the connection, with secrets masked."""
        if not isinstance(message, dict) or "id" in message or not isinstance(message.get("params"), dict):
            return self._masker.value(message, partial(self._piece, {}, ()))
        params = message["params"]
        update = params.get("update")
        about = [update.get(name) for name in ("sessionUpdate", "toolCallId")] if isinstance(update, dict) else []
        key = (direction, *map(str, (message.get("method"), params.get("sessionId"), *about)))
        return self._masker.value(message, partial(self._piece, self._texts, key))

    def line(self, direction: Literal["received", "sent"], line: str) -> str:
        """Return a line that is no message with secrets masked."""
        return self._text(self._texts, (direction,)).line(line)

    def _piece(self, texts: dict[tuple[Any, ...], Pieces], key: tuple[str, ...], path: Path, text: str) -> str:
        if path and path[-1] in _NO_PIECES:
            return self._masker.text(text)
        return self._text(texts, (*key, path)).feed(text)

    def _text(self, texts: dict[tuple[Any, ...], Pieces], key: tuple[Any, ...]) -> Pieces:
        known = texts.pop(key, None) or Pieces(self._masker)
        texts[key] = known  # the newest is the last
        if len(texts) > _TEXTS:
            del texts[next(iter(texts))]
        return known

"""The encoding of a file, and its bytes; tests/nvim/test_file_encodings.py asks Neovim about the same."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from acp_nvim.workspace.encoding import decode, encode
from acp_nvim.workspace.refusals import FileRefusedError

WIDE = ["utf-16", "utf-16le", "ucs-2", "ucs-2le", "ucs-4", "ucs-4le", "utf-32", "utf-32le", "utf-16be", "UCS-2LE"]
NARROW = ["utf-8", "latin1", "cp1252", "koi8-r", "euc-jp", "sjis", "cp936", "gb18030", "8bit-cp1251", "2byte-euc-kr"]
NO_CODEC = ["", "nosuch", "euc-tw", "rot13", "hex", "utf-7", "utf-8-sig", "punycode", "undefined", "ä", "a\0b", "../x"]

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


def refusal(text: str, encoding: str) -> str:
    """Return the reason why the text is not encoded."""
    with pytest.raises(FileRefusedError) as caught:
        encode("/f", text, encoding)
    return str(caught.value)


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        (b"", "", "utf-8"),
        (b"abc\r\n", "abc\r\n", "utf-8"),
        ("ä☃😀".encode(), "ä☃😀", "utf-8"),
        (b"\xef\xbb\xbfx", "\ufeffx", "utf-8"),
        (b"\xef\xbb\xbf", "\ufeff", "utf-8"),
        (b"gr\xfc\xdfe\x80", "grüße\x80", "latin1"),
        (b"\xef\xbb\xbfgr\xfc", "ï»¿grü", "latin1"),
        (b"\xff\xfea\0", "\ufeffa", "utf-16le"),
        (b"\xfe\xff\0a", "\ufeffa", "utf-16"),
        (b"\xff\xfe", "\ufeff", "utf-16le"),
        (b"\xff\xfe\x3d\xd8\0\xde", "\ufeff😀", "utf-16le"),
        (b"\xff\xfe\0\0a\0\0\0", "\ufeffa", "ucs-4le"),
        (b"\0\0\xfe\xff\0\0\0a", "\ufeffa", "ucs-4"),
        (b"\xff\xfe\xfd", "ÿþý", "latin1"),  # half a unit too much
        (b"x" * 8192 + b"\0", "x" * 8192 + "\0", "utf-8"),
    ],
)
def test_without_a_hint_marks_come_first_then_utf_8_then_latin1(data: bytes, text: str, encoding: str) -> None:
    assert decode("/f", data) == (text, encoding)
    assert encode("/f", text, encoding) == data


@pytest.mark.parametrize("data", [b"\x7fELF\0", b"x" * 8191 + b"\0", b"\xff\xfea\0b", b"\xfe\xff\0a\xd8\x3d\0\n"])
@pytest.mark.parametrize("hint", [None, "utf-8", "latin1", "euc-jp"])
def test_a_nul_near_the_beginning_is_binary(data: bytes, hint: str | None) -> None:
    with pytest.raises(FileRefusedError, match=r"^/f is a binary file$"):
        decode("/f", data, hint)


@pytest.mark.parametrize("encoding", WIDE + NARROW)
@pytest.mark.parametrize("text", ["", "a", "a\nb\n", "a\r\nb", "a\rb\r"])
def test_a_file_stays_in_the_encoding_of_its_buffer(encoding: str, text: str) -> None:
    assert decode("/f", encode("/f", text, encoding), encoding) == (text, encoding)


@pytest.mark.parametrize("encoding", WIDE)
@given(text=TEXTS)
def test_any_text_of_wide_units_is_read_as_it_was_written(encoding: str, text: str) -> None:
    assume("2" not in encoding or "32" in encoding or max(text, default="") <= "\uffff")
    assume(not text.startswith("\ufffe"))  # the mark of the other order
    for whole in (text + "\n", "\ufeff" + text):
        assert decode("/f", encode("/f", whole, encoding), encoding) == (whole, encoding)


@given(TEXTS)
def test_what_is_utf_8_is_read_as_utf_8_whatever_the_buffer_was_in(text: str) -> None:
    for hint in (None, "utf-8", "latin1", "cp1252", "nosuch", *WIDE):
        assert decode("/f", f"{text}ä\n".encode(), hint)[0] == f"{text}ä\n"


@given(st.binary(max_size=40), st.sampled_from([None, *WIDE, *NARROW, *NO_CODEC, "iso-2022-jp"]))
def test_any_bytes_are_a_text_that_makes_the_same_bytes_or_binary(data: bytes, hint: str | None) -> None:
    try:
        text, encoding = decode("/f", data, hint)
    except FileRefusedError:
        assert b"\0" in data
        return
    assert text.encode().decode() == text
    if encoding in ("utf-8", "latin1", *WIDE):  # others have several bytes for one character
        assert encode("/f", text, encoding) == data


@pytest.mark.parametrize(
    ("hint", "data", "text", "encoding"),
    [
        ("cp1252", b"\x80 gr\xfc", "€ grü", "cp1252"),
        ("cp1252", "€".encode(), "€", "utf-8"),
        ("cp1252", b"abc", "abc", "cp1252"),
        ("CP1252", b"\x80", "€", "CP1252"),
        ("euc-jp", "日本".encode("euc-jp"), "日本", "euc-jp"),
        ("8bit-koi8-r", "я".encode("koi8-r"), "я", "8bit-koi8-r"),
        ("EUC_JP", "日本".encode("euc-jp"), "日本", "EUC_JP"),
        ("macroman", b"\xdb", "€", "macroman"),
        ("euc-jp", b"\xff\xe4", "ÿä", "latin1"),
        ("nosuch", b"\xe4", "ä", "latin1"),
        ("", b"\xe4", "ä", "latin1"),
        ("", b"a", "a", "utf-8"),
        ("iso-2022-jp", "日".encode("iso2022_jp"), "日", "iso-2022-jp"),
        ("iso-2022-jp", "日".encode(), "日", "utf-8"),
        ("utf-8", b"\xff\xfea\0", "\ufeffa", "utf-16le"),
        ("latin1", b"\xff\xfea\0", "\ufeffa", "utf-16le"),
        ("utf-16le", b"\xfe\xff\0a", "\ufeffa", "utf-16"),
        ("ucs-2le", b"\xff\xfea\0", "\ufeffa", "ucs-2le"),
        ("ucs-2le", b"\xff\xfe\x3d\xd8\0\xde", "\ufeff😀", "utf-16le"),
        ("ucs-4le", b"\xff\xfea\0", "\ufeffa", "utf-16le"),
        ("utf-16le", b"\xff\xfe\0\0a\0\0\0", "\ufeff\0a\0", "utf-16le"),
        ("utf-16le", b"\xef\xbb\xbfabc", "\ufeffabc", "utf-8"),
        ("utf-16le", b"a\0", "a", "utf-16le"),
        ("utf-16", b"", "", "utf-16"),
        ("utf-16", b"de", "摥", "utf-16"),
        ("utf-16", b"abc\n", "abc\n", "utf-8"),
        ("utf-16", b"abc", "abc", "utf-8"),
        ("utf-16", b"\n\x3c\x4e\x8d", "\u0a3c\u4e8d", "utf-16"),  # a byte like a line end, but no UTF-8
        ("utf-16", b"\xe4\n\xf6", "ä\nö", "latin1"),
    ],
)
def test_the_encoding_of_the_buffer_is_a_hint(hint: str, data: bytes, text: str, encoding: str) -> None:
    assert decode("/f", data, hint) == (text, encoding)


@pytest.mark.parametrize("encoding", NO_CODEC)
def test_an_encoding_that_python_lacks_is_refused_for_writing(encoding: str) -> None:
    assert refusal("a", encoding).startswith(f"/f was not written: its encoding is {encoding!r}, which only Neovim can")


@pytest.mark.parametrize(
    ("encoding", "text", "named"),
    [
        ("latin1", "a\nb\n€", "'€' (U+20AC) of line 3"),
        ("koi8-r", "ä", "'ä' (U+00E4) of line 1"),
        ("ucs-2le", "\n😀😀", "'😀' (U+1F600) of line 2"),
        ("utf-8", "a\ud800", "U+D800 of line 1"),
        ("utf-16", "\udfff", "U+DFFF of line 1"),
        ("ascii", "\ufeff", "'\\ufeff' (U+FEFF) of line 1"),
    ],
)
def test_a_character_that_the_encoding_lacks_is_named(encoding: str, text: str, named: str) -> None:
    assert refusal(text, encoding).startswith(f"/f was not written: its encoding, {encoding}, lacks {named}. ")


def test_the_words_can_go_over_the_wire() -> None:
    assert refusal("\ud800", "utf-8").encode()


def test_byte_orders_are_those_that_neovim_means() -> None:
    assert encode("/f", "\ufeff", "utf-16") == codecs.BOM_UTF16_BE
    assert encode("/f", "\ufeff", "ucs-2le") == codecs.BOM_UTF16_LE
    assert encode("/f", "\ufeff", "ucs-4") == codecs.BOM_UTF32_BE
    assert encode("/f", "\ufeff", "utf-32le") == codecs.BOM_UTF32_LE

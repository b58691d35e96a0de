"""Each secret of the table is masked, whole or in pieces, and what only talks about secrets stays readable."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.traffic.log import TRAFFIC_MESSAGE_BYTES
from acp_nvim.traffic.masking import MASK, Masker
from acp_nvim.traffic.pieces import Pieces
from tests.support.examples import examples
from tests.support.secret_table import READABLE, SECRETS, Secret, shown

MASKER = Masker()
LEAK = 6
"""Characters of a secret in a row that pieces may show: those by which it is recognized."""
AROUND = [("", ""), ("Some words before.\n", "\nSome words after."), ("see:\n```\n", "\n```\n")]


@pytest.mark.parametrize("one", SECRETS, ids=lambda one: one.kind)
def test_a_secret_is_masked(one: Secret) -> None:
    for before, after in AROUND:
        text = before + one.text + after
        masked = MASKER.text(text)
        assert MASK in masked
        assert len(one.secret) < 4 or shown(one.secret, masked) <= 3
        assert masked.startswith(before)
        assert masked.strip().endswith(after.strip())
        assert MASKER.text(masked) == masked
        assert not MASKER.clean(json.dumps({"text": text}).encode())
        assert MASKER.value({"text": [text]}) == {"text": [masked]}
        assert one.secret not in "".join(MASKER.lines(text.split("\n")))


@pytest.mark.parametrize("text", READABLE)
def test_what_is_no_secret_stays_readable(text: str) -> None:
    for before, after in AROUND:
        assert MASKER.text(before + text + after) == before + text + after
        assert [Pieces(MASKER).line(line) for line in text.split("\n")] == text.split("\n")


@pytest.mark.parametrize("one", SECRETS, ids=lambda one: one.kind)
def test_a_secret_is_masked_in_pieces_of_one_character_and_in_halves(one: Secret) -> None:
    text = "Some words before.\n" + one.text + "\nSome words after."
    middle = text.index(one.secret) + len(one.secret) // 2
    for pieces in (list(text), [text[:middle], text[middle:]], [text]):
        stream = Pieces(MASKER)
        masked = "".join(map(stream.feed, pieces))
        assert masked.startswith("Some words before.\n")
        assert masked.endswith("words after.")
        assert len(one.secret) < 4 or shown(one.secret, masked) <= LEAK


@settings(max_examples=examples(60))
@given(st.sampled_from(SECRETS), st.sampled_from(AROUND), st.lists(st.integers(0, 600), max_size=12))
def test_a_secret_is_masked_in_any_pieces(one: Secret, around: tuple[str, str], cuts: list[int]) -> None:
    text = around[0] + one.text + around[1]
    ends = sorted({min(cut, len(text)) for cut in cuts} | {0, len(text)})
    stream = Pieces(MASKER)
    masked = "".join(stream.feed(text[start:end]) for start, end in pairwise(ends))
    assert len(one.secret) < 4 or shown(one.secret, masked) <= LEAK
    assert masked.startswith(around[0][:-1])


@settings(max_examples=examples(40))
@given(st.text(min_size=8, max_size=3000).filter(lambda text: text not in MASK), st.integers(1, 50))
def test_a_known_secret_is_masked_in_any_pieces(secret: str, size: int) -> None:
    text = f"it is {secret} there, and {secret}"
    stream = Pieces(Masker([secret]))
    masked = "".join(stream.feed(text[start : start + size]) for start in range(0, len(text), size))
    assert secret not in masked
    assert masked.startswith("it is ")


def test_a_secret_of_several_lines_is_in_none_of_them() -> None:
    for one in SECRETS:
        stream = Pieces(MASKER)
        masked = [stream.line(line) for line in ["before", *one.text.split("\n"), "and more words"]]
        assert (masked[0], masked[-1]) == ("before", "and more words")
        for line in one.secret.split("\n"):
            assert len(line) < 4 or line not in "\n".join(masked), one.kind


def test_a_very_long_secret_is_masked_in_any_pieces_and_its_end_is_found() -> None:
    key = "\n".join(f"{number:064d}" for number in range(2000))
    for secret, front, end in (
        (key, "-----BEGIN PRIVATE KEY-----\n", "\n-----END PRIVATE KEY-----"),
        ("a1" * 50_000, "Cookie: ", "\n"),
        ("Qx7Zt2Lm" * 9_000, "ghp" + "_", " "),
        ("Qx7Zt2Lm " * 9_000, '"password": "', '"'),
    ):
        text = front + secret + end
        for size in (100, 777, 8192):
            stream = Pieces(MASKER)
            masked = [stream.feed(text[start : start + size]) for start in range(0, len(text), size)]
            assert len("".join(masked)) < 100
            assert stream.feed("and more words").strip() == "and more words"


UNITS = [
    *("token-", "_key", "eyJ-", "sk-", '"a_key_', "a.", "://", "bearer ", "-----begin", "basic aaaa", "password: <"),
    *(
        "password=$",
        "login x password ",
        "mysql -",
        "://a:b@",
        "+",
        "\\n",
        '\\"',
        "-----BEGIN PRIVATE KEY-----+",
        "-u a:",
    ),
    *(
        "key: a ",
        "key: [",
        "<token>",
        "password: str ",
        "--token ",
        "password: |\n ",
        "authorization: bearer <",
        " ",
        "a:",
    ),
    *(
        "-----BEGIN PRIVATE KEY-----\na",
        "auth: a = ",
        "token ? : a",
        "://" + "a" * 300,
        "AKIA" + "A" * 16 + " ",
        "-----BEGIN PRIVATE KEY-----\nabc" + " " * 300 + "!",
        "-----BEGIN PRIVATE KEY-----\nabc" + "\\n" * 300 + "!",
        "[",
        "9",
    ),
]


@pytest.mark.parametrize("unit", UNITS)
def test_no_text_takes_more_than_linear_time(unit: str) -> None:
    """Bounded by the time limit of each test: in a quarter of the longest message, what is not linear takes minutes."""
    text = unit * (TRAFFIC_MESSAGE_BYTES // 4 // len(unit))
    assert MASKER.text(text)
    stream = Pieces(MASKER)
    assert "".join(stream.feed(text[start : start + 4096]) for start in range(0, len(text), 4096))

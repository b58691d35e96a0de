"""SECURITY.md and doc/development/security.md: each sentence has a row, and each row tests that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.support.places import ROOT

PROMISES = ROOT / "SECURITY.md"
PAGE = ROOT / "doc" / "development" / "security.md"
OUTSIDE = {"Report a vulnerability", "Out of scope"}
"""Sections that promise nothing."""
NO_PROMISE = "not a promise: "
SENTENCE = re.compile(r"(?<=[.:])(?<!\.\.\.:)\*{0,2}\s+(?=[A-Z`*])")
TEST = re.compile(r"`(tests/[\w/]+\.py)?(?:::)?(test_\w+)?`")


def sections(text: str) -> dict[str, str]:
    """The texts below the headings of the second level, by heading."""
    parts = (part.partition("\n") for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:])
    return {heading.removesuffix(", and what it does not"): body for heading, _, body in parts}


def sentences(body: str) -> Iterator[str]:
    """The sentences of its paragraphs and lists, and the first cells of its tables."""
    text = ""
    for line in [*body.splitlines(), ""]:
        if text and (not line or line.startswith(("- ", "| "))):
            yield from (plain(one) for one in SENTENCE.split(text))
            text = ""
        if line.startswith("| "):
            yield plain(line.split(" | ")[0].removeprefix("| "))
        elif not line.startswith("|--"):
            text += f" {line.strip().removeprefix('- ')}"
            text = text.strip()


def plain(text: str) -> str:
    """Text without marks of emphasis."""
    return text.replace("*", "").strip()


def rows(body: str) -> list[tuple[str, str]]:
    """The rows of a table below its head."""
    cells = [line.strip("| ").split(" | ", 1) for line in body.splitlines() if line.startswith("| ")]
    return [(one, other) for one, other in cells if one != "sentence"]


def problems(promises: str, page: str) -> list[str]:
    """What of the one is not in the other."""
    found = []
    shown = sections(page)
    for heading, body in sections(promises).items():
        if heading in OUTSIDE:
            continue
        said = [one for one in sentences(body) if one != "through acp_nvim" and one != "what"]
        for beginning, proof in rows(shown.get(heading, "")):
            matching = [one for one in said if one.startswith(beginning)]
            if len(matching) != 1:
                found.append(f"{heading}: {len(matching)} sentences begin with {beginning!r}")
            else:
                said.remove(matching[0])
            found += wrong_tests(beginning, proof)
        found += [f"{heading}: no row for {one!r}" for one in said]
    return found


def wrong_tests(beginning: str, proof: str) -> list[str]:
    """What is wrong with the last cell of a row."""
    if proof.startswith(NO_PROMISE) or proof == "the rows below":
        return []
    found, path, named = [], "", 0
    for match in TEST.finditer(proof):
        path = match[1] or path
        named += 1
        if not (ROOT / path).is_file():
            found.append(f"{beginning}: there is no {path}")
        elif match[2] and match[2] not in known_tests(path):
            found.append(f"{beginning}: {path} has no {match[2]}")
    return found or ([] if named else [f"{beginning}: no test is named"])


@cache
def known_tests(path: str) -> frozenset[str]:
    """The names of the tests in a file."""
    return frozenset(re.findall(r"^ *(?:async )?def (test_\w+)", (ROOT / path).read_text("utf-8"), re.MULTILINE))


def test_each_sentence_has_its_tests() -> None:
    assert problems(PROMISES.read_text("utf-8"), PAGE.read_text("utf-8")) == []


def test_what_is_missing_left_over_or_wrong_is_found() -> None:
    promises = (
        "# S\n\n## One\n\nIt holds. It *always*\nholds.\n\n- A list. Has two.\n\n"
        "| what | where |\n|---|---|\n| a row | there |\n"
    )
    here = Path(__file__).relative_to(ROOT)
    name = test_each_sentence_has_its_tests.__name__
    said = ["It holds", "It always holds", "A list", "Has two", "a row"]
    page = "## One\n\n| sentence | shown by |\n|---|---|\n"
    whole = page + "".join(f"| {one} | `{here}::{name}` |\n" for one in said)
    assert problems(promises, whole) == []
    assert problems(promises, whole.replace("| Has two", "| Had two")) == [
        "One: 0 sentences begin with 'Had two'",
        "One: no row for 'Has two.'",
    ]
    for wrong in (f"`{here}::test_that_is_not_there`", "`tests/nowhere.py`", "a look at it", "`a look at it`"):
        assert len(problems(promises, whole.replace(f"`{here}::{name}`", wrong, 1))) == 1

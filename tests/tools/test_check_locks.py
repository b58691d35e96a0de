"""The check of the lock files: it holds here, and finds each way in which they can be wrong."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.support.places import ROOT
from tests.tools.check_locks import NPM, problems


@pytest.fixture
def tree(tmp_path):
    """A copy of all that the check reads."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    for place in NPM:
        (tmp_path / place).mkdir(parents=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(ROOT / place / name, tmp_path / place)
    return tmp_path


def test_the_lock_files_fit():
    assert problems(ROOT) == []


@pytest.mark.parametrize(
    ("file", "old", "new", "problem"),
    [
        ("pyproject.toml", '"anyio>=4.5,<5"', '"anyio>=9,<10"', "run.txt: anyio is locked at .*asks for <10,>=9"),
        (
            "pyproject.toml",
            '"anyio>=4.5,<5"',
            '"anyio", "trio"',
            "run.txt: trio, .*pyproject.toml asks for, is not locked",
        ),
        ("pyproject.toml", '"ruff>=0.17,<0.18"', '"ruff>=9"', "dev.txt: ruff is locked at"),
        ("pyproject.toml", 'fuzz = ["', 'more = []\nfuzz = ["', "requirements/more.txt is missing"),
        ("pyproject.toml", "fuzz = [", "other = [", "requirements/fuzz.txt is of nothing"),
        ("requirements/run.txt", r"(?s)(anyio==\S+) .*?(?=greenlet)", r"\1\n", "run.txt: this is not .*: anyio=="),
        ("requirements/run.txt", r"sha256:[0-9a-f]{5}", "sha256:", "run.txt: this is not a package"),
        ("requirements/run.txt", r"sha256:[0-9a-f]{5}", "md5:00000", "run.txt: this is not a package"),
        ("requirements/run.txt", r"(?m)^anyio==", "anyio>=", "run.txt: this is not a package"),
        ("requirements/run.txt", r"\A", "--index-url somewhere\n", "run.txt: this is not a package"),
        (
            "requirements/run.txt",
            r"(?s)\nidna==.*?(?=\nmsgpack)",
            "",
            "run.txt: idna, which anyio asks for, is not locked",
        ),
        ("requirements/dev.txt", r"(?<=\nanyio==)[\d.]+", "4.4.1", "dev.txt: anyio is not the one of"),
        ("tests/peers/package-lock.json", '"integrity": .*', "", "peers/package-lock.json: .*has no hash"),
        ("tests/peers/package.json", '"zod": "4', '"zod": "3', "peers/package-lock.json: package.json asks"),
        ("tests/tools/stylua/package-lock.json", '"license"', '"resolved"', "it says where packages come from"),
    ],
)
def test_what_is_wrong_is_found(tree, file, old, new, problem):
    text = (tree / file).read_text()
    changed, count = re.subn(re.escape(old) if file == "pyproject.toml" else old, new, text, count=1)
    assert count == 1
    (tree / file).write_text(changed)
    assert re.search(problem, "\n".join(problems(tree)))

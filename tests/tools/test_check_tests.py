"""The checks of tests and of docstrings can fail, and say where."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.check_docstrings import offenders
from tests.tools.check_tests import problems

LOOP = "asserts only in a loop that may be empty (line 2)"
NOTHING = "asserts nothing"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("tests", "acp_nvim"):
        (tmp_path / folder).mkdir()
    (tmp_path / "acp_nvim/product.py").write_text("def check():\n    raise ValueError\n")
    (tmp_path / "tests/helpers.py").write_text("def sees(x):\n    assert x\n\n\ndef makes(x):\n    return x\n")
    return tmp_path


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    x = 1", NOTHING),
        ("    assert 1", None),
        ("    sees(1)", None),
        ("    makes(1)", NOTHING),
        ("    product.check()", NOTHING),
        ("    with pytest.raises(OSError): pass", None),
        ("    for x in makes(1): assert x", LOOP),
        ("    for x in []: assert x", LOOP),
        ("    for x in (1, 2): assert x", None),
        ("    for x in makes(1): assert x\n    assert 1", None),
    ],
)
def test_a_test_that_cannot_fail_is_found(root: Path, body: str, found: str | None) -> None:
    (root / "tests/test_it.py").write_text(
        f"def test_it():\n{body}\n\n\nimport pytest, product\nfrom tests.helpers import makes, sees\n"
    )
    assert list(problems(root)) == ([f"tests/test_it.py:1: test_it {found}"] if found else [])


def test_private_names_of_the_product_are_counted(root: Path) -> None:
    (root / "tests/fake.py").write_text(
        "class Fake:\n    def __init__(self, one):\n        self._own = one._theirs\n\n\n"
        "def of(fake, patch, module):\n    patch.setattr(module, '_seam', 1)\n    return fake._own, super()._more\n"
    )
    found = list(problems(root, most_private=1))
    assert found[:2] == ["tests/fake.py:7: _seam", "tests/fake.py:3: _theirs"]
    assert list(problems(root, most_private=2)) == []


def test_docstrings_that_say_too_little_are_found(root: Path) -> None:
    (root / "acp_nvim/product.py").write_text(
        '"""Module."""\n\n\n'
        'def wait(limit: float, max_bytes: int, seconds: float | None) -> None:\n    """Wait for it."""\n\n\n'
        'def cut(most: int) -> None:\n    """Cut the text after `most` characters of the first line."""\n\n\n'
        "def _private(limit: int) -> None:\n    pass\n\n\n"
        'def told() -> None:\n    """See `Editor`."""\n'
    )
    (root / "acp_nvim/demo_project").mkdir()
    (root / "acp_nvim/demo_project/sample.py").write_text("def greet() -> None:\n    pass\n")
    short, unnamed = offenders(root)
    assert short == ["acp_nvim/product.py:4: wait: Wait for it."]
    assert unnamed == ["acp_nvim/product.py:4: wait: what does the number 'limit' count?"]

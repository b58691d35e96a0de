"""The name of a file in its directory, where the file system takes others for it."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from acp_nvim.workspace.other_names import in_listing


def folding(fold: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Make `lstat` find files by any name with the same `fold`, as some file systems do."""
    real = os.lstat

    def lstat(path: str) -> os.stat_result:
        found = Path(path).anchor
        for name in Path(path).parts[1:]:
            same = [one for one in os.listdir(found) if fold(one) == fold(name)]
            found = os.path.join(found, name if name in same else same[0] if same else name)
        return real(found)

    monkeypatch.setattr(os, "lstat", lstat)


def short(name: str) -> str:
    """Fold a name roughly like FAT."""
    return f"{name[:3]}~1".lower() if "~" in name or len(name) > 8 else name.lower()


@pytest.mark.parametrize(
    ("fold", "name", "listed"),
    [
        (str.lower, "SRC/Cfg.PY", "src/cfg.py"),
        (str.lower, "src/cfg.py", "src/cfg.py"),
        (str.lower, "SRC/new.py", "src/new.py"),
        (lambda name: unicodedata.normalize("NFC", name), "e\u0301.py", "\u00e9.py"),
        (short, "lon~1", "long name.py"),
        (str, "SRC/cfg.py", "SRC/cfg.py"),
        (str, "a~b", "a~b"),
    ],
)
def test_the_listed_name_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fold: Callable[[str], str], name: str, listed: str
) -> None:
    (tmp_path / "src").mkdir()
    for file in ("src/cfg.py", "\u00e9.py", "long name.py", "a~b"):
        (tmp_path / file).touch()
    folding(fold, monkeypatch)
    assert in_listing(f"{tmp_path}/{name}", str(tmp_path)) == f"{tmp_path}/{listed}"


def test_two_names_of_one_file_are_no_other_spelling(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.link(tmp_path / "a", tmp_path / "A")
    for name in ("a", "A"):
        assert in_listing(f"{tmp_path}/{name}", str(tmp_path)) == f"{tmp_path}/{name}"

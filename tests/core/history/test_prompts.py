"""The prompts that were sent in a project: a file that Lua reads, and an older one."""

from __future__ import annotations

import json
from pathlib import Path

from acp_nvim.history.records import PROMPTS_BYTES, remember


def texts(path: Path) -> list[str]:
    return [json.loads(line)["text"] for line in path.read_text().splitlines()]


def test_a_file_that_grows_becomes_the_older_one_and_nothing_recent_is_lost(tmp_path: Path) -> None:
    path, older = tmp_path / "prompts" / "it.jsonl", tmp_path / "prompts" / "it.jsonl.1"
    for number in range(20):
        remember(path, f"{number} " + "x" * 40_000, 1)
    assert sorted(path.parent.iterdir()) == [path, older]
    assert sum(one.stat().st_size for one in (path, older)) < 2 * (PROMPTS_BYTES + 50_000)
    assert [text.split()[0] for text in texts(older) + texts(path)] == [str(number) for number in range(7, 20)]


def test_a_prompt_that_fills_the_file_by_itself_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    remember(path, "x" * PROMPTS_BYTES, 1)
    assert not path.exists()


def test_bytes_that_are_no_utf_8_stay(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    remember(path, "a \udcff ü", 1)
    assert path.read_bytes() == b'{"time": 1, "text": "a ' + b"\xff" + ' ü"}\n'.encode()


def test_files_of_older_versions_are_the_user_s_alone_from_now_on(tmp_path: Path) -> None:
    path = tmp_path / "it.jsonl"
    path.touch(0o644)
    remember(path, "a prompt", 1)
    assert path.stat().st_mode & 0o777 == 0o600

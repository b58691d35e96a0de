"""An agent's own records in the project: listed apart, counted apart, and taken back by no command for many files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.nvim.attribution import Project, texts

TREE = {"a.txt": b"a\n", ".fast-agent/mine.txt": b"mine\n", "u.txt": b"u\n"}
KEEPS = (
    "os.makedirs('.fast-agent/s', exist_ok=True); "
    "write('.fast-agent/s/1.json', '{}\\n'); write('fastagent.jsonl', '{}\\n')"
)
RECORDS = {".fast-agent/s/1.json": "state", "fastagent.jsonl": "state"}
KEPT = {".fast-agent/s/1.json": "{}\n", "fastagent.jsonl": "{}\n"}


@pytest.fixture(params=["the user's", "the agent's"])
def project(request, editor, tmp_path: Path) -> Project:
    """A project with globs from the user's configuration, or from the agent's data file."""
    globs = {"state": [".fast-agent/**", "fastagent.jsonl"]}
    found = Project(editor, tmp_path, **({"name": "fast-agent"} if request.param == "the agent's" else globs))
    found.begin(TREE)
    return found


def counts(project: Project) -> dict[str, Any]:
    """Return the counts of the review, as a statusline gets them."""
    return project.nvim.lua("return require('acp_nvim').status().review") or {}


def test_an_agents_own_records(project: Project) -> None:
    project.turn(f"edit('a.txt', 'a\\nby the agent\\n')\n{KEEPS}")
    project.until_whose({**RECORDS, "a.txt": "agent"})
    for bang in ("", "!"):
        project.reject_all(bang)
        project.restore(bang)
        assert texts(project.cwd, *KEPT) == KEPT
    assert texts(project.cwd, "a.txt") == {"a.txt": "a\n"}
    assert project.whose() == RECORDS
    assert project.heard()["fastagent.jsonl"] == {"state"}
    project.until_hunks("fastagent.jsonl", [(0, 1, [])])
    project.nvim.command("AcpReview reject")
    project.nvim.wait_until(lambda: texts(project.cwd, *KEPT) != KEPT, what="what was rejected by itself")


def test_a_turn_in_which_it_only_keeps_records(project: Project) -> None:
    for number in range(3):
        project.turn(f"{KEEPS}\nwrite('.fast-agent/s/{number}.json', '{{}}\\n')")
    assert set(project.whose().values()) == {"state"}
    assert counts(project).get("files", 0) == 0, counts(project)
    told = [line for line in project.nvim.chat_text().splitlines() if line.startswith("Changed")]
    assert told
    assert all(line.endswith("of the agent's own records") for line in told), told
    project.reject_all()
    assert texts(project.cwd, *KEPT) == KEPT


def test_the_users_own_file_among_its_records(project: Project) -> None:
    mine = ".fast-agent/mine.txt"
    go = project.go()
    project.start(f"{KEEPS}\nagent.note(did=True)\nuntil({go!r})")
    project.script.wait_note("did")
    project.nvim.command(f"edit {project.cwd / mine}")
    project.nvim.api("buf_set_lines", 0, -1, -1, True, ["typed"])
    project.nvim.command("write")
    Path(go).touch()
    project.finish()
    assert project.whose() == RECORDS
    project.reject_all("!")
    assert texts(project.cwd, mine) == {mine: "mine\ntyped\n"}


def test_records_outlive_a_restart(editor, tmp_path: Path, project: Project) -> None:
    project.turn(KEEPS)
    project.nvim.close()
    later = Project(editor, tmp_path, project)
    later.nvim.command(f"AcpChat {later.name}")
    later.until_whose(RECORDS)
    later.reject_all("!")
    assert texts(later.cwd, *KEPT) == KEPT

"""Which files of a project its MCP servers run, and what counts as a change of them."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.agents import mcp_programs
from acp_nvim.agents.mcp_programs import FILE_BYTES, MOST_PLACES, digest, named_files, of_text
from acp_nvim.agents.mcp_servers import listed

FILES = ("run.sh", "server.js", "pkg/__main__.py", "src/tool/__init__.py", "docs/a.md", "app/main.py", "bin/x", "plain")

CASES: list[tuple[dict[str, Any], set[str]]] = [
    ({"command": "./run.sh"}, {"run.sh"}),
    ({"command": "{root}/run.sh"}, {"run.sh"}),
    ({"command": "docs/../run.sh"}, {"run.sh"}),
    ({"command": "bash", "args": ["run.sh"]}, {"run.sh"}),
    ({"command": "bash", "args": ["plain"]}, {"plain"}),
    ({"command": "sh", "args": ["-c", "cd /; exec '{root}/run.sh' --now"]}, {"run.sh"}),
    ({"command": "sh", "args": ["-c", "true && ./bin/x|cat"]}, {"bin/x"}),
    ({"command": "node", "args": ["--require=./hook.js", "server.js"]}, {"hook.js", "server.js"}),
    ({"command": "node", "args": ["dist/not-yet.js"]}, {"dist/not-yet.js"}),
    ({"command": "node", "args": ["server"]}, {"server.js"}),
    ({"command": "node", "args": ["./server"]}, {"server", "server.js"}),
    ({"command": "node", "args": ["-r./server", "app/main"]}, {"server", "server.js", "app/main"}),
    ({"command": "ruby", "args": ["-r./run.sh"]}, {"run.sh"}),
    ({"command": "python", "args": ["-m", "pkg"]}, {"pkg", "pkg.py"}),
    ({"command": "python3", "args": ["-mpkg.sub"]}, {"pkg/sub", "pkg/sub.py"}),
    ({"command": "sh", "args": ["-c", "python -m pkg"]}, {"pkg", "pkg.py"}),
    ({"command": "uv", "args": ["run", "--directory", "app", "main.py"]},
     {"app", "app/main.py", "app/pyproject.toml", "main.py", "pyproject.toml"}),
    ({"command": "sh", "args": ["-c", "python -m a; python -m b"]}, {"a", "a.py", "b", "b.py"}),
    ({"command": "uv", "args": ["run", "x"]}, {"pyproject.toml"}),
    ({"command": "python", "args": ["-m", "tool"], "env": {"PYTHONPATH": "src"}},
     {"tool", "tool.py", "src/tool", "src/tool.py"}),
    ({"command": "npx", "args": ["./pkg"]}, {"pkg"}),
    ({"command": "npx", "args": ["-y", "@scope/server", "docs"]}, {"@scope/server"}),
    ({"command": "/usr/bin/npm", "args": ["start"]}, {"package.json"}),
    ({"command": "x", "env": {"NODE_OPTIONS": "--require ./hook.js", "PATH": "./bin:/usr/bin"}}, {"hook.js", "bin/x"}),
    ({"command": "${MCP_NOT_SET:-./run.sh}"}, {"run.sh"}),
    ({"command": "${MCP_ROOT}/run.sh"}, {"run.sh"}),
    ({"command": "server", "args": [".", "..", "/", "~", "/etc/passwd", "../x.sh", "docs", "\0", 5, None]}, set()),
    ({"command": "./a\0.sh"}, set()),
    ({"command": "x", "args": {"a": 1}, "env": 5}, set()),
    ({"command": 5, "args": "run.sh"}, {"run.sh"}),
    ({"type": "http", "url": "https://here/run.sh"}, set()),
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one\n")
    return tmp_path


@pytest.mark.parametrize(
    ("server", "names"), CASES, ids=lambda one: str(sorted(one) if isinstance(one, set) else one)[:60]
)
def test_what_a_server_runs(root: Path, server: dict[str, Any], names: set[str]) -> None:
    def placed(value: Any) -> Any:
        if isinstance(value, list):
            return [placed(one) for one in value]
        return value.replace("{root}", str(root)) if isinstance(value, str) else value

    server = {member: placed(value) for member, value in server.items()}
    found = named_files(listed({"one": server}), str(root), {"MCP_ROOT": str(root)})
    assert {os.path.relpath(one, root) for one in found} == names


def test_any_length_is_bounded(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = {str(number): {"command": f"./{number}", "args": ["./x/" * 1000]} for number in range(50)}
    assert of_text({**many, "short": {"command": "./run.sh"}}, str(root)) == [str(root / "run.sh")]
    short = {str(number): {"command": f"./{number}", "args": [f"./{one}" for one in range(20)]} for number in range(50)}
    assert 20 <= len(of_text(short, str(root))) <= MOST_PLACES
    monkeypatch.setattr(mcp_programs, "MOST_PLACES", 7)
    assert len(of_text(short, str(root))) == 7
    assert of_text({str(number): {"command": "x" * 1900} for number in range(50)}, str(root)) == []
    assert of_text(5, str(root)) == []


def test_what_is_a_change(root: Path) -> None:
    paths = [str(root / name) for name in ("run.sh", "none.sh", "pkg", "link", "fifo", "large")]
    (root / "link").symlink_to("server.js")
    os.mkfifo(root / "fifo")
    with (root / "large").open("wb") as large:
        large.truncate(FILE_BYTES + 1)
    seen = {digest(paths)}

    def changed(do: Any) -> None:
        do()
        now = digest(paths)
        assert now not in seen
        assert digest(paths) == now
        seen.add(now)

    changed(lambda: (root / "run.sh").write_text("two\n"))
    changed(lambda: (root / "none.sh").write_text(""))
    changed(lambda: (root / "pkg" / "deep").mkdir() or (root / "pkg" / "deep" / "x.py").write_text(""))
    changed(lambda: (root / "server.js").write_text("two\n"))
    changed(lambda: (root / "link").unlink() or (root / "link").symlink_to("plain"))
    changed(lambda: os.truncate(root / "large", FILE_BYTES + 2))
    changed(lambda: (root / "pkg" / "data").symlink_to(root / "app"))
    changed(lambda: (root / "pkg" / "data").unlink() or (root / "pkg" / "data").symlink_to(root / "bin"))
    changed(lambda: (root / "run.sh").unlink())
    (root / "docs" / "a.md").write_text("two\n")
    (root / "pkg" / "__pycache__").mkdir()
    (root / "pkg" / "__pycache__" / "x.pyc").write_text("")
    assert digest(paths) in seen


def test_many_files_are_compared_without_reading_them_all(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_programs, "MOST_BYTES", 10)
    read: list[int] = []
    sha256 = hashlib.sha256
    monkeypatch.setattr(hashlib, "sha256", lambda data=b"": read.append(len(data)) or sha256(data))
    for number in range(20):
        (root / "pkg" / f"{number:02}.py").write_text("one\n")
    before = digest([str(root / "pkg")])
    assert sum(read) == 8
    assert digest([str(root / "pkg")]) == before
    (root / "pkg" / "19.py").write_text("other\n")
    assert digest([str(root / "pkg")]) != before

"""Only `acp_nvim.tasks` starts tasks in a task group that others share (doc/development/architecture.md)."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.core.task_sites import trees

ROOT = Path(__file__).parents[2] / "acp_nvim"
OWNERS = {"tasks.py"}
"""May start tasks in a group that they were given."""
ASYNCIO = {"create_task", "ensure_future", "run_coroutine_threadsafe"}
MAIN = {"plugin.py"}
"""Starts the one task in which all others run."""
PASSED_TO = {"Tasks", "App"}
"""What may be given a task group."""


def complaints(root: Path) -> list[str]:
    """Return every task that is started in another way."""
    return [
        f"{path.relative_to(root)}:{line}: {words}"
        for path, tree in trees(root, "create_task_group", "start_soon", *ASYNCIO)
        if path.relative_to(root).parts[0] not in ("demo_agent", "replay")
        for line, words in _complaints(str(path.relative_to(root)), tree)
    ]


def _complaints(path: str, tree: ast.Module) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    own = {id(group): name for name, group in _own_groups(tree)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name == "create_task_group" and id(node) not in own:
            found.append((node.lineno, "a task group that is not `async with ... as` a name"))
        if name == "start_soon" and path not in OWNERS and _receiver(node) not in own.values():
            found.append((node.lineno, "a task in a group of somebody else"))
        if name in ASYNCIO and path not in MAIN:
            found.append((node.lineno, "a task in no group"))
        if name not in PASSED_TO:
            given = [*node.args, *(keyword.value for keyword in node.keywords)]
            found += [(node.lineno, "a task group is passed on") for one in given if _name(one) in own.values()]
    return found


def _own_groups(tree: ast.Module) -> list[tuple[str, ast.expr]]:
    return [
        (_name(item.optional_vars), item.context_expr)
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncWith)
        for item in node.items
        if isinstance(item.optional_vars, ast.Name) and "create_task_group" in ast.dump(item.context_expr)
    ]


def _receiver(call: ast.Call) -> str:
    return _name(call.func.value) if isinstance(call.func, ast.Attribute) else ""


def _name(node: ast.expr | None) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def test_shared_groups_get_tasks_from_one_module_only() -> None:
    assert complaints(ROOT) == []


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("def f(self):\n    self._tasks.start_soon(g)", "group of somebody else"),
        ("def f(tasks):\n    tasks.start_soon(g)", "group of somebody else"),
        ("async def f():\n    async with anyio.create_task_group() as tasks:\n        g(tasks)", "passed on"),
        ("async def f():\n    tasks = anyio.create_task_group()", "not `async with"),
        ("async def f():\n    asyncio.create_task(g())", "in no group"),
    ],
)
def test_the_check_finds_what_is_wrong(tmp_path: Path, source: str, words: str) -> None:
    (tmp_path / "a.py").write_text(source)
    [found] = complaints(tmp_path)
    assert words in found


def test_a_group_of_ones_own_is_right(tmp_path: Path) -> None:
    source = "async def f():\n    async with anyio.create_task_group() as tasks:\n        tasks.start_soon(g)"
    (tmp_path / "a.py").write_text(source)
    assert complaints(tmp_path) == []

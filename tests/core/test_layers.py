"""Imports go one way through the layers, and never round in a circle (doc/development/architecture.md)."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.core.import_graph import Import, circling, cycles, folder_imports, imports, modules

ROOT = Path(__file__).parents[2] / "acp_nvim"

LAYERS = [
    "",  # the package itself: its version
    "errors",
    "limits",
    "pythons",
    "lazy",
    "decoders",
    "tasks",
    "file_time",
    "memory",
    "jsonrpc",
    "traffic",
    "process",
    "terminals",
    "acp",
    "agents",
    "transports",
    "failures",
    "contract",
    "neovim",
    "state",
    "workspace",
    "snapshots",
    "worktrees",
    "history",
    "hunks",
    "evidence",
    "review",
    "permissions",
    "elicitation",
    "mcp.tools",
    "mcp",
    "connection",
    "prompt",
    "transcript",
    "permissions.request",
    "review.turn",
    "session.auth",
    "session.requests",
    "mcp.session",
    "session",
    "rpc",
    "host_log",
    "checkup",
    "app",
    "plugin",
    "start",
]
"""A folder in a folder may be a layer of its own."""
APART = {"demo_agent", "demo_project", "replay"}
"""Neither import the rest nor are imported: other programs, and a sample to work on."""

FORBIDDEN = {
    "traffic": {"acp_nvim.jsonrpc"},
    "process": {"json", "msgspec", "acp_nvim.jsonrpc", "acp_nvim.traffic"},
    "acp": {"acp_nvim.traffic", "acp_nvim.process"},
    "contract": {"acp_nvim.jsonrpc", "acp_nvim.acp"},
    "neovim": {"acp_nvim.jsonrpc", "acp_nvim.acp"},
    **{one: {"acp_nvim.neovim"} for one in ("connection", "transcript", "session", "rpc")},
}
PYNVIM_USERS = {"neovim", "plugin", "start"}
NETWORK = {"socket", "ssl", "http", "ftplib", "smtplib", "socketserver", "websockets", "h11", "xmlrpc"}
NETWORK_USERS = {"transports", "mcp"}
"""The second listens at a socket in a directory of the user's."""


MOST_FILES = 30
MOST_CALLBACKS = 3


def layer(module: str) -> str | None:
    """The layer of one of our modules: the innermost of its folders that is one; None for a foreign one."""
    top, _, rest = module.partition(".")
    if top != ROOT.name:
        return None
    names = rest.split(".")
    folders = [".".join(names[:count]) for count in range(len(names), 0, -1)]
    return next((one for one in folders if one in LAYERS), names[0])


def complaint(one: Import) -> str | None:
    """Why that import is against the rules, if it is."""
    own, other = layer(one.importer), layer(one.module)
    if own in APART or other in APART:
        return None if other in (None, "", own) else f"{one}: the two stand apart"
    if own not in LAYERS:
        return f"{one}: {own!r} is no layer"
    if other is not None and LAYERS.index(other) > LAYERS.index(own):
        return f"{one}: {other} is a layer above"
    if any(f"{one.module}.".startswith(f"{name}.") for name in FORBIDDEN.get(own, ())):
        return f"{one}: {own} must not know it"
    if one.module == "pynvim" and own not in PYNVIM_USERS:
        return f"{one}: only {sorted(PYNVIM_USERS)} know pynvim"
    return None


def complaints(root: Path) -> list[str]:
    """Everything that is wrong with the imports of the package at `root`."""
    found = imports(root)
    circles = [f"a cycle: {' -> '.join(circle)}" for circle in cycles(found)]
    return [words for one in found if (words := complaint(one))] + circles


def test_imports_go_up_the_layers_only() -> None:
    assert complaints(ROOT) == []


def test_only_transports_reach_the_network() -> None:
    users = {layer(one.importer) for one in imports(ROOT) if one.module in NETWORK}
    assert users == NETWORK_USERS
    texts = {name: path.read_text(encoding="utf-8") for name, path in modules(ROOT).items()}
    assert [name for name, text in texts.items() if "urllib.request" in text or "urllib3" in text] == []
    reaching = {layer(name) for name, text in texts.items() if re.search(r"anyio\.connect_tcp|create_connection", text)}
    assert reaching == {"transports"}


def test_every_layer_of_the_rule_exists() -> None:
    assert {layer(module) for module in modules(ROOT)} == {*LAYERS, *APART}


def test_folders_import_in_no_cycle() -> None:
    assert circling(folder_imports(ROOT)) == set()


def test_no_folder_has_too_many_files() -> None:
    counts = Counter(path.parent for path in modules(ROOT).values())
    assert {folder: count for folder, count in counts.items() if count > MOST_FILES} == {}


def test_no_class_has_too_many_callbacks_set_from_outside() -> None:
    found = {name: callbacks(path) for name, path in modules(ROOT).items()}
    assert {name: of for name, classes in found.items() for of in classes.values() if len(of) > MOST_CALLBACKS} == {}


def test_callbacks_are_public_attributes_that_can_be_called(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "class A:\n    def __init__(self):\n        self.on_end: Callable[[], None] = lambda: None\n"
        "        self._own: Callable[[], None] = self.end\n        self.many: list[Callable[[], None]] = []\n"
    )
    assert callbacks(path) == {"A": ["on_end"]}


def callbacks(path: Path) -> dict[str, list[str]]:
    """The public attributes of each class that hold one callback: something else sets them."""
    found: dict[str, list[str]] = {}
    text = path.read_text(encoding="utf-8")
    if re.search(r"\.\w+: (Callable|OnFailure)", text) is None:  # to parse takes long
        return found
    for one in ast.walk(ast.parse(text)):
        if isinstance(one, ast.ClassDef):
            declared = [part for part in ast.walk(one) if isinstance(part, ast.AnnAssign)]
            found[one.name] = [
                part.target.attr
                for part in declared
                if isinstance(part.target, ast.Attribute)
                and not part.target.attr.startswith("_")
                and ast.unparse(part.annotation).startswith(("Callable", "OnFailure"))
            ]
    return found


@pytest.mark.parametrize(
    ("path", "source", "words"),
    [
        ("jsonrpc/a.py", "from acp_nvim.session import session", "session is a layer above"),
        ("jsonrpc/a.py", "import acp_nvim.acp.v1", "acp is a layer above"),
        ("errors.py", "from acp_nvim import app", "app is a layer above"),
        ("errors.py", "def f():\n    from acp_nvim.app import App", "app is a layer above"),
        ("errors.py", "if TYPE_CHECKING:\n    from acp_nvim.app import App", "app is a layer above"),
        ("session/a.py", "from ..rpc import methods", "rpc is a layer above"),
        ("session/a.py", "import pynvim.api", "know pynvim"),
        ("process/a.py", "import json", "process must not know it"),
        ("process/a.py", "from acp_nvim.jsonrpc import messages", "process must not know it"),
        ("contract/a.py", "from acp_nvim.acp.v1 import VERSION", "contract must not know it"),
        ("demo_agent/a.py", "from acp_nvim.errors import Failure", "stand apart"),
        ("app.py", "from acp_nvim.demo_agent import a", "stand apart"),
        ("util.py", "import os", "'util' is no layer"),
        ("permissions/a.py", "import acp_nvim.permissions.request", "permissions.request is a layer above"),
        (
            "connection/a.py",
            "from acp_nvim.session.requests.requests import AgentRequests",
            "session.requests is a layer above",
        ),
        ("transcript/a.py", "import acp_nvim.neovim.a", "transcript must not know it"),
    ],
)
def test_the_checker_finds_each_kind_of_wrong_import(tmp_path: Path, path: str, source: str, words: str) -> None:
    found = complaints(fake_package(tmp_path, {path: source}))
    assert len(found) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("session/a.py", "from acp_nvim.jsonrpc.messages import RpcError"),
        ("session/b.py", "from . import a"),
        ("demo_agent/b.py", "from acp_nvim.demo_agent import a\nimport json"),
        ("neovim/a.py", "import pynvim"),
        ("app.py", "from acp_nvim import __version__"),
    ],
)
def test_the_checker_lets_right_imports_pass(tmp_path: Path, path: str, source: str) -> None:
    assert complaints(fake_package(tmp_path, {path: source})) == []


def test_the_checker_finds_a_cycle_that_lazy_imports_close(tmp_path: Path) -> None:
    files = {
        "session/a.py": "from acp_nvim.session import b",
        "session/b.py": "def f():\n    from acp_nvim.session.c import g",
        "session/c.py": "def g():\n    import acp_nvim.session.a",
    }
    ours = "acp_nvim.session"
    assert complaints(fake_package(tmp_path, files)) == [f"a cycle: {ours}.a -> {ours}.b -> {ours}.c -> {ours}.a"]


@pytest.mark.parametrize(
    ("files", "arrows"),
    [
        ({"session/x.py": "import acp_nvim.acp.a", "acp/x.py": "import acp_nvim.session.a"}, {("session", "acp")}),
        (
            {"contract/x.py": "from acp_nvim.rpc import a", "rpc/x.py": "def f():\n    from acp_nvim import contract"},
            {("rpc", "contract")},
        ),
        (
            {
                "rpc/x.py": "from acp_nvim.contract.inner import a",
                "contract/inner/a.py": "if TYPE_CHECKING:\n    from .. import rpc\n    from ...rpc import a",
            },
            {("rpc", "contract.inner")},
        ),
        (
            {
                "contract/x.py": "from acp_nvim.contract.inner import a",
                "contract/inner/a.py": "from acp_nvim.contract import b",
                "contract/b.py": "",
            },
            {("contract", "contract.inner")},
        ),
        (
            {"app.py": "from acp_nvim.contract import a", "contract/a.py": "from acp_nvim import app"},
            {("app", "contract")},
        ),
    ],
)
def test_the_checker_finds_each_kind_of_folder_cycle(
    tmp_path: Path, files: dict[str, str], arrows: set[tuple[str, str]]
) -> None:
    both_ways = {(f"acp_nvim.{a}", f"acp_nvim.{b}") for one, other in arrows for a, b in ((one, other), (other, one))}
    assert circling(folder_imports(fake_package(tmp_path, files))) == both_ways


def test_the_checker_finds_a_cycle_of_three_folders_and_no_other_arrow(tmp_path: Path) -> None:
    files = {
        "session/x.py": "from acp_nvim.acp import a\nfrom acp_nvim.contract import a",
        "acp/x.py": "from acp_nvim.rpc import a\nfrom acp_nvim.acp import a\nfrom acp_nvim import errors",
        "rpc/x.py": "from acp_nvim.session import a",
    }
    circle = [("session", "acp"), ("acp", "rpc"), ("rpc", "session")]
    root = fake_package(tmp_path, files)
    assert circling(folder_imports(root)) == {(f"acp_nvim.{one}", f"acp_nvim.{other}") for one, other in circle}


def fake_package(where: Path, files: dict[str, str]) -> Path:
    """A package of the same name with one module in each of some layers, and then `files`."""
    root = where / ROOT.name
    usual = ["errors.py", "app.py", "plugin.py"]
    packages = ["jsonrpc", "process", "acp", "session", "contract", "rpc", "demo_agent", "neovim"]
    packages += ["connection", "transcript", "permissions", "permissions/request", "session/requests"]
    texts = dict.fromkeys([*usual, *(f"{name}/__init__.py" for name in packages), "__init__.py"], "")
    modules = {
        f"{name}/{module}.py": ""
        for name in packages
        for module in ("a", "messages", "requests", "session", "v1", "rpc")
    }
    for path, text in {**texts, **modules, **files}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return root

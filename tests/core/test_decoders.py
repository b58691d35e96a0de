"""Types are decoded for the first time by several threads at once."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys

import msgspec

from acp_nvim.acp import fields, schema_common, schema_v1, schema_v2
from acp_nvim.agents import definition
from acp_nvim.contract import settings
from tests.core.task_sites import trees
from tests.support.places import ROOT

PACKAGE = ROOT / "acp_nvim"
APART = ("demo_agent", "replay")
NAMES = ("msgspec.convert", "msgspec.json.Decoder", "msgspec.msgpack.Decoder")
DECODES = ("msgspec.json.decode", "msgspec.msgpack.decode")

# Each struct has members of the one before it, so that to prepare one prepares many, while the threads take turns.
RACE = """
import sys, threading, types
from acp_nvim import decoders
sys.setswitchinterval(1e-6)
data = b'{"a": 1, "c": {"a": 2, "b": ["x"], "c": {"a": 3}}}'

def structs(name):
    source = "from __future__ import annotations\\nimport msgspec\\n"
    for number in range(60):
        source += f"class T{number}(msgspec.Struct):\\n    a: int = 0\\n    b: list[str] = []\\n"
        if number:
            source += f"    c: T{number - 1} | None = None\\n    d: dict[str, T{number - 1}] = {{}}\\n"
    module = sys.modules[name] = types.ModuleType(name)
    exec(source, module.__dict__)
    return module.T59, module.T30

def decode(barrier, kind):
    barrier.wait()
    for _ in range(50):
        assert decoders.decode(data, kind).c.c.a == 3

for turn in range(40):
    kinds = structs(f"race{turn}")
    barrier = threading.Barrier(len(kinds))
    threads = [threading.Thread(target=decode, args=(barrier, kind)) for kind in kinds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_threads_decode_the_same_types_for_the_first_time() -> None:
    subprocess.run([sys.executable, "-c", RACE], cwd=ROOT, check=True)


def calls_in_functions(tree: ast.Module) -> list[tuple[int, str]]:
    """Return the calls inside of functions that pass a type to msgspec."""
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for call in ast.walk(function):
                if isinstance(call, ast.Call):
                    name = ast.unparse(call.func)
                    has_type = len(call.args) > 1 or any(one.arg == "type" for one in call.keywords)
                    if name in NAMES or (name in DECODES and has_type):
                        found.append((call.lineno, name))
    return sorted(set(found))


def test_no_other_module_prepares_types() -> None:
    complaints = [
        f"{path.relative_to(PACKAGE)}:{line}: {name}"
        for path, tree in trees(PACKAGE, *NAMES, *DECODES)
        if path.name != "decoders.py" and path.relative_to(PACKAGE).parts[0] not in APART
        for line, name in calls_in_functions(tree)
    ]
    assert complaints == []


def test_such_a_call_is_found() -> None:
    source = "def load(data):\n    return msgspec.json.decode(data, type=int)\n\nDECODER = msgspec.json.Decoder(int)\n"
    assert calls_in_functions(ast.parse(source)) == [(2, "msgspec.json.decode")]


def test_the_annotations_of_types_that_each_start_decodes_need_not_be_compiled() -> None:
    """Annotations that are strings took 80 million instructions of the start of a session."""
    structs = [
        one
        for module in (fields, schema_common, schema_v1, schema_v2, definition, settings)
        for one in vars(module).values()
        if isinstance(one, type) and issubclass(one, msgspec.Struct) and one.__module__ == module.__name__
    ]
    assert len(structs) > 200
    strings = [one for one in structs if any(isinstance(kind, str) for kind in inspect.get_annotations(one).values())]
    assert strings == []

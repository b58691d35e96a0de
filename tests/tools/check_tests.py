"""Finds tests that cannot fail, and counts how often tests use private names of what they test.

A test can fail when it, or a helper of the tests that it calls, asserts or raises something. A method is a helper
when only tests have one of that name. Assertions that all stand in one loop count only if that loop is seen to run.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

PRIVATE_NAMES = 124
"""How many uses of private names of the product there may be in tests. It may only fall."""
ASSERTING = {"raises", "warns", "fail", "fail_after", "validate"}
"""Calls that fail by themselves, when something is not as it should be."""
RUNS = {"range", "count"}
"""Calls whose result is believed to have something in it."""
WRAPPERS = {"enumerate", "zip", "sorted", "reversed", "list", "set", "tuple", "product", "combinations", "permutations"}
"""Calls whose result has something in it when their arguments have."""
PARTS = {"items", "values", "keys", "split", "splitlines"}
NO_PRIVATE = {"_replace", "_asdict", "_exit", "_getframe", "_fields"}
"""Names of the standard library that begin with an underscore and are public."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def called_name(call: ast.Call) -> str:
    """The last part of what is called: "wait" of `a.b.wait()`; "" of a call of a call."""
    called = call.func
    return called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""


def asserts(nodes: Iterable[ast.AST]) -> bool:
    """Whether one of these nodes fails by itself when something is wrong."""
    return any(
        isinstance(node, ast.Assert)
        or (isinstance(node, ast.Raise) and node.exc is not None)
        or (isinstance(node, ast.Call) and called_name(node) in ASSERTING)
        for node in nodes
    )


class Module:
    """A parsed file: its functions, its tests, and where the functions that it imports from other tests are."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.functions = [node for node in ast.walk(self.tree) if isinstance(node, Function)]
        is_tests = name.rpartition("/")[2].startswith("test_")
        self.tests = [one for one in self.functions if one.name.startswith("test_") and is_tests]
        self._homes = {one.name: name for one in self.functions}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests."):
                home = node.module.replace(".", "/") + ".py"
                self._homes.update({one.asname or one.name: home for one in node.names})

    def calls(self, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, str]]:
        """What is called, or handed on: where it is defined (`""`: in some class) and its name."""
        for node in nodes:
            if isinstance(node, ast.Call):
                yield from (
                    (self._homes.get(one.id, self.name), one.id) for one in node.args if isinstance(one, ast.Name)
                )
                if isinstance(node.func, ast.Name):
                    yield self._homes.get(node.func.id, self.name), node.func.id
                elif isinstance(node.func, ast.Attribute):
                    yield "", node.func.attr


class Helpers:
    """Which calls may fail: of functions that a module has or imports, and of methods that only tests have."""

    def __init__(self, modules: list[Module], product: set[str]) -> None:
        self._failing: set[tuple[str, str]] = set()
        calls: dict[tuple[str, str], set[tuple[str, str]]] = {}
        for module in modules:
            for function in module.functions:
                if function.name.startswith("test_"):
                    continue
                nodes = list(ast.walk(function))
                called, fails = set(module.calls(nodes)), asserts(nodes)
                for key in ((module.name, function.name), ("", function.name)):
                    if key[0] or function.name not in product:
                        calls.setdefault(key, set()).update(called)
                        self._failing.update([key] if fails else [])
        while more := {name for name, called in calls.items() if called & self._failing} - self._failing:
            self._failing |= more

    def may_fail(self, module: Module, nodes: Iterable[ast.AST]) -> bool:
        """Whether one of these nodes asserts, or calls a helper that does."""
        nodes = list(nodes)
        runs = any(isinstance(node, ast.keyword) and node.arg == "check" for node in nodes)
        return runs or asserts(nodes) or not self._failing.isdisjoint(module.calls(nodes))


def has_items(given: ast.expr, function: Function) -> bool:
    """Whether it can be seen that there is something to loop over. Constants are believed to have something in them."""
    match given:
        case ast.List(values) | ast.Tuple(values) | ast.Set(values) | ast.Dict(values):
            return bool(values)
        case ast.Constant(value):
            return bool(value)
        case ast.Attribute(attr=name):
            return name.isupper()
        case ast.Name(name):
            values = [one.value for one in ast.walk(function) if isinstance(one, ast.Assign) and assigns(one, name)]
            return name.isupper() or any(has_items(value, function) for value in values)
        case ast.BinOp(left, _, right):
            return has_items(left, function) or has_items(right, function)
        case ast.ListComp(_, [first, *_]):
            return not first.ifs and has_items(first.iter, function)
        case ast.Call():
            return gives_items(given, function)
    return False


def gives_items(call: ast.Call, function: Function) -> bool:
    """Whether what is called is known to give something, at least when it is given something."""
    name = called_name(call)
    if name in PARTS and isinstance(call.func, ast.Attribute):
        return has_items(call.func.value, function)
    return name in RUNS or (name in WRAPPERS and all(has_items(one, function) for one in call.args))


def assigns(statement: ast.Assign, name: str) -> bool:
    """Whether it sets a variable of that name."""
    return any(isinstance(target, ast.Name) and target.id == name for target in statement.targets)


def doubtful_loop(module: Module, test: Function, helpers: Helpers) -> ast.For | None:
    """The loop in which everything stands that could fail, if nothing shows that it runs at all."""
    for loop in ast.walk(test):
        if isinstance(loop, ast.For) and not is_property(test) and not has_items(loop.iter, test):
            inside = set(ast.walk(loop)) - set(ast.walk(loop.iter))
            if helpers.may_fail(module, inside) and not helpers.may_fail(module, set(ast.walk(test)) - inside):
                return loop
    return None


def is_property(test: Function) -> bool:
    """Whether it is run with many values, some of which have something in them."""
    return any("given" in ast.unparse(one) for one in test.decorator_list)


def toothless(modules: list[Module], product: set[str]) -> Iterator[str]:
    """Find tests that cannot fail."""
    helpers = Helpers(modules, product)
    for module in modules:
        for test in module.tests:
            where = f"{module.name}:{test.lineno}: {test.name}"
            if not helpers.may_fail(module, ast.walk(test)):
                yield f"{where} asserts nothing"
            elif loop := doubtful_loop(module, test, helpers):
                yield f"{where} asserts only in a loop that may be empty (line {loop.lineno})"


def is_private(name: str) -> bool:
    """Whether one part of a dotted name begins with one underscore."""
    return any(re.match(r"_(?!_)", part) and part not in NO_PRIVATE for part in name.split("."))


def private_names(module: Module) -> Iterator[str]:
    """Where a test module uses a name that is private elsewhere: an attribute, an import, what `monkeypatch` sets."""
    own = {one.attr for one in ast.walk(module.tree) if isinstance(one, ast.Attribute) and is_own(one.value)}
    own |= {one.name for one in module.functions}
    for node in ast.walk(module.tree):
        names: list[str] = []
        if not isinstance(node, ast.expr | ast.ImportFrom):
            continue
        if isinstance(node, ast.Attribute) and not is_own(node.value):
            names = [node.attr]
        elif isinstance(node, ast.ImportFrom):
            names = [one.name for one in node.names]
        elif isinstance(node, ast.Call) and called_name(node) in ("setattr", "delattr", "getattr", "object"):
            names = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        for name in names:
            if is_private(name) and name not in own:
                yield f"{module.name}:{node.lineno}: {name}"


def is_own(value: ast.expr) -> bool:
    """Whether this is the object, or the class, itself."""
    return (isinstance(value, ast.Name) and value.id in ("self", "cls")) or (
        isinstance(value, ast.Call) and called_name(value) == "super"
    )


def modules_below(root: Path, folder: str) -> list[Module]:
    """All modules of a folder of the repository."""
    return [Module(path, path.relative_to(root).as_posix()) for path in sorted((root / folder).rglob("*.py"))]


def problems(root: Path, most_private: int = PRIVATE_NAMES) -> Iterator[str]:
    """All that is wrong with the tests below a directory."""
    tests = modules_below(root, "tests")
    product = {function.name for module in modules_below(root, "acp_nvim") for function in module.functions}
    yield from toothless(tests, product)
    private = [one for module in tests for one in private_names(module)]
    if len(private) > most_private:
        yield from private
        yield f"tests use {len(private)} private names of the product, more than {most_private}: test what is public"


def main() -> int:
    """Prints what is wrong with the tests of the repository; with `--private` where they use private names, too."""
    root = Path(__file__).resolve().parents[2]
    found = list(problems(root, -1 if "--private" in sys.argv else PRIVATE_NAMES))
    print("\n".join(found) if found else "every test can fail")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

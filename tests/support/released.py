"""Which tests need a package that is not released for the Python that runs them; elsewhere each of them runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from acp_nvim import pythons

PARSER: Final = (
    "core/permissions/test_command_rules.py",
    "core/permissions/test_documented_rules.py",
    "core/permissions/test_rules.py::test_decisions",
    "core/permissions/test_rules.py::test_the_rules_that_decided_are_named_once_each",
    "core/permissions/test_rules.py::test_what_no_rule_is_about_may_be_allowed_otherwise",
    "core/permissions/test_shell_line.py::test_commands_",
    "core/permissions/test_shell_line.py::test_what_else_is_in_a_line_is_named",
    "core/permissions/test_shell_line.py::test_where_the_readers_differ_nothing_is_clear",
    "core/permissions/test_shells_agree.py",
    "core/permissions/test_stored.py::test_the_configuration_is_asked_first",
    "core/session/test_command_permissions.py::test_a_line_may_be_run_as_the_words_that_it_has_in_every_shell",
    "core/session/test_permission_rules.py",
)
"""The beginnings of the names of tests with rules that a command line has to be read for."""
NEEDED: Final = {"tree_sitter": PARSER, "acp": ("peers/",)}
"""The modules of these packages, and the tests that need them."""


def unreleased(test: str) -> str | None:
    """Why the test with this node id cannot run; None if it can."""
    if pythons.newness() is None:
        return None
    for module, tests in NEEDED.items():
        needs = test.removeprefix("tests/").startswith(tests) and (module != "acp" or "python" in test)
        if needs and find_spec(module) is None:
            return f"{module} is not released for this Python"
    return None

"""Which tests need a package that is not released for the Python that runs them; elsewhere each of them runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from acp_nvim import pythons

PARSER: Final = (
    "core/permissions/test_asked_commands.py::test_a_command_is_allowed_only_if",
    "core/permissions/test_asked_commands.py::test_a_sandbox_that_stays_on_does_not_ask",
    "core/permissions/test_asked_commands.py::test_an_input_of_a_call_that_is_over_counts",
    "core/permissions/test_asked_commands.py::test_any_input_is_judged_and_shown",
    "core/permissions/test_asked_commands.py::test_any_place_that_names_a_command_is_enough_to_reject",
    "core/permissions/test_asked_commands.py::test_metadata_and_unknown_members_of_the_request_itself",
    "core/permissions/test_asked_commands.py::test_of_two_members_of_the_same_name_both_count",
    "core/permissions/test_asked_commands.py::test_what_an_earlier_input_has_said_counts",
    "core/permissions/test_asked_commands.py::test_what_real_agents_send_is_allowed_by_a_rule",
    "core/permissions/test_command_rules.py",
    "core/permissions/test_documented_rules.py",
    "core/permissions/test_rules.py::test_decisions",
    "core/permissions/test_rules.py::test_the_rules_that_decided_are_named_once_each",
    "core/permissions/test_rules.py::test_what_no_rule_is_about_may_be_allowed_otherwise",
    "core/permissions/test_shell_line.py::test_commands_",
    "core/permissions/test_shell_line.py::test_what_else_is_in_a_line_is_named",
    "core/permissions/test_shell_line.py::test_where_the_readers_differ_nothing_is_clear",
    "core/permissions/test_shells_agree.py",
    "core/permissions/test_store.py::test_the_configuration_is_asked_first",
    "core/session/test_command_permissions.py::test_a_line_may_be_run_as_the_words_that_it_has_in_every_shell",
    "core/session/test_guarded_writes.py::test_the_attack_with_fsmonitor_asks",
    "core/session/test_hundred_permissions.py::test_answered_withdrawn_by_rule_and_cancelled",
    "core/session/test_hundred_permissions.py::test_the_agent_is_killed_midway",
    "core/session/test_permission_rules.py",
    "core/session/test_turn_requests.py::test_a_full_turn_shows_no_more_answers_of_rules",
    "nvim/test_guarded_files.py::test_gits_configuration_is_not_written_unasked",
    "nvim/test_hundred_permissions.py",
    "tools/test_install_ways.py",
)
"""The beginnings of the names of tests with rules that a command line has to be read for, or with all packages."""
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

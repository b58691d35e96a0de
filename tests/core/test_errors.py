"""Failures as a user reads them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from acp_nvim.errors import SEVERITY, Failure, FailureError

ROOT = Path(__file__).parents[2] / "acp_nvim"


@pytest.mark.parametrize("code", SEVERITY)
def test_every_code_has_a_severity(code: str) -> None:
    assert Failure(code, "what", "step").severity in ("info", "warn", "error")


def test_words_are_what_then_the_next_step_then_the_details_indented() -> None:
    failure = Failure("agent_exited", "It ended.", "Prompt again.", "it", ("first", "last"))
    assert str(failure) == "It ended. Prompt again.\n  first\n  last"
    assert str(FailureError(failure)) == str(failure)
    assert FailureError(failure).failure is failure


def test_without_a_next_step_no_space_is_left() -> None:
    assert str(Failure("bad_message", "It is odd.", "")) == "It is odd."


def test_codes_are_those_of_the_table() -> None:
    used = {
        node.args[0].value
        for path in (ROOT / "failures" / "failures.py", ROOT / "agents" / "catalogue.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Failure"
        if isinstance(node.args[0], ast.Constant)
    }
    assert len(used) >= 8
    assert used <= set(SEVERITY)

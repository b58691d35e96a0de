"""Patterns of agents: matched in a process of their own, which nobody waits for longer than a moment."""

from __future__ import annotations

import pytest

from acp_nvim.elicitation import answers, patterns
from tests.core.elicitation.schemas import form_of

pytestmark = pytest.mark.anyio


async def test_each_pattern_is_searched_for_in_its_text() -> None:
    pairs = [("^a+$", "aaa"), ("^a+$", "aab"), ("b", "abc"), ("é", "café"), ("^.$", "\U0001f600")]
    assert await patterns.matches(pairs) == [True, False, True, True, True]
    assert await patterns.matches([]) == []


async def test_of_what_is_no_pattern_nobody_can_say_anything() -> None:
    assert await patterns.matches([("(", "x"), ("x", "x"), ("(?<name>x)", "x")]) == [None, True, None]


async def test_a_pattern_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", 0.3)
    assert (await patterns.matches([("(a|a)+$", "a" * 60 + "!"), ("x", "y")]))[0] is None


async def test_its_process_is_ended_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "PATTERN_SECONDS", 0.1)
    monkeypatch.setattr(patterns, "PROGRAM", "import time; time.sleep(600)")
    assert await patterns.matches([("x", "x")]) == [None]


async def test_what_nobody_can_check_is_sent_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    form = form_of({"x": {"type": "string", "pattern": "("}, "y": {"type": "string", "pattern": "^y"}})
    checked = await answers.check(form, {"x": "anything", "y": "yes"})
    assert (checked.content, checked.problems, checked.unchecked) == ({"x": "anything", "y": "yes"}, [], ["x"])


async def test_a_machine_that_starts_no_process_checks_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns.sys, "executable", "/nonexistent/python")
    assert await patterns.matches([("x", "x")]) == [None]

"""Agents by name: the user's, and the demo agent."""

from __future__ import annotations

import os
import subprocess
from typing import Any

import pytest

from acp_nvim.agents.catalogue import Catalogue
from acp_nvim.errors import Failure, FailureError

MINE = {"command": ["mine", "--acp"], "env": {"KEY": "v"}, "mcp_servers": [{"name": "m"}]}


def failure(catalogue: Catalogue, name: str) -> Failure:
    """Why it finds no such agent."""
    with pytest.raises(FailureError) as caught:
        catalogue.find(name)
    return caught.value.failure


def test_an_agent_of_the_user_is_found_with_its_settings() -> None:
    found = Catalogue({"mine": MINE}).find("mine")
    assert (found.name, found.command, found.env, found.mcp_servers) == ("mine", *MINE.values())


def test_only_the_command_is_needed() -> None:
    found = Catalogue({"mine": {"command": ["mine"]}}).find("mine")
    assert (found.env, found.mcp_servers) == ({}, [])


@pytest.mark.parametrize(
    ("configured", "default", "name"),
    [
        ({"b": MINE, "a": MINE}, "b", "b"),
        ({"b": MINE, "a": MINE}, None, "a"),
        ({"z": MINE}, "demo", "demo"),
        ({}, None, "demo"),
        (None, None, "demo"),
    ],
)
def test_without_a_name_it_is_the_default_else_the_first_else_the_demo(
    configured: Any, default: Any, name: str
) -> None:
    catalogue = Catalogue(configured, default)
    assert catalogue.default_name() == name
    assert catalogue.find(None).name == catalogue.find("").name == name


def test_names_lists_the_demo_last_unless_the_user_has_one_of_that_name() -> None:
    assert Catalogue({"z": MINE, "a": MINE}).names() == ["a", "z", "demo"]
    assert Catalogue({"z": MINE, "demo": MINE}).names() == ["demo", "z"]


def test_the_demo_of_the_user_replaces_the_bundled_one() -> None:
    assert Catalogue({"demo": MINE}).find("demo").command == ["mine", "--acp"]


def test_the_bundled_demo_starts_from_any_directory() -> None:
    demo = Catalogue().find("demo")
    ended = subprocess.run(
        demo.command,
        stdin=subprocess.DEVNULL,
        cwd="/",
        env={**os.environ, **demo.env},
        capture_output=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_an_unknown_name_lists_the_known_ones_and_the_nearest() -> None:
    told = failure(Catalogue({"claude": MINE, "gemini": MINE}), "cluade")
    assert (told.code, told.agent) == ("agent_unknown", "cluade")
    assert "no agent called 'cluade'" in told.what
    assert "Did you mean 'claude'?" in told.what
    assert "Known agents: claude, gemini, demo." in told.what


def test_a_name_near_to_none_is_not_guessed() -> None:
    assert "Did you mean" not in failure(Catalogue({"claude": MINE}), "xyz").what


def test_a_default_that_nobody_knows_is_told_when_it_is_used() -> None:
    with pytest.raises(FailureError, match="no agent called 'gone'"):
        Catalogue({"mine": MINE}, "gone").find(None)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({}, "command"),
        ({"command": []}, "`command` is empty"),
        ({"command": "mine --acp"}, "array"),
        ({"command": ["mine", 5]}, "command[1]"),
        ({"command": ["mine"], "env": {"A": 1}}, "env"),
        ({"command": ["mine"], "comand": []}, "comand"),
        ("mine", "object"),
        (None, "object"),
    ],
)
def test_settings_that_cannot_be_used_are_told_in_words_with_an_example(settings: Any, reason: str) -> None:
    told = failure(Catalogue({"mine": settings}), "mine")
    assert reason in told.what
    assert "'mine'" in told.what
    assert 'agents = { ["mine"] = { command =' in told.next_step


def test_one_agent_with_bad_settings_does_not_harm_the_others() -> None:
    assert Catalogue({"bad": 5, "good": MINE}).find("good").name == "good"


def test_repr_shows_names_and_default() -> None:
    assert repr(Catalogue({"a": MINE})) == "<Catalogue ['a', 'demo'] default='a'>"

"""Agents by name: the user's, those of data files, and the demo agent."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.agents.catalogue import Catalogue, builtin_agent, builtin_names, quirks_of
from acp_nvim.agents.definition import QUIRKS, Defaults, PathPair
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
        ({"command": ["mine", 5]}, "in agents.mine.command[2]"),
        ({"command": ["mine"], "env": {"A": 1}}, "env"),
        ({"command": ["mine"], "comand": []}, "comand"),
        ({"command": ["mine"], "quirks": ["slow"]}, "there is no quirk 'slow' (known: "),
        ("mine", "object"),
        (None, "object"),
    ],
)
def test_settings_that_cannot_be_used_are_told_in_words_with_an_example(settings: Any, reason: str) -> None:
    told = failure(Catalogue({"mine": settings}), "mine")
    assert reason in told.what
    assert "'mine'" in told.what
    assert 'agents = { ["mine"] = { command =' in told.next_step


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"address": "nowhere"}, "`address` has no port"),
        ({"address": "a:1", "command": ["mine"]}, "it has a `command` and an `address`, and needs one of them"),
        ({"address": "a:1", "prefix": ["ssh", "a"]}, "`prefix` is for a `command`"),
        ({"address": "a:1", "env": {"A": "1"}}, "`env` is for a `command`"),
        ({"command": ["mine"], "tls": True}, "`tls` is for an `address`, and there is none"),
        ({"command": ["mine"], "token_env": "A"}, "`token_env` is for an `address`, and there is none"),
        ({"address": "a:1", "token_env": "A"}, "plain TCP has no place for a token"),
        ({"address": "a:1", "tls": True, "token_env": "A"}, "plain TCP has no place for a token"),
        ({"address": "ws://a/acp", "token_env": "A"}, "with ws:// others could read the token on the way"),
        ({"address": "ws://a/acp", "tls": True}, "`tls` needs an address that begins with wss://"),
        ({"address": 5}, "address"),
    ],
)
def test_settings_of_an_address_that_cannot_be_used_are_told(settings: Any, reason: str) -> None:
    told = failure(Catalogue({"mine": settings}), "mine")
    assert told.code == "agent_misconfigured"
    assert reason in told.what


def test_an_address_takes_the_place_of_a_known_command() -> None:
    found = Catalogue({"copilot": {"address": "localhost:3000"}}).find("copilot")
    assert (found.command, found.env, str(found.address)) == ([], {}, "localhost:3000")
    assert found.title == "GitHub Copilot CLI"
    assert found.is_remote
    assert not found.offers_terminal


@pytest.mark.parametrize(
    ("settings", "tls"),
    [
        ({"address": "a:1"}, False),
        ({"address": "a:1", "tls": False}, False),
        ({"address": "a:1", "tls": True}, True),
        ({"address": "a:1", "tls": "/ca.pem"}, True),
        ({"address": "ws://a/acp"}, False),
        ({"address": "ws://localhost/acp", "token_env": "A"}, False),
        ({"address": "wss://a/acp", "token_env": "A", "tls": "/ca.pem"}, True),
    ],
)
def test_whether_an_address_is_encrypted_is_known(settings: Any, tls: bool) -> None:
    found = Catalogue({"mine": settings}).find("mine")
    assert found.address is not None
    assert found.address.tls is tls


def test_one_agent_with_bad_settings_does_not_harm_the_others() -> None:
    assert Catalogue({"bad": 5, "good": MINE}).find("good").name == "good"


def test_repr_shows_names_and_default() -> None:
    assert repr(Catalogue({"a": MINE})) == "<Catalogue ['a', 'demo'] default='a'>"


# --- data files ------------------------------------------------------------------------------------------------------

ASKED_FOR = {"claude", "gemini", "codex", "opencode", "qwen", "kimi", "vibe", "goose", "copilot", "cursor", "auggie"}
ASKED_FOR |= {"cline", "kilo", "kiro", "junie", "amp", "droid", "fast-agent", "omp", "qwenpaw"}


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes programs that are found, and no others."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(*names: str) -> None:
        for name in names:
            (tmp_path / name).write_text("#!/bin/sh\n")
            (tmp_path / name).chmod(0o755)

    return make


def test_there_is_a_data_file_for_each_agent_that_we_promise() -> None:
    assert set(builtin_names()) >= ASKED_FOR


@pytest.mark.parametrize("name", builtin_names())
def test_a_data_file_says_all_that_a_user_needs(name: str) -> None:
    agent = builtin_agent(name)
    assert agent is not None
    assert re.fullmatch(r"[a-z][a-z-]*", name)
    assert agent.title
    assert all(command and all(command) for command in agent.commands)
    assert (agent.url or "").startswith("https://")
    assert re.match(r"(npm install -g|uv tool install|brew install|curl) ", agent.install or "")
    assert (agent.sign_in or "").endswith(".")
    assert agent.quirks <= QUIRKS.keys()
    assert all(re.fullmatch(r"[A-Z][A-Z0-9_]*", one) and words for one, words in agent.env_needed.items())


def test_no_two_agents_call_themselves_alike_or_are_one_command() -> None:
    agents = [builtin_agent(name) for name in builtin_names()]
    names = [one for agent in agents if agent for one in agent.agent_names]
    commands = [tuple(one) for agent in agents if agent for one in agent.commands]
    assert (len(set(names)), len(set(commands))) == (len(names), len(commands))


def test_an_agent_of_a_data_file_needs_no_configuration(programs: Any) -> None:
    found = Catalogue().find("droid")
    assert (found.title, found.command) == ("Droid", ["droid", "exec", "--output-format", "acp"])
    assert found.env == {"DROID_DISABLE_AUTO_UPDATE": "true", "FACTORY_DROID_AUTO_UPDATE_ENABLED": "false"}
    assert (found.prefix, found.paths, found.offers_terminal) == ([], [], True)
    assert found.install
    assert found.sign_in
    assert "FACTORY_API_KEY" in found.env_needed


def test_of_its_commands_the_first_that_is_here_is_run(programs: Any) -> None:
    assert Catalogue().find("claude").command == ["claude-agent-acp"]
    programs("claude-code-acp")
    assert Catalogue().find("claude").command == ["claude-code-acp"]
    programs("claude-agent-acp")
    assert Catalogue().find("claude").command == ["claude-agent-acp"]


def test_programs_are_looked_for_in_the_path_that_the_agent_gets(programs: Any, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "claude-code-acp").write_text("")
    (other / "claude-code-acp").chmod(0o755)
    configured = {"claude": {"env": {"PATH": str(other)}}}
    assert Catalogue(configured).find("claude").command == ["claude-code-acp"]


def test_behind_a_prefix_programs_are_not_looked_for(programs: Any) -> None:
    programs("claude-code-acp")
    found = Catalogue({"claude": {"prefix": ["docker", "exec", "-i", "box"]}}).find("claude")
    assert (found.command, found.offers_terminal) == (["claude-agent-acp"], False)


def test_a_program_below_the_home_directory_may_be_written_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    command = ["~/bin/agent", "~/x"]
    settings = {"here": {"command": command}, "there": {"command": command, "prefix": ["~/in", "~/box"]}}
    settings["named"] = {"command": ["~me/agent"]}
    catalogue = Catalogue(settings)
    here, there = catalogue.find("here"), catalogue.find("there")
    assert here.command == ["/home/me/bin/agent", "~/x"]
    assert (there.prefix, there.command) == (["/home/me/in", "~/box"], command)
    assert catalogue.find("named").command == ["~me/agent"]


def test_the_user_overrides_it_field_by_field() -> None:
    settings = {
        "env": {"DROID_DISABLE_AUTO_UPDATE": "false", "MORE": "1"},
        "mcp_servers": [{"name": "m"}],
        "prefix": ["ssh", "box"],
        "paths": [{"here": "/home/me", "there": "/work"}],
        "terminal": True,
        "defaults": {"mode": "plan", "options": {"fast": True}},
        "idle_seconds": 60,
        "sign_in": "Ask Ann.",
    }
    found, as_it_is = Catalogue({"droid": settings}).find("droid"), Catalogue().find("droid")
    assert found.env == as_it_is.env | {"DROID_DISABLE_AUTO_UPDATE": "false", "MORE": "1"}
    assert (found.command, found.title, found.install) == (as_it_is.command, as_it_is.title, as_it_is.install)
    assert (found.mcp_servers, found.prefix, found.sign_in) == ([{"name": "m"}], ["ssh", "box"], "Ask Ann.")
    assert found.paths == [PathPair("/home/me", "/work")]
    assert found.defaults == Defaults(mode="plan", options={"fast": True})
    assert (found.idle_seconds, found.offers_terminal) == (60, True)
    assert Catalogue({"droid": {"command": ["mine"]}}).find("droid").command == ["mine"]


@pytest.mark.parametrize("settings", [[], {}])
def test_an_entry_that_says_nothing_changes_nothing(settings: Any) -> None:
    assert Catalogue({"kiro": settings}).find("kiro") == Catalogue().find("kiro")


def test_the_demo_can_be_changed_without_a_command() -> None:
    found = Catalogue({"demo": {"defaults": {"mode": "x"}}}).find("demo")
    assert (found.command, found.defaults.mode) == (Catalogue().find("demo").command, "x")


@pytest.mark.parametrize(
    ("agent_name", "quirks"),
    [
        ("gemini-cli", {"missing_file_reads_empty", "api_key_is_text", "encoded_links"}),
        ("Copilot", {"hides_embedded_text", "hides_links", "session_tokens"}),
        ("OpenCode", {"fails_on_link_types"}),
        ("GeMini", set()),
        ("", set()),
    ],
)
def test_quirks_go_by_what_the_agent_calls_itself(agent_name: str, quirks: set[str]) -> None:
    assert quirks_of(agent_name) == quirks


def test_names_lead_to_no_other_files() -> None:
    assert builtin_agent("../definition") is None
    assert "no agent called '../builtin/kiro'" in failure(Catalogue(), "../builtin/kiro").what


def test_who_mistypes_an_agent_of_a_data_file_is_told_its_name() -> None:
    told = failure(Catalogue({"mine": MINE}), "gemni")
    assert "Did you mean 'gemini'?" in told.what
    assert "Known agents: mine, demo." in told.what

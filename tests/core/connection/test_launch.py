"""Command lines of agents and of their sign-in programs, here and behind a prefix."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from unittest.mock import Mock

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.acp.v1 import DialectV1
from acp_nvim.agents.definition import AgentDefinition, PathPair
from acp_nvim.connection.startup import Launch, in_terminal, launch, path_map, prepare
from acp_nvim.traffic.masking import masked
from acp_nvim.workspace.guarded_names import why_guarded

ENV = {"PLACE": "/there", "API_KEY": "s3cret"}


def definition(**fields: object) -> AgentDefinition:
    return AgentDefinition(**{"name": "box", "command": ["agent", "--acp"], "env": ENV, **fields})  # type: ignore[arg-type]


def started(agent: AgentDefinition, cwd: str = "/home/me/p") -> Launch:
    return launch(agent, cwd, path_map(agent))


def test_here_it_is_the_command_and_its_environment() -> None:
    assert started(definition()) == Launch(["agent", "--acp"], ENV)


def test_behind_a_prefix_without_anything_to_bring_it_is_just_behind_it() -> None:
    assert started(definition(prefix=["nice", "-n5"], env={})) == Launch(["nice", "-n5", "agent", "--acp"], {})


def test_a_sign_in_here_gets_both_environments() -> None:
    agent = definition()
    assert in_terminal(agent, "/", path_map(agent), ["agent", "login"], {"PLACE": "/x"}) == Launch(
        ["agent", "login"], {"PLACE": "/x", "API_KEY": "s3cret"}
    )


def test_a_sign_in_behind_a_prefix_runs_there_and_shows_no_secret() -> None:
    agent = definition(prefix=["docker", "exec", "-it", "box"], paths=[PathPair("/home/me", "/work")])
    made = in_terminal(agent, "/home/me/p", path_map(agent), ["agent", "login"], {"HOME": "/h"})
    assert made.argv[:4] == agent.prefix
    assert made.argv[4:] == [
        "sh",
        "-c",
        'cd "$0" && exec "$@"',
        "/work/p",
        "env",
        "PLACE=/there",
        "HOME=/h",
        "agent",
        "login",
    ]
    assert (made.env, made.first) == ({}, b"")


def test_a_sign_in_over_ssh_is_one_line() -> None:
    agent = definition(prefix=["/usr/bin/ssh", "-t", "box"], env={})
    made = in_terminal(agent, "/", path_map(agent), ["agent", "log in"], {})
    assert made.argv == ["/usr/bin/ssh", "-t", "box", "agent 'log in'"]


@given(
    st.dictionaries(
        st.from_regex(r"[A-Z_][A-Z0-9_]{0,8}", fullmatch=True),
        st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20),
        max_size=3,
    )
)
def test_any_environment_is_brought_along_and_the_rest_of_the_input_stays(env: dict[str, str]) -> None:
    env = {f"X_{name}": value for name, value in env.items()}
    reads = ["sh", "-c", 'env -0; printf "%s" "|$(cat)"']
    made = started(definition(command=reads, env=env, prefix=["env"]))
    ended = subprocess.run(made.argv, input=made.first + b'{"first": 1}\n', capture_output=True, check=True)
    variables, _, rest = ended.stdout.rpartition(b"|")
    found = dict(one.split(b"=", 1) for one in variables.split(b"\0") if b"=" in one)
    assert {name: found[name.encode()].decode() for name in env} == env
    assert rest == b'{"first": 1}'


def test_a_directory_with_any_name_is_gone_to(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "it's $HOME\n-there"
    here.mkdir()
    there.mkdir()
    agent = definition(command=["pwd"], env={}, prefix=["env"], paths=[PathPair(str(here), str(there))])
    made = started(agent, str(here))
    ended = subprocess.run(made.argv, capture_output=True, check=True, cwd="/", text=True)
    assert ended.stdout == f"{there}\n"


@pytest.mark.parametrize("name", ["A-B", "1A", "", "A B", "A;id", "Ä"])
def test_what_is_no_name_of_a_variable_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of a variable"):
        started(definition(prefix=["box"], env={name: ""}))


@pytest.mark.anyio
async def test_what_a_first_question_needs_is_built_after_the_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    await prepare()
    monkeypatch.setattr(re, "compile", Mock(side_effect=AssertionError("compiled while the user waits")))
    monkeypatch.setattr(msgspec.json, "Decoder", Mock(side_effect=AssertionError("built while the user waits")))
    assert why_guarded(["src", "main.py"]) is None
    assert masked("make all") == "make all"
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c"}, "options": []}
    assert DialectV1().asked("session/request_permission", msgspec.Raw(msgspec.json.encode(params)))[0] == "s"

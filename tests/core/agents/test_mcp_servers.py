"""MCP servers as people write them become those of the protocol, or are refused in words."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.agents.mcp_servers import ServerError, listed, merged, prepared, words_for

PATH = {"PATH": "/usr/bin:/bin"}


def ready(server: dict[str, Any], variables: dict[str, str] | None = None, remote: bool = False) -> dict[str, Any]:
    return prepared(server, {**PATH, **(variables or {})}, "/", remote)


def test_maps_and_lists_become_the_same() -> None:
    as_map = {
        "a": {"command": "sh", "args": ["-c"], "env": {"X": "1"}},
        "b": {"url": "http://h", "headers": {"K": "v"}},
    }
    as_list = [
        {"name": "a", "command": "sh", "args": ["-c"], "env": [{"name": "X", "value": "1"}]},
        {"name": "b", "type": "http", "url": "http://h", "headers": [{"name": "K", "value": "v"}]},
    ]
    assert (
        listed(as_map)
        == listed(as_list)
        == [
            {"command": "sh", "args": ["-c"], "env": [{"name": "X", "value": "1"}], "name": "a"},
            {"type": "http", "url": "http://h", "headers": [{"name": "K", "value": "v"}], "name": "b"},
        ]
    )
    assert [one.get("type") for one in listed([{"type": "stdio"}, {"type": "streamable-http"}, {"type": "sse"}])] == [
        None,
        "http",
        "sse",
    ]


@pytest.mark.parametrize("written", [5, "x", ["x"], [1], None])
def test_what_is_neither_a_list_nor_a_map_is_refused(written: Any) -> None:
    with pytest.raises(ServerError, match="a map from names to servers"):
        listed(written)


def test_a_later_source_replaces_a_server_and_keeps_its_place() -> None:
    sources = [[{"name": "a", "n": 1}, {"name": "b", "n": 1}], [{"name": "a", "n": 2}, {"name": "c", "n": 2}]]
    assert merged(*sources) == [{"name": "a", "n": 2}, {"name": "b", "n": 1}, {"name": "c", "n": 2}]


def test_variables_are_replaced_everywhere_but_in_the_name() -> None:
    server = {
        "name": "${A}",
        "command": "${SHELL_OF:-sh}",
        "args": ["${A}b${A}", "$A", "${ A}"],
        "env": [{"name": "T", "value": "Bearer ${A}"}],
    }
    assert ready(server, {"A": "x"}) == {
        "name": "${A}",
        "command": "/usr/bin/sh" if Path("/usr/bin/sh").exists() else "/bin/sh",
        "args": ["xbx", "$A", "${ A}"],
        "env": [{"name": "T", "value": "Bearer x"}],
    }
    web = {"name": "w", "type": "http", "url": "https://${H:-localhost}/", "headers": [{"name": "K", "value": "${K}"}]}
    assert ready(web, {"K": "secret", "H": ""})["url"] == "https://localhost/"


@given(st.text(), st.dictionaries(st.sampled_from(["A", "B_1"]), st.text()))
def test_a_text_without_variables_stays_as_it_is(text: str, variables: dict[str, str]) -> None:
    plain = text.replace("${", "$ {")
    server = {"name": "n", "type": "http", "url": plain}
    assert ready(server, variables)["url"] == plain


@given(st.text(), st.text(min_size=1), st.text())
def test_a_value_is_not_looked_at_again(before: str, value: str, after: str) -> None:
    before, after = before.replace("$", ""), after.replace("$", "")
    server = {"name": "n", "type": "http", "url": f"{before}${{A}}{after}"}
    assert ready(server, {"A": value})["url"] == f"{before}{value}{after}"


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"command": "sh"}, "it has no name"),
        ({"name": ["x"], "command": "sh"}, "it has no name"),
        ({"name": "nvim", "command": "sh"}, "the editor's own server"),
        ({"name": "a"}, "it has no command"),
        ({"name": "a", "command": ["sh"]}, "it has no command"),
        ({"name": "a", "type": "http"}, "it has no url"),
        ({"name": "a", "command": "nonesuch-program"}, "its program nonesuch-program is not found"),
        ({"name": "a", "command": "/nonesuch/program"}, "its program /nonesuch/program is not found"),
        ({"name": "a", "command": "/etc/passwd"}, "its program /etc/passwd is not found"),
        ({"name": "a", "command": "sh", "env": [{"name": "X", "value": "${MISSING}"}]}, "MISSING is not set"),
    ],
)
def test_what_cannot_be_used_is_refused_in_words(server: dict[str, Any], words: str) -> None:
    with pytest.raises(ServerError, match=words):
        ready(server)


def test_a_program_is_looked_for_where_the_agent_runs(tmp_path: Path) -> None:
    (tmp_path / "server").symlink_to(sys.executable)
    assert prepared({"name": "a", "command": "./server"}, PATH, str(tmp_path), False)["command"].endswith("server")
    assert prepared({"name": "a", "command": "server"}, {"PATH": str(tmp_path)}, "/", False)["command"] == str(
        tmp_path / "server"
    )
    assert ready({"name": "a", "command": "nonesuch"}, remote=True)["command"] == "nonesuch"


@given(st.text())
def test_what_is_shown_has_no_control_characters(text: str) -> None:
    pair = [{"name": text, "value": text}]
    assert words_for({"command": text, "args": [text], "env": pair}).isprintable()
    assert words_for({"url": text, "headers": pair}).isprintable()


def test_all_that_runs_is_shown() -> None:
    server = {"command": "npx", "args": ["-y", "x\x1b[2J"], "env": [{"name": "K", "value": "${SECRET}"}]}
    assert words_for(server) == "npx -y x\\x1b[2J (env: K=${SECRET})"
    assert words_for({"command": 5, "args": "x", "env": ["y"]}) == "5 x (env: ?=y)"

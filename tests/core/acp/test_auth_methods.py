"""Ways to sign in: typed ones, those of before the types, and those that an error names."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from acp_nvim.acp.answers import AuthMethod, AuthVariable
from acp_nvim.acp.auth_methods import named_by_error
from acp_nvim.acp.dialect import Dialect
from acp_nvim.acp.v1 import DialectV1
from acp_nvim.acp.v2 import DialectV2

LAUNCH = {"terminal-auth": {"command": "/opt/kimi", "args": ["login"], "label": "Log in", "env": {"HOME_OF": "x"}}}


def read(dialect: Dialect, said: dict[str, Any], **answer: Any) -> AuthMethod:
    """The only method of that answer to `initialize`."""
    raw = msgspec.Raw(json.dumps({"protocolVersion": dialect.version, "authMethods": [said], **answer}).encode())
    [method] = dialect.initialized(raw).auth_methods
    return method


def v1(**said: Any) -> AuthMethod:
    return read(DialectV1(), {"id": "m", "name": "M", **said})


def v2(**said: Any) -> AuthMethod:
    return read(DialectV2(), {"methodId": "m", "name": "M", **said}, info={"name": "n", "version": "1"})


def test_without_a_type_the_agent_sees_to_it_itself() -> None:
    assert v1(description="d") == AuthMethod(method_id="m", name="M", description="d")
    assert v1(type="agent", description="d") == v1(description="d")
    assert v2(type="agent", description="d") == v1(description="d")


def test_a_typed_one_in_a_terminal_says_what_to_add_to_the_command() -> None:
    wanted = AuthMethod(method_id="m", name="M", kind="terminal", args=["--login"], env={"K": "v"})
    assert v1(type="terminal", args=["--login"], env={"K": "v"}) == wanted
    assert v1(type="terminal", args=["--login"], env={"K": "v"}, _meta=LAUNCH) == wanted
    assert v2(type="terminal", args=["--login"], env=[{"name": "K", "value": "v"}]) == wanted


@pytest.mark.parametrize("kind", [{}, {"type": "terminal"}, {"type": "agent"}])
def test_one_of_before_the_types_names_the_whole_command(kind: dict[str, str]) -> None:
    method = v1(**kind, _meta=LAUNCH)
    assert (method.kind, method.command, method.args) == ("terminal", ["/opt/kimi", "login"], [])
    assert method.env == {"HOME_OF": "x"}


def test_arguments_that_the_whole_command_has_as_well_are_no_arguments_of_the_agents_own() -> None:
    method = v1(type="terminal", args=["login"], _meta=LAUNCH)
    assert (method.kind, method.command, method.args) == ("terminal", ["/opt/kimi", "login"], [])
    assert v1(type="terminal", args=["--login"], _meta=LAUNCH).args == ["--login"]


@pytest.mark.parametrize("launch", [None, 5, {}, {"command": 5}, {"command": "c", "args": "x"}])
def test_a_command_that_is_malformed_is_none(launch: Any) -> None:
    assert v1(_meta={"terminal-auth": launch}) == AuthMethod(method_id="m", name="M")


def test_variables_are_secret_and_needed_unless_it_says_otherwise() -> None:
    variables = [
        {"name": "KEY", "label": "Your key"},
        {"name": "BASE", "secret": False, "optional": True},
    ]
    method = v1(type="env_var", vars=variables, link="https://example.com/keys", description="d")
    assert method.variables == [
        AuthVariable("KEY", "Your key", secret=True, optional=False),
        AuthVariable("BASE", None, secret=False, optional=True),
    ]
    assert (method.kind, method.link, method.description) == ("env_var", "https://example.com/keys", "d")
    assert v1(type="env_var", varName="KEY").variables == [AuthVariable("KEY")]
    assert v1(type="env_var", vars=[{"label": "no name"}]).variables == []


def test_a_way_that_takes_a_key_says_so_in_its_meta() -> None:
    for method in (v1(_meta={"api-key": {"provider": "x"}}), v2(type="agent", _meta={"api-key": {}})):
        assert (method.kind, [one.name for one in method.variables]) == ("api_key", ["api-key"])
    assert v1(_meta={"api-key": "x"}).kind == "agent"


def test_one_of_an_unknown_type_keeps_its_words() -> None:
    for method in (v1(type="_retina", description="look here"), v2(type="_retina", description="look here")):
        assert (method.kind, method.name, method.description) == ("_retina", "M", "look here")


def test_an_error_may_name_methods() -> None:
    login = {"id": "login", "name": "L", "type": "terminal", "args": ["login"], "env": {"K": "v"}}
    [terminal, plain] = named_by_error({"authMethods": [login, {"id": "p", "name": "P"}, {"name": "no id"}, 5]})
    assert terminal == AuthMethod(method_id="login", name="L", kind="terminal", args=["login"], env={"K": "v"})
    assert plain == AuthMethod(method_id="p", name="P")


@pytest.mark.parametrize("data", [None, "words", {}, {"authMethods": "x"}, [1]])
def test_most_errors_name_none(data: Any) -> None:
    assert named_by_error(data) == ()

"""Providers of models: listed, set and disabled at an agent; the headers are secrets."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from acp_nvim.contract.request_events import ProvidersListed, ProviderView
from acp_nvim.contract.session_events import SessionDone
from acp_nvim.traffic import masking
from tests.core.session.host import Host
from tests.core.session.test_sessions_of_agents import ask
from tests.support.schemas import load

pytestmark = pytest.mark.anyio

KEY = "kk-0123456789abcdef"
AGENT = """
    INITIALIZE = {"agentCapabilities": {"providers": {}}}
    providers = [
        {"providerId": "main", "supported": ["anthropic", "_own"], "required": True,
         "current": {"apiType": "anthropic", "baseUrl": "https://a.example.org"}},
        {"providerId": "other", "supported": [], "required": False, "current": None},
    ]
    def providers_list(agent, request):
        return {"providers": providers}
    def providers_set(agent, request):
        if "refuse" in request.params["baseUrl"]:
            raise Error(-32602, "not with " + str(request.params.get("headers")))
        return {}
    def providers_disable(agent, request):
        return {}
"""


@pytest.fixture(autouse=True)
def nothing_learned(monkeypatch: pytest.MonkeyPatch) -> None:
    """No secret of another test is masked."""
    monkeypatch.setattr(masking.LEARNED, "secrets", frozenset())


async def listed(host: Host, number: int = 1) -> ProvidersListed:
    """What the host tells of the agent."""
    answer: ProvidersListed = await ask(host, "providers_list", ProvidersListed, number, agent="it", cwd=str(host.cwd))
    return answer


async def changed(host: Host, method: str, number: int = 1, **more: Any) -> SessionDone:
    """The host's answer to a change."""
    named = {"agent": "it", "cwd": str(host.cwd), "provider": "main", **more}
    answer: SessionDone = await ask(host, method, SessionDone, number, **named)
    return answer


async def test_the_providers_are_listed(host: Host) -> None:
    host.script(AGENT)
    told = await listed(host)
    assert told.problem is None
    assert told.providers == [
        ProviderView("main", ["anthropic", "_own"], True, "anthropic", "https://a.example.org"),
        ProviderView("other", [], False),
    ]


@pytest.mark.parametrize(
    ("providers", "names"),
    [
        ("[]", []),
        ('[{"providerId": "x"}, {"providerId": "y", "supported": 7, "required": False}, 7]', []),
        ('[{"providerId": "x", "supported": ["a", 7], "required": True, "current": {"apiType": 1}}]', ["x"]),
        ('[{"providerId": str(n), "supported": ["a"] * 50, "required": True} for n in range(999)]', 100),
    ],
)
async def test_what_is_malformed_or_too_much_is_left_out(host: Host, providers: str, names: Any) -> None:
    host.script(AGENT + f"\n    providers = {providers}\n")
    told = await listed(host)
    assert told.problem is None
    assert (len(told.providers) if isinstance(names, int) else [one.id for one in told.providers]) == names


async def test_a_provider_is_set_and_its_header_is_in_no_log(host: Host) -> None:
    host.hello(log={"traffic": True})
    host.script(AGENT)
    headers = {"X-Anything": f"Bearer {KEY}"}
    url = "https://me:hidden-word@b.example.org"
    told = await changed(host, "provider_set", api_type="_own", base_url=url, headers=headers)
    assert (told.words, told.problem) == ("it uses _own at https://me:[masked]@b.example.org as 'main'", None)
    [sent] = [one["params"] for one in host.scripts["it"].received("providers/set")]
    assert sent == {"providerId": "main", "apiType": "_own", "baseUrl": url, "headers": headers}
    root = load("v1", "schema.unstable.json")
    jsonschema_rs.Draft202012Validator({"$ref": "#/$defs/SetProviderRequest", "$defs": root["$defs"]}).validate(sent)
    refused = await changed(host, "provider_set", 2, api_type="_own", base_url="https://refuse", headers=headers)
    assert refused.problem is not None
    assert "the provider is not changed" in refused.problem
    written = "".join(one.read_text() for one in host.log_path.parent.rglob("*") if one.is_file())
    assert "providers/set" in written
    for secret in (KEY, "hidden-word"):
        assert secret not in written
        assert secret not in refused.problem


@pytest.mark.parametrize("headers", [None, [], {}])
async def test_without_headers_none_are_sent(host: Host, headers: Any) -> None:
    host.script(AGENT)
    await changed(host, "provider_set", api_type="a", base_url="https://c", headers=headers)
    assert ["headers" in one["params"] for one in host.scripts["it"].received("providers/set")] == [False]


async def test_a_provider_is_disabled(host: Host) -> None:
    host.script(AGENT)
    told = await changed(host, "provider_disable", provider="other")
    assert told.words == "it does not use the provider 'other' any more"
    assert [one["params"] for one in host.scripts["it"].received("providers/disable")] == [{"providerId": "other"}]


async def test_an_agent_without_providers_is_not_asked(host: Host) -> None:
    host.script("INITIALIZE = {}")
    problems = [
        (await listed(host)).problem,
        (await changed(host, "provider_set", 2, api_type="a", base_url="b")).problem,
        (await changed(host, "provider_disable", 3)).problem,
    ]
    assert all(one is not None and "does not offer" in one for one in problems)
    assert {one["method"] for one in host.scripts["it"].received()} <= {"initialize"}


async def test_an_agent_that_dies_is_told(host: Host) -> None:
    host.script(AGENT + "\n    def providers_list(agent, request):\n        os._exit(4)\n")
    problem = (await listed(host)).problem
    assert problem is not None
    assert "exit code 4" in problem

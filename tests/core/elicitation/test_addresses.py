"""What is said of a URL before anybody opens it: its host, and what deceives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acp_nvim.elicitation.addresses import check_url


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://example.org", "example.org"),
        ("https://example.org:8443/a@b?c=https://evil.com#d", "example.org"),
        ("HTTPS://Example.ORG/", "Example.ORG"),
        ("http://localhost:3000/callback", "localhost"),
        ("http://127.0.0.1:9/", "127.0.0.1"),
        ("http://[::1]:9/", "[::1]"),
        ("https://dead.beef.example/", "dead.beef.example"),
    ],
)
def test_an_honest_url_has_a_host_and_no_warnings(url: str, host: str) -> None:
    seen = check_url(url)
    assert (seen.host, url[seen.first : seen.last], seen.warnings, seen.refused) == (host, host, [], None)


@pytest.mark.parametrize(
    ("url", "host", "words"),
    [
        ("https://good.com@evil.com/", "evil.com", "before the @"),
        ("https://good.com:443@evil.com/", "evil.com", "The page is at evil.com"),
        ("https://a@b@evil.com/", "evil.com", "before the @"),
        ("https://xn--pple-43d.com/", "xn--pple-43d.com", "“аpple” (punycode)"),
        ("https://xn--a-0/", "xn--a-0", "but is none"),
        ("https://аpple.com/", "аpple.com", "mixes letters of Cyrillic and Latin"),
        ("https://аррӏе.com/", "аррӏе.com", "looks like 'apple'"),
        ("https://gοοgle.com/", "gοοgle.com", "Greek and Latin"),
        ("https://bücher.example/", "bücher.example", "xn--bcher-kva"),
        ("https://evil。com/", "evil。com", "Browsers read the host as evil.com"),
        ("https://ｅvil.com/", "ｅvil.com", "Browsers read the host as evil.com"),
        ("https://exam%70le.org/", "exam%70le.org", "%"),
        ("https://93.184.216.34/", "93.184.216.34", "an address"),
        ("https://0x5db8d822/", "0x5db8d822", "an address"),
        ("https://1572395042/", "1572395042", "an address"),
        ("https://[2606:2800::1]/", "[2606:2800::1]", "an address"),
        ("http://example.org/", "example.org", "not encrypted"),
    ],
)
def test_what_deceives_is_said(url: str, host: str, words: str) -> None:
    seen = check_url(url)
    assert (seen.host, url[seen.first : seen.last]) == (host, host)
    assert seen.refused is None
    assert words in " ".join(seen.warnings)


def test_letters_that_are_written_together_are_no_mixture() -> None:
    assert not any("mixes" in words for words in check_url("https://日本カナのweb.example/").warnings)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("javascript:alert(1)", "neither https nor http"),
        ("file:///etc/passwd", "neither https nor http"),
        ("data:text/html,x", "neither https nor http"),
        ("vscode://x/y", "neither https nor http"),
        ("example.org", "neither https nor http"),
        ("", "neither https nor http"),
        ("https:///path", "no host"),
        ("https://:80/", "no host"),
        ("https://./", "no host"),
        ("https://good.com\\@evil.com/", "backslash"),
        ("https://exa\u200bmple.org/", "U+200B"),
        ("https://example.org/\u202egro", "U+202E"),
        ("https://example.org/a b", "U+0020"),
        ("https://example.org/\n", "U+000A"),
        ("https://example.org/" + "a" * 9000, "characters"),
    ],
)
def test_what_is_no_web_page_is_refused(url: str, words: str) -> None:
    assert words in (check_url(url).refused or "")


@given(st.text(max_size=40).map(lambda rest: f"https://{rest}") | st.text(max_size=20))
def test_nothing_that_an_agent_sends_breaks_it(url: str) -> None:
    seen = check_url(url)
    assert seen.refused is not None or (seen.host and url[seen.first : seen.last] == seen.host)

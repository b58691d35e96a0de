"""Rules by agent, kind and path; and how sure one has to be."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.glob import match_command, match_path
from acp_nvim.permissions.rules import Wanted, judge
from acp_nvim.permissions.shell_line import read_line


def decide(rules: list[Rule], otherwise: Any = "ask", **wanted: Any) -> str:
    """What becomes of such a request."""
    line = wanted.pop("line", None)
    shape = {"agent": "it", "kind": "edit", "roots": ["/p"], **wanted}
    return judge(rules, Wanted(**shape, command=None if line is None else read_line(line)), otherwise).action


ALLOW, REJECT = Rule(action="allow"), Rule(action="reject")
SRC = Rule(action="allow", path="src/**")


@pytest.mark.parametrize(
    ("rules", "wanted", "action"),
    [
        ([], {}, "ask"),
        ([ALLOW], {}, "allow"),
        ([REJECT], {}, "reject"),
        ([Rule(action="ask"), ALLOW], {}, "ask"),
        ([ALLOW, REJECT], {}, "allow"),
        ([Rule(action="allow", agent="other")], {}, "ask"),
        ([Rule(action="allow", agent="it")], {}, "allow"),
        ([Rule(action="allow", kind="read")], {}, "ask"),
        ([Rule(action="allow", kind=("read", "edit"))], {}, "allow"),
        ([Rule(action="allow", kind=())], {}, "ask"),
        # paths: all of them to allow, any of them for the rest
        ([SRC], {"paths": ["/p/src/a"]}, "allow"),
        ([SRC], {"paths": ["/p/src/a", "/p/b"]}, "ask"),
        ([SRC], {"paths": ["/p/src/a", None]}, "ask"),
        ([SRC], {"paths": []}, "ask"),
        ([SRC, REJECT], {"paths": []}, "ask"),
        ([SRC, ALLOW], {"paths": []}, "allow"),
        ([Rule(action="reject", path="src/**")], {"paths": ["/p/b", "/p/src/a"]}, "reject"),
        ([Rule(action="reject", path="src/**"), ALLOW], {"paths": ["/p/b"]}, "allow"),
        ([Rule(action="reject", path="src/**"), ALLOW], {"paths": ["/p/b", None]}, "ask"),
        ([Rule(action="reject", path="src/**"), ALLOW], {"paths": []}, "ask"),
        ([Rule(action="reject", path="src/**"), REJECT], {"paths": []}, "reject"),
        ([Rule(action="ask", path="**/.env"), ALLOW], {"paths": ["/p/x", "/p/.env"]}, "ask"),
        # commands: a rule about paths is not about what a command may do
        ([Rule(action="allow", kind="execute")], {"kind": "execute", "line": "ls > f; $(x"}, "allow"),
        ([ALLOW], {"kind": "execute", "line": "ls > f; $(x"}, "allow"),
        ([SRC], {"kind": "execute", "line": "ls", "paths": ["/p/src/a"]}, "ask"),
        ([SRC], {"kind": "execute", "paths": ["/p/src/a"]}, "ask"),
        ([Rule(action="allow", kind="execute", path="src/**")], {"kind": "execute", "paths": ["/p/src/a"]}, "ask"),
        (
            [Rule(action="allow", kind="execute", path="src/**")],
            {"kind": "execute", "line": "ls", "paths": ["/p/src/a"]},
            "ask",
        ),
        ([Rule(action="allow", command="ls")], {"kind": "execute", "line": "ls", "paths": ["/p/src/a"]}, "ask"),
        (
            [Rule(action="allow", command="ls", path="src/*")],
            {"kind": "execute", "line": "ls", "paths": ["/p/src/a"]},
            "allow",
        ),
        ([Rule(action="allow", command="*")], {"kind": "execute"}, "ask"),
        ([Rule(action="allow", command="*")], {"kind": "edit"}, "ask"),
        ([Rule(action="reject", command="rm *"), ALLOW], {"kind": "execute"}, "ask"),
        ([Rule(action="reject", command="rm *"), ALLOW], {"kind": "edit"}, "allow"),
        ([Rule(action="reject", command="rm *"), ALLOW], {"kind": "execute", "line": "ls (("}, "ask"),
        ([Rule(action="reject", command="rm *"), ALLOW], {"kind": "execute", "line": "$x y"}, "ask"),
        ([Rule(action="reject", command="rm *"), ALLOW], {"kind": "execute", "line": "ls > f"}, "allow"),
        ([Rule(action="allow", command="ls *"), REJECT], {"kind": "execute", "line": "ls > f"}, "ask"),
        ([Rule(action="allow", command="ls *"), REJECT], {"kind": "execute", "line": "make"}, "reject"),
        ([Rule(action="allow", command="ls *"), ALLOW], {"kind": "execute", "line": "ls > f"}, "allow"),
        # what rules cannot judge
        ([ALLOW], {"strange": True}, "ask"),
        ([REJECT], {"strange": True}, "reject"),
        ([Rule(action="allow", command="*")], {"strange": True, "kind": "execute", "line": "ls"}, "ask"),
        ([ALLOW], {"outside": True, "paths": ["/x"]}, "ask"),
        ([Rule(action="allow", path="/x")], {"outside": True, "paths": ["/x"]}, "allow"),
        ([REJECT], {"outside": True, "paths": ["/x"]}, "reject"),
    ],
)
def test_decisions(rules: list[Rule], wanted: dict[str, Any], action: str) -> None:
    assert decide(rules, **wanted) == action


def test_what_no_rule_is_about_may_be_allowed_otherwise() -> None:
    rules = [Rule(action="reject", command="rm *"), Rule(action="ask", command="git push *")]
    assert decide(rules, "allow", kind="execute", line="make") == "allow"
    assert decide(rules, "allow", kind="execute", line="make > $x") == "allow"
    assert decide(rules, "allow", kind="execute", line="make; rm x") == "reject"
    assert decide(rules, "allow", kind="execute", line="git push") == "ask"
    assert decide(rules, "allow", kind="execute", line="$x") == "ask"
    assert decide(rules, "allow", kind="execute", line="git 'x") == "ask"


def test_the_rules_that_decided_are_named_once_each() -> None:
    ls, echo = Rule(action="allow", command="ls *"), Rule(action="allow", command="echo *")
    line = read_line("ls; ls -l && echo a")
    assert judge([ls, echo], Wanted(agent="it", kind="execute", roots=["/p"], command=line)).rules == (ls, echo)
    assert Rule(action="ask", agent="a", kind=("x", "y"), path="p", command="c").words == (
        "ask agent a kind x/y path p command c"
    )


@pytest.mark.parametrize(
    ("glob", "path", "matches"),
    [
        ("a", "/p/a", True),
        ("a", "/p/a/b", False),
        ("a", "/p/A", False),
        ("./a", "/p/a", True),
        ("*", "/p/a", True),
        ("*", "/p/.a", True),
        ("*", "/p/a/b", False),
        ("*.py", "/p/a/b.py", False),
        ("**/*.py", "/p/b.py", True),
        ("**/*.py", "/p/a/c/b.py", True),
        ("**/src/**", "/p/a/src/b/c", True),
        ("**/src/**/x", "/p/src/src/x", True),
        ("src/**", "/p/src/a/b", True),
        ("src/**", "/p/src", True),
        ("src/**", "/p/srcs/a", False),
        ("**", "/p", True),
        ("**", "/q/a", False),
        ("**", "/pa", False),
        ("a?c", "/p/abc", True),
        ("a?c", "/p/a/c", False),
        ("[a-c]x", "/p/bx", True),
        ("[!a-c]x", "/p/bx", False),
        ("[^a-c]x", "/p/dx", True),
        ("[]]x", "/p/]x", True),
        ("[x", "/p/[x", True),
        ("a\\*", "/p/a*", True),
        ("a\\*", "/p/ab", False),
        ("a b/'c'", "/p/a b/'c'", True),
        ("/p/a", "/p/a", True),
        ("/etc/**", "/etc/x/y", True),
        ("/**", "/anything", True),
        ("../q/*", "/q/a", True),
        ("src/../a", "/p/a", True),
        ("a/*/c", "/q/a/b/c", False),
        ("~other/x", "/p/~other/x", False),
        ("grüße/*", "/p/grüße/ä", True),
    ],
)
def test_paths(glob: str, path: str, matches: bool) -> None:
    assert match_path(glob, path, ["/p"]) is matches


def test_paths_below_any_root_and_below_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (tmp_path / "link").symlink_to(home)
    monkeypatch.setenv("HOME", str(tmp_path / "link"))
    assert match_path("~/notes/*", os.path.realpath(home / "notes" / "a"), ["/p"])
    assert match_path("~", os.path.realpath(home), ["/p"])
    assert match_path("a", "/q/a", ["/p", "/q"])


@pytest.mark.parametrize(
    ("glob", "words", "match"),
    [
        ("git status", ("git", "status"), "yes"),
        ("git  status ", ("git", "status"), "yes"),
        ("git status", ("git status",), "no"),
        ("git*", ("git status",), "yes"),
        ("git * status *", ("git", "push status x"), "no"),
        ("git * status *", ("git", "push", "status", "x"), "yes"),
        ("git *", ("git",), "yes"),
        ("git *", ("gitx",), "no"),
        ("git*", ("gitx",), "yes"),
        ("git ?", ("git", "ab"), "no"),
        ("git?status", ("git", "status"), "no"),
        ("git[ ]status", ("git", "status"), "no"),
        ("git[!x]status", ("git", "status"), "no"),
        ("a 'b c' *", ("a", "b c", "d"), "yes"),
        ('a "b c"', ("a", "b", "c"), "no"),
        ("a '*'", ("a", "*"), "yes"),
        ("a '*'", ("a", "b"), "no"),
        ("a \\*", ("a", "*"), "yes"),
        ("a 'b", ("a", "'b"), "yes"),
        ("a\tb", ("a", "b"), "yes"),
        ("*", ("a", "b\nc"), "yes"),
        ("", ("a",), "no"),
        ("rm *", ("rm", None), "yes"),
        ("rm", ("rm", None), "maybe"),
        ("rm x", ("rm", None), "maybe"),
        ("rm x", (None,), "maybe"),
        ("rm x", ("ls", None), "no"),
        ("*", (None,), "yes"),
        ("* x", ("a", None), "maybe"),
        ("rm -r *", ("rm", "-r", None), "yes"),
        ("rm -r x*", ("rm", "-r", None), "maybe"),
    ],
)
def test_commands(glob: str, words: tuple[str | None, ...], match: str) -> None:
    assert match_command(glob, words) == match


def test_many_stars_take_no_time() -> None:
    assert match_command("*a" * 40 + "b", ("a" * 2000,)) == "no"
    assert not match_path("**/*a" * 20 + "b", "/p/" + "a/" * 400, ["/p"])

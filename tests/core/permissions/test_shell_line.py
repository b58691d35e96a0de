"""The readers of command lines, each for itself, and what they make of a line together."""

from __future__ import annotations

import subprocess
import sys

import pytest

from acp_nvim.permissions import bash_tree, shell_line
from acp_nvim.permissions.plain_line import plain_commands
from acp_nvim.permissions.shell_line import UNKNOWN, read_line
from acp_nvim.permissions.wrapped import Wrapped, wrapped


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ("a", [("a",)]),
        ("a b; c", [("a", "b"), ("c",)]),
        ("a|b||c&&d\ne;", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("a &&\n\n b", [("a",), ("b",)]),
        ("a | # x\n b", [("a",), ("b",)]),
        ("a#b #c", [("a#b",)]),
        ("a \\\n b \\\n  c", [("a", "b", "c")]),
        ("a 'b c'd\"e f\"\\;\\ g", [("a", "b cde f; g")]),
        ('a "\\$\\"\\\\\\n"', [("a", '$"\\\\n')]),
        ("a '' \"\"", [("a", "", "")]),
        ("a>/dev/null 2>&1 b", [("a", "b")]),
        ("a if X=1 time", [("a", "if", "X=1", "time")]),
        ("'if' x", [("if", "x")]),
        ("a {} b", [("a", "{}", "b")]),
    ],
)
def test_plain_lines(line: str, commands: list[tuple[str, ...]]) -> None:
    assert plain_commands(line) == commands


LEFT = ["", " ", "#", "\n", "a &&", "a |", "a &&\n", "; a", "a;;b", "a;\n;b", "&& a", "a & b", "a&", "(a)", "{ a; }"]
LEFT += [
    "a b\\\nc",
    "a\\\nb",
    "a \\",
    "\\\na",
    "if a",
    "X=1 a",
    "X+=1",
    "a ~",
    "a ~/b",
    "a x=~",
    "a b:~",
    "a =b",
    "a ^b",
]
LEFT += ["a %b", "! a", "a !b", "a $b", 'a "$b"', "a `b`", "a *", "a ?", "a [b]", "a {b,c}", "a {}b", "a 'b", 'a "b']
LEFT += [
    "a 'b\\'",
    'a "\\`"',
    "a \\;#b",
    "a ''#b",
    "a \\ #b",
    "a 'b\\\\c'",
    'a "b\\\nc"',
    "\\a",
    "a \\n",
    "> /dev/null",
    "a > b",
    "a >/dev/nullx",
    "a 2>&1x",
    "a 3>&1",
    "a2>&1",
]
LEFT += [
    "a <<b",
    "a\r",
    "a\x00",
    "a\u00a0b",
    "a \u200d",
    "a\u2029b",
    "a \ud800",
    "a\x0bb",
    "a\x0cb",
    "a\x85b",
    "coproc a",
]


@pytest.mark.parametrize("line", LEFT)
def test_what_is_not_plain(line: str) -> None:
    assert plain_commands(line) is None


@pytest.mark.parametrize(
    ("line", "commands"),
    [
        ('a $b \'c d\' "e" "$f" g*', [("a", None, "c d", "e", None, None)]),
        ("$a b", [(None, "b")]),
        ("a > f b c 2>&1 d", [("a", "b", "c", "d")]),
        ("export A=b C", [("export", None, "C")]),
        ("unset A; declare -x B", [("unset", "A"), ("declare", "-x", "B")]),
        ("x=1 a b <<< c", [("a", "b")]),
        ("a <<EOF\n$(b)\nEOF\nc", [("a", None), ("b",), ("c",)]),
        ("if a; then b; else c; fi; while d; do e; done", [("a",), ("b",), ("c",), ("d",), ("e",)]),
        ("case $a in b) c;; *) d;; esac", [("c",), ("d",)]),
        ("f() { a; }; [[ -n $(b) ]]; ((1 + $(c)))", [("a",), ("b",), ("c",)]),
        ("a ~ b~c d=~/e {} {f,g} =h", [("a", None, "b~c", None, "{}", None, None)]),
        ("\\a b\\ c", [("a", "b c")]),
    ],
)
def test_commands_are_found_wherever_they_are(line: str, commands: list[tuple[str | None, ...]]) -> None:
    tree = bash_tree.parse(line)
    assert list(tree.commands) == commands
    assert not tree.broken


@pytest.mark.parametrize(
    ("words", "inside"),
    [
        (("ls", "-l"), Wrapped()),
        ((None, "rm"), Wrapped()),
        (("sudo", "rm", "x"), Wrapped((("rm", "x"),))),
        (("sudo", "-u", "me", "rm", "x"), Wrapped((("me", "rm", "x"), ("rm", "x")))),
        (("sudo", "--", "rm", "x", "-r"), Wrapped((("rm", "x", "-r"),))),
        (("sudo", None, "rm"), Wrapped(((None,),))),
        (("env", "A=b", "-i", "C=d", "rm"), Wrapped((("rm",),))),
        (("env", "-S", "rm -r x"), Wrapped((("rm -r x",),), ("rm -r x",))),
        (("timeout", "5", "rm"), Wrapped((("5", "rm"), ("rm",)))),
        (("xargs", "-n", "1", "rm"), Wrapped((("1", "rm", None), ("rm", None)))),
        (("find", "-exec", "a", "{}", ";", "-ok", "b", "+"), Wrapped((("a", "{}"), ("b",)))),
        (("sh", "-c", "a; b", "x"), Wrapped(lines=("a; b",))),
        (("/bin/bash", "-ec", "-x", "a"), Wrapped(lines=("a",))),
        (("bash", "-c"), Wrapped(lines=(None,))),
        (("bash", "-c", None), Wrapped(lines=(None,))),
        (("bash", "script", "-c"), Wrapped(lines=(None,))),
        (("bash", "script"), Wrapped((("script",),))),
        (("bash", "-s", "x"), Wrapped(lines=(None,))),
        (("bash",), Wrapped(lines=(None,))),
        (("eval", "a", "b"), Wrapped((("a", "b"),), ("a b",))),
        (("eval", "a", None), Wrapped((("a", None),), (None,))),
        (("trap", "a", "EXIT"), Wrapped(lines=("a",))),
        (("ssh", "host", "a b"), Wrapped((("host", "a b"), ("a b",)), ("a b",))),
    ],
)
def test_what_a_command_runs(words: tuple[str | None, ...], inside: Wrapped) -> None:
    assert wrapped(words) == inside


@pytest.mark.parametrize(
    ("line", "feature"),
    [
        ("a > b", "not plain"),
        ("a &", "&"),
        ("a $b", "simple_expansion"),
        ("a $(b)", "command_substitution"),
        ("a <(b)", "process_substitution"),
        ("a <<EOF\nEOF", "heredoc_redirect"),
        ("X=1 a", "variable_assignment"),
        ("f() { a; }", "function_definition"),
        ("( a )", "subshell"),
        ("a 'b", "not understood"),
        ("a*", "not plain"),
        ("a\r", "not to be read"),
        ("a" * 5000, "not to be read"),
    ],
)
def test_what_else_is_in_a_line_is_named(line: str, feature: str) -> None:
    read = read_line(line)
    assert feature in read.features
    assert not read.plain


def test_where_the_readers_differ_nothing_is_clear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell_line, "plain_commands", lambda line: [("something", "else")])
    read = read_line("the readers differ")
    assert read.features == {"not clear"}
    assert [one.words for one in read.commands] == [("the", "readers", "differ"), ("something", "else"), (None,)]


def test_commands_in_commands_are_found_up_to_a_depth_and_number() -> None:
    read = read_line("sudo sh -c 'env a; xargs b'")
    inner = [one.words for one in read.commands if one.inner]
    assert {("env", "a"), ("a",), ("xargs", "b"), ("b", None)} <= set(inner)
    assert read.plain
    assert UNKNOWN in read_line("sudo " * 20 + "a").commands
    assert UNKNOWN in read_line("a;" * 300).commands
    assert len(read_line("sudo -a " * 500).commands) < 500


@pytest.mark.parametrize("line", ["find " + "-exec a " * 500, "eval " * 800])
def test_commands_that_share_their_words_are_found_up_to_a_number_of_words(line: str) -> None:
    commands = read_line(line).commands
    assert UNKNOWN in commands
    assert sum(len(one.words) for one in commands) < 15_000


def test_without_the_parser_every_line_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def missing(line: str) -> bash_tree.Tree:
        raise ImportError("No module named 'tree_sitter'")

    monkeypatch.setattr(bash_tree, "parse", missing)
    read = read_line("there is no parser")
    assert (read.commands, read.plain) == ((UNKNOWN,), False)
    assert "tree_sitter" in caplog.text


def test_the_parser_is_not_loaded_before_it_is_needed() -> None:
    program = "import sys, acp_nvim.app; sys.exit(any(name.startswith('tree_sitter') for name in sys.modules))"
    subprocess.run([sys.executable, "-c", program], check=True)

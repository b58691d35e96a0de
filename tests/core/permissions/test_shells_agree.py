"""What is allowed is run as it was read: by real shells, with nothing but recording programs to run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.contract.settings import Rule
from acp_nvim.permissions import bash_tree
from acp_nvim.permissions.plain_line import plain_commands
from acp_nvim.permissions.rules import Wanted, judge
from acp_nvim.permissions.shell_line import read_line
from tests.core.permissions.test_command_rules import ALLOWED, ASKED, REJECTED
from tests.support.examples import examples

BASH = shutil.which("bash") or pytest.fail("bash is needed")
SHELLS = [found for name in ("bash", "dash", "zsh", "fish") if (found := shutil.which(name))]
NO_FILES = {"fish": ["--no-config"], "zsh": ["-f"]}
PROGRAMS = ("prog", "git", "ls", "x")

RECORD = f"""#!{sys.executable} -IS
import json, os, sys

with open(os.environ["RECORD"], "a", encoding="utf-8", errors="surrogateescape") as file:
    file.write(json.dumps(sys.argv) + "\\n")
"""

EVERYTHING = [Rule(action="allow", command="*")]

BAD_ENDS = ["; bad", " && bad", " || bad", " | bad", "\nbad", " & bad", " $(bad)", " `bad`", " <(bad)", ' "$(bad)"']
BAD_ENDS += [" > bad", " >> bad", " 2> bad", " &> bad", " <<EOF\nbad\nEOF", " $bad", " *", " &", "'", '"', " ("]
BAD_ENDS += [" )", " ;; bad", " \\\n; bad", " #\nbad", " {a,b}", " ~", "\r\nbad", "\0", " \u2028bad", "\x0bbad"]
BAD_STARTS = ["bad; ", "bad && ", "bad | ", "bad\n", "bad & ", "X=bad ", "! ", "( ", "{ ", "if ", "$bad ", "time -p "]
BAD_STARTS += ["coproc ", "function ", "bad #\n", "`bad` ", "$(bad) ", "sudo ", "eval ", "exec ", ">bad "]

plain_word = st.text(st.sampled_from("abz09_-./:,=+@"), min_size=1, max_size=6).filter(
    lambda word: not word.startswith("=")
)
any_word = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], include_characters=" \n\t"), max_size=8)
PIECES = "prog git ls x a -b 0 é , @ : if then fi do EOF <<EOF ; && || | & # $ ` ( ) { } * ? ~ = ! ^ % [ ] < > 2>&1"
BLANK_PIECES = [" ", "  ", "\n", "\\\n", "\\", "'", '"', "\t", "\r", "\\ ", "\\;", "''", '""', ">/dev/null"]
fragments = st.lists(st.sampled_from([*PIECES.split(), *BLANK_PIECES, *BLANK_PIECES]), max_size=14).map("".join)
any_text = st.one_of(
    st.text(max_size=40), st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape"))
)
with_rm = st.lists(st.sampled_from(["rm -rf x", "ls", "; ", " && ", " | ", "$(", ")", "\n", "if ", "; then ", "; fi"]))


def allowed(line: str, rules: list[Rule] = EVERYTHING) -> bool:
    """Whether these rules allow the line."""
    return judge(rules, Wanted(agent="it", kind="execute", roots=["/p"], command=read_line(line))).action == "allow"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of programs that write down how they were called."""
    place = tmp_path_factory.mktemp("stubs")
    (place / "bin").mkdir()
    (place / "work").mkdir()
    for name in PROGRAMS:
        (place / "bin" / name).write_text(RECORD)
        (place / "bin" / name).chmod(0o755)
    return place


def run(shell: str, line: str, sandbox: Path) -> list[tuple[str, ...]]:
    """The programs that the shell runs for it, in any order; no file is made."""
    record = sandbox / "record"
    record.write_text("")
    env = {"PATH": str(sandbox / "bin"), "RECORD": str(record), "HOME": str(sandbox), "LC_ALL": "C.UTF-8"}
    command = [shell, *NO_FILES.get(os.path.basename(shell), []), "-c", line]
    subprocess.run(command, env=env, cwd=sandbox / "work", stdin=subprocess.DEVNULL, capture_output=True, check=False)
    assert list((sandbox / "work").iterdir()) == []
    words = [json.loads(said) for said in record.read_text(errors="surrogateescape").splitlines()]
    return [(os.path.basename(program), *rest) for program, *rest in words]


def is_run_as_read(shell: str, line: str, sandbox: Path) -> None:
    """Check that each program that the shell runs was read, with exactly these words."""
    commands = plain_commands(line)
    assert commands is not None
    for one in run(shell, line, sandbox):
        assert one in commands, (shell, line, one)


@pytest.mark.parametrize("shell", SHELLS, ids=os.path.basename)
@pytest.mark.parametrize(
    "line",
    [
        "git a && prog b; x 'c d' \"e\nf\" g\\ h | prog 2>&1",
        "git 'it'\\''s' \"\\$x \\\\ \\\"\" a#b #c\nx",
        "git \\\n -n5 >/dev/null; x '' {} a=b",
        "git 'a; ls' \"b && ls\" c\\;ls d\\|ls",
    ],
)
def test_shells_run_what_was_read(shell: str, line: str, sandbox: Path) -> None:
    """With names that no shell has a function for: `ls` of fish adds options to those that it is called with."""
    assert allowed(line)
    ran = run(shell, line, sandbox)
    assert sorted(ran) == sorted(plain_commands(line) or [])


@pytest.mark.parametrize("line", [line for line in ALLOWED if line.startswith(("git", "ls"))])
def test_lines_of_the_table_are_run_as_read(line: str, sandbox: Path) -> None:
    is_run_as_read(BASH, line, sandbox)


@settings(max_examples=examples(100))
@given(line=fragments)
def test_any_line_that_is_allowed_is_run_as_read(line: str, sandbox: Path) -> None:
    if allowed(line):
        is_run_as_read(BASH, line, sandbox)


@settings(max_examples=examples(40))
@given(words=st.lists(any_word, max_size=5))
def test_quoted_words_come_back(words: list[str], sandbox: Path) -> None:
    line = shlex.join(["prog", *words])
    commands = plain_commands(line)
    if commands is None:  # quotes that not all shells read alike
        assert any(set(word) & set("\\'!%^=~\u3000") or not word.isprintable() or "\n" in word for word in words)
        return
    assert commands == [("prog", *words)]
    assert run(BASH, line, sandbox) == commands


@given(words=st.lists(plain_word, min_size=1, max_size=4), more=st.lists(plain_word, max_size=3))
def test_plain_words_need_no_quotes(words: list[str], more: list[str]) -> None:
    line = " ".join(["prog", *words, "&&", "x", *more])
    assert allowed(line)
    assert bash_tree.parse(line).commands == (("prog", *words), ("x", *more))


@pytest.mark.parametrize("line", [line for line in [*REJECTED, *ASKED] if "\0" not in line])
def test_what_bash_rejects_is_never_allowed(line: str) -> None:
    checked = subprocess.run([BASH, "-n", "-c", line], stdin=subprocess.DEVNULL, capture_output=True, check=False)
    if checked.returncode:
        assert not allowed(line)


@settings(max_examples=examples(200))
@given(line=fragments.filter(lambda line: line.strip() != ""))
def test_what_bash_cannot_read_is_never_allowed(line: str) -> None:
    if allowed(line):
        subprocess.run([BASH, "-n"], input=line.encode(), check=True)


GOOD = [Rule(action="allow", command=f"{one}*") for one in ("git status", "ls", "echo")]


@given(
    good=st.sampled_from(["git status", "git status -s", "ls -l 'a b'", 'echo "x"', "ls && echo a", "echo a | ls"]),
    bad=st.sampled_from([*((one, True) for one in BAD_ENDS), *((one, False) for one in BAD_STARTS)]),
    end=st.sampled_from(["", " ", "\n", " # more", "\n\n"]),
)
def test_no_bad_end_or_start_makes_an_allowed_line(good: str, bad: tuple[str, bool], end: str) -> None:
    text, behind = bad
    assert allowed(good, GOOD)
    assert not allowed((good + text if behind else text + good) + end, GOOD)


@given(
    st.one_of(st.text(max_size=40), st.binary(max_size=40).map(lambda data: data.decode("utf-8", "surrogateescape")))
)
def test_anything_can_be_read(line: str) -> None:
    read_line(line)
    assert not allowed(line, GOOD) or line.lstrip().startswith(("git status", "ls", "echo"))


@given(
    st.lists(st.sampled_from(["rm -rf x", "ls", "x", "; ", " && ", " | ", "$(", ")", "\n", "if ", "; then ", "; fi"]))
)
def test_a_line_is_rejected_or_asked_for_where_a_command_of_it_is_rejected(parts: list[str]) -> None:
    line = "".join(parts)
    rules = [Rule(action="reject", command="rm *"), Rule(action="allow", command="*")]
    assert "rm" not in line.split() or not allowed(line, rules) or _only_an_argument(line)


def _only_an_argument(line: str) -> bool:
    commands = plain_commands(line)
    return commands is not None and all(words[0] != "rm" for words in commands)

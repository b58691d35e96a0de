"""What bash runs for a line is never allowed after a rule that rejects it: the rules against bash itself."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.rules import Wanted, judge
from acp_nvim.permissions.shell_line import COMMAND_CHARS, read_line
from tests.core.permissions.bash_lines import MARKER, PROGRAMS, line
from tests.support.examples import examples

BASH = shutil.which("bash") or pytest.fail("bash is needed")
REJECTED = Rule(action="reject", command=f"{MARKER}*")
BROAD = [Rule(action="allow"), Rule(action="allow", command="*"), Rule(action="allow", kind="execute")]

SEEN = """#!/bin/sh
[ -e "$MARKED" ] && kill -KILL 0  # a loop: ends the group, which the test has made for this line
echo >> "$MARKED"
"""

KNOWN = [
    "echo ${x:-`acp_marker`}",
    "x=ab; echo ${x#$(acp_marker)}",
    "x=ab; echo ${x//$(acp_marker)/b}",
    'echo "${x:-<(acp_marker)$(acp_marker)}"',
    "echo ${x:-<(acp_marker)}",
    "echo \"${x:-'$(acp_marker)'}\"",
    "cat <<-E\n\t$(acp_marker)\n\tE",
    "cat <<E\n`acp_marker` ${x:-`acp_marker`}\nE",
    "cat <<E\na\nE \n\\ '$(acp_marker)'\nE",
    "cat <<E\na\nE # $'$(acp_marker)'",
    "echo `echo \\`acp_marker\\``",
    'echo "`echo \\"\\`acp_marker\\`\\"`"',
    "''\\acp_marker",
    "time ! acp_marker",
    "time { acp_marker; }",
    "time -p if acp_marker; then :; fi",
    "! { acp_marker; }",
    "! if acp_marker; then :; fi",
    "coproc N { acp_marker; }",
    "coproc N while acp_marker; do break; done",
    "! time > f acp_marker",
    "true && echo a | xargs > f acp_marker",
    "trap -- 'acp_marker' EXIT",
    "trap -- 'acp_marker' DEBUG\n:",
    "eval -- acp_marker",
    "mapfile -C acp_marker -c 1 a <<< b",
    "mapfile -tc1 -C'acp_marker x' a <<< b",
    "readarray -C acp_marker -c 1 a <<< b",
    "jobs -x acp_marker",
    "compgen -C acp_marker",
    "compgen -W '$(acp_marker)'",
    "env -S'acp_marker x'",
    "env -vS acp_marker",
    "bash acp_marker",
    "source -- acp_marker",
    "bash /dev/stdin <<< acp_marker",
    "command . /dev/fd/0 <<< acp_marker",
    "x=/dev/stdin; . $x <<< acp_marker",
    "source <(echo acp_marker)",
    "BASH_ENV=<(echo acp_marker) bash -c :",
    "env BASH_ENV=/dev/stdin bash -c : <<< acp_marker",
    "PS4='$(acp_marker)'; set -x; :",
    "for PS4 in '$(acp_marker)'; do set -x; :; done",
    "declare -n p=PS4; p='$(acp_marker)'; set -x; :",
    "x=BASH_ENV; export $x=/dev/stdin; bash -c : <<< acp_marker",
    ": ${x#\\'} ; acp_marker ; : ${x#\\'}",
    "declare 'PS4=$(acp_marker)'; set -x; :",
    "shopt -s expand_aliases; alias x=acp_marker\nx",
    'hash -p "$(type -p acp_marker)" x; x',
    "echo acp_marker | xargs -I % env %",
    "echo acp_marker | xargs -I{} bash -c 'echo; {}'",
    "let 'a[$(acp_marker)]'",
    "a=(b); unset 'a[$(acp_marker)]'",
    "command printf -v 'a[`acp_marker`]' b",
    "[[ 'a[$(acp_marker)]' -eq 0 ]]",
    "x='a[$(acp_marker)]'; echo $((x))",
    "x='a[$''(acp_marker)]'; y=b; echo ${y:x}",
    'x="a[\\$(acp_marker)]"; : ${!x}',
    "x=$'a[\\x24(acp_marker)]'; ((x))",
    "read -r x <<'E'\na[$(acp_marker)]\nE\n: ${a[x]}",
    "declare -n x='a[$(acp_marker)]'; echo $x",
    "x='$(acp_marker)'; echo ${x@P}",
]


ORDINARY = Path(__file__).with_name("ordinary_lines.txt").read_text().removesuffix("\n").split("\n====\n")
"""Command lines of the kind that agents write."""


class Bash:
    """Runs lines in a directory with the marker, a few programs that run others, and nothing else."""

    def __init__(self, place: Path) -> None:
        self._place, self._numbers = place, count()
        programs = place / "bin"
        programs.mkdir()
        (programs / MARKER).write_text(SEEN)
        (programs / MARKER).chmod(0o755)
        for name in PROGRAMS:
            (programs / name).symlink_to(shutil.which(name) or pytest.fail(f"{name} is needed"))

    def runs_marker(self, text: str) -> bool:
        """Whether the marker runs, now or until all processes of the line have ended."""
        work = self._place / str(next(self._numbers))
        work.mkdir()
        marked = work.with_suffix(".marked")
        env = {"PATH": str(self._place / "bin"), "MARKED": str(marked), "HOME": str(work), "FUNCNEST": "9"}
        command = [BASH, "-c", f'ulimit -t 1; exec {BASH} -c "$0"', text]
        process = subprocess.Popen(
            command,
            env=env,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        with process:
            process.communicate()
        shutil.rmtree(work)
        return marked.exists()


@pytest.fixture(scope="module")
def bash(tmp_path_factory: pytest.TempPathFactory) -> Bash:
    """Bash, for any number of lines."""
    return Bash(tmp_path_factory.mktemp("bash"))


def answers(text: str) -> set[str]:
    """What becomes of the line with the rejecting rule and each broad one that allows."""
    wanted = Wanted(agent="it", kind="execute", roots=["/p"], command=read_line(text))
    return {judge([REJECTED, broad], wanted).action for broad in BROAD}


@pytest.mark.parametrize("text", KNOWN)
def test_a_command_in_an_odd_place_is_not_allowed(text: str, bash: Bash) -> None:
    assert bash.runs_marker(text)
    assert "allow" not in answers(text)


def test_ordinary_lines_are_still_allowed() -> None:
    rules = [Rule(action="reject", command="rm -rf *"), Rule(action="reject", command="git push *"), BROAD[0]]
    for text in ORDINARY:
        wanted = Wanted(agent="it", kind="execute", roots=["/p"], command=read_line(text))
        assert judge(rules, wanted).action == "allow", text


@st.composite
def any_line(draw: st.DrawFn) -> str:
    """Draw a line of the grammar."""

    def pick(options: Sequence[str]) -> str:
        return draw(st.sampled_from(options))

    return line(pick, int(pick("01223")))


@settings(max_examples=examples(300))
@given(text=any_line())
def test_no_line_is_allowed_that_runs_what_is_rejected(text: str, bash: Bash) -> None:
    if len(text) <= COMMAND_CHARS and "allow" in answers(text):
        assert not bash.runs_marker(text)

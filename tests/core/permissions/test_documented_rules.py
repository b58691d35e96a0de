"""The rules in README and help are what users copy: they do what is said there, and no more."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from acp_nvim.contract.settings import Rule
from acp_nvim.permissions.rules import Wanted, judge
from acp_nvim.permissions.shell_line import read_line
from acp_nvim.workspace.guarded_names import GUARDED
from tests.support.find_nvim import find_nvim

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
HELP = (ROOT / "doc" / "acp_nvim.txt").read_text()
EXAMPLES = {
    "README": re.findall(r"```lua\n(vim\.g\.acp_nvim = \{.*?)```", README, re.DOTALL),
    "help": [
        f"vim.g.acp_nvim = {{{one}}}"
        for one in re.findall(r">lua\n(    permissions = \{ rules.*?)\n<", HELP, re.DOTALL)
    ],
}


@pytest.fixture(scope="module", params=EXAMPLES)
def rules(request: pytest.FixtureRequest) -> list[Rule]:
    """Return the rules of an example as Neovim reads them."""
    [example] = EXAMPLES[request.param]
    script = f"{example}\nio.write(vim.json.encode(vim.g.acp_nvim.permissions.rules))"
    run = subprocess.run(
        [find_nvim(), "--clean", "--headless", "-l", "/dev/stdin"],
        input=script,
        capture_output=True,
        text=True,
        check=True,
    )
    return msgspec.convert(json.loads(run.stdout or run.stderr), list[Rule])


def decide(rules: list[Rule], line: str) -> str:
    """Return the decision of these rules about a command line."""
    wanted = Wanted(agent="mine", kind="execute", roots=["/p"], command=read_line(line))
    return judge(rules, wanted).action


def test_git_status_is_allowed_and_nothing_else_of_git(rules: list[Rule]) -> None:
    for line in ("git status", "git status -s", "git status --porcelain -- src", "git status; git status -b"):
        assert decide(rules, line) == "allow"
    for line in (
        *("git statusx", "git status-x", "git -c core.fsmonitor=./x status", "git -C elsewhere status", "git push"),
        *(
            "git status; make",
            "git status > .git/config",
            "git log --output=x",
            "npm test",
            "make",
            "GIT_DIR=x git status",
        ),
        *("git --git-dir=x status", "./git status", "git config core.hooksPath x", "git status $(make)"),
    ):
        assert decide(rules, line) == "ask"
    assert decide(rules, "git status; rm -rf ~") == "reject"


def test_no_rule_of_an_example_allows_every_subcommand(rules: list[Rule]) -> None:
    allowing = [one.command for one in rules if one.command is not None and one.action == "allow"]
    assert allowing == ["git status *"]


BROAD = re.search(r"A broad glob allows more.*?>\n(.*?)\n<", HELP, re.DOTALL)


@pytest.mark.parametrize(
    ("glob", "line"),
    [
        ("git *", "git -c core.fsmonitor=./x status"),
        ("git *", "git -C elsewhere status"),
        ("git *", "git config core.hooksPath x"),
        ("git *", "git push --force"),
        ("git log *", "git log --output=FILE"),
        ("npm *", "npm run x"),
        ("npm *", "npm exec x"),
        ("make *", "make x"),
        ("find *", "find . -delete"),
        ("sed *", "sed -i s/a/b/ x"),
    ],
)
def test_what_the_help_says_of_broad_globs_is_so(glob: str, line: str) -> None:
    assert BROAD is not None
    assert glob in BROAD[1]
    assert decide([Rule(action="allow", command=glob)], line) == "allow"


def test_the_help_lists_what_is_always_asked_about() -> None:
    [text] = re.findall(r"\*acp_nvim-guarded\*.*?>\n(.*?)\n<", HELP, re.DOTALL)
    written = " ".join(text.split())
    assert written == " ".join(f"{one.names} {one.why}" for one in GUARDED)
    assert "acp_nvim-guarded" in README

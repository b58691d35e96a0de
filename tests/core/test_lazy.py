"""Expressions that are compiled when they are used do what compiled ones do."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from acp_nvim.lazy import pattern
from acp_nvim.process.guarding import GUARD
from tests.support.places import ROOT


def test_a_pattern_does_what_the_compiled_one_does() -> None:
    word = pattern(r"(?P<first>[a-z])\w*", re.IGNORECASE)
    assert repr(word) == "<pattern '(?P<first>[a-z])\\\\w*'>"
    for _ in range(2):
        found = word.search("1 Word more")
        assert found is not None
        assert (found.lastgroup, found.group()) == ("first", "Word")
        assert word.sub("-", "one two") == "- -"
        assert word.flags & re.IGNORECASE


def test_bytes_are_searched_with_bytes() -> None:
    assert pattern(rb"\d+").findall(b"a1b22") == [b"1", b"22"]


def test_a_malformed_one_says_so_when_it_is_used() -> None:
    broken = pattern("(")
    with pytest.raises(re.error):
        broken.search("x")


def test_no_expression_is_compiled_by_importing_the_host() -> None:
    """Expressions of the standard library and of packages do not count: they were compiled before."""
    code = """
import asyncio, logging, re, pynvim, msgspec, anyio.abc, anyio._backends._asyncio
import hashlib, json, shlex, unicodedata, urllib.parse, uuid
was, compiled = re.compile, []
re.compile = lambda pattern, flags=0: compiled.append(pattern) or was(pattern, flags)
import acp_nvim.app
print(len(compiled), compiled)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("0 ")


def test_the_guard_loads_no_module_that_takes_longer_than_all_of_it() -> None:
    argv = [sys.executable, "-I", "-S", "-X", "importtime", str(GUARD), os.devnull]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "acp_nvim.process.group" in loaded
    assert not loaded & {"enum", "re", "signal", "subprocess", "typing"}


def test_importing_the_host_loads_no_module_that_few_sessions_need() -> None:
    """Each of these modules takes one to four milliseconds, as much as a dozen of ours."""
    code = """
import sys
import acp_nvim.app, acp_nvim.plugin
print(*sorted(set(sys.argv[1:]) & set(sys.modules)))
"""
    rare = [
        "argparse",
        "difflib",
        "email",
        "logging.handlers",
        "pickle",
        "random",
        "secrets",
        "shutil",
        "tempfile",
        "termios",
    ]
    done = subprocess.run([sys.executable, "-c", code, *rare], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []

"""The demo agent and files: which one it takes, how it reads and writes, and what it does to them."""

from __future__ import annotations

from typing import Any

import pytest

from acp_nvim.demo_agent import files
from acp_nvim.demo_agent.files import NOTE, improve
from tests.agents.demo_client import FS, refuse


def test_a_file_given_as_context_is_taken(connect, project):
    (project / "näme with space.lua").write_text("print(1)\n")
    uri = "file://" + str(project / "n%C3%A4me%20with%20space.lua") + "#L1"
    client = connect()
    client.prompt("About README.md", {"type": "resource_link", "name": "x", "uri": uri})
    assert client.requests("fs/read_text_file")[0]["path"] == str(project / "näme with space.lua")


def test_an_embedded_file_is_taken(connect, project):
    resource = {"uri": f"file://{project}/expected.txt", "text": "Hello"}
    client = connect()
    client.prompt("Go", {"type": "resource", "resource": resource})
    assert client.requests("fs/read_text_file")[0]["path"] == str(project / "expected.txt")
    assert "I leave `expected.txt` as it is" in client.text()


@pytest.mark.parametrize("text", ["Look at README.md.", "see `./README.md`, please", "README.md"])
def test_a_file_named_in_the_prompt_is_taken(connect, project, text):
    client = connect()
    client.prompt(text)
    assert client.requests("fs/read_text_file")[0]["path"] == str(project / "README.md")
    assert (project / "README.md").read_text().startswith(f"<!-- {NOTE} -->\n# A sample")


def test_a_file_outside_the_project_is_not_taken_by_its_name(connect, project):
    (project.parent / "secret.py").write_text("x = 1\n")
    client = connect()
    client.prompt("Read ../secret.py and /etc/passwd")
    assert client.requests("fs/read_text_file")[0]["path"] == str(project / "greeting.py")


def test_without_a_known_file_the_first_small_text_with_comments_is_taken(connect, tmp_path):
    place = tmp_path / "other"
    place.mkdir()
    for name, data in {
        "a.bin": b"\0\1", "b.py": b"\xff\n", "c.json": b"{}\n", "d.sh": b"#!/bin/sh\nls\n", ".env": b"x\n",
    }.items():  # fmt: skip
        (place / name).write_bytes(data)
    client = connect(place)
    client.prompt("Hello")
    assert (place / "d.sh").read_text() == f"#!/bin/sh\n# {NOTE}\nls\n"


def test_a_directory_without_files_is_no_trouble(connect, tmp_path):
    place = tmp_path / "empty"
    place.mkdir()
    client = connect(place)
    assert client.prompt("Hello") == "end_turn"
    assert client.statuses() == {"execute": "completed"}
    assert "No file to show" in client.text()


@pytest.mark.parametrize("fs", [{}, {"readTextFile": False}, {"writeTextFile": True}, {"readTextFile": True}])
def test_what_the_client_does_not_offer_is_done_on_the_disk(connect, project, fs):
    client = connect(fs=fs)
    assert client.prompt("Go") == "end_turn"
    assert bool(client.requests("fs/read_text_file")) == fs.get("readTextFile", False)
    assert bool(client.requests("fs/write_text_file")) == fs.get("writeTextFile", False)
    assert "for name in names" in (project / "greeting.py").read_text()


@pytest.mark.parametrize("fs", [{}, FS])
def test_a_file_that_cannot_be_read_is_told(connect, project, fs):
    client = connect(fs=fs)
    client.handlers["fs/read_text_file"] = refuse(-32002, "No such file or directory")
    link = {"type": "resource_link", "name": "gone", "uri": f"file://{project}/gone.py"}
    assert client.prompt("Go", link) == "end_turn"
    assert client.statuses() == {"read": "failed", "execute": "completed"}
    assert "I could not read `gone.py`." in client.text()
    assert "No such file or directory" in client.text()


@pytest.mark.parametrize("answer", [None, {}, {"content": 5}])
def test_an_odd_fs_answer_is_told(connect, answer):
    client = connect()
    client.handlers["fs/read_text_file"] = lambda params: answer
    assert client.prompt("Go") == "end_turn"
    assert client.statuses()["read"] == "failed"


def test_a_file_that_cannot_be_written_is_told(connect):
    client = connect()
    client.handlers["fs/write_text_file"] = refuse(-32603, "the disk is full")
    assert client.prompt("Go") == "end_turn"
    assert client.statuses() == {"read": "completed", "edit": "failed", "execute": "completed"}
    assert "the disk is full" in client.text()


def test_a_change_while_the_user_is_asked_is_not_overwritten(connect, project):
    client = connect()

    def edit_first(params: dict[str, Any]) -> Any:
        (project / "greeting.py").write_text("mine = 1\n")
        return {"outcome": {"outcome": "selected", "optionId": "allow"}}

    client.handlers["session/request_permission"] = edit_first
    assert client.prompt("Go") == "end_turn"
    assert client.statuses()["edit"] == "failed"
    assert (project / "greeting.py").read_text() == "mine = 1\n"


def test_a_missing_command_is_told(connect, tmp_path):
    client = connect(env={"PATH": str(tmp_path)})
    assert client.prompt("Go") == "end_turn"
    assert client.statuses()["execute"] == "failed"


def test_nothing_of_the_project_is_imported(connect, project):
    for name in ("json", "re", "subprocess", "acp_nvim"):
        (project / f"{name}.py").write_text("raise SystemExit('imported')\n")
    assert connect().prompt("Go") == "end_turn"


# The improvement, as a function


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.py", "", "# {}\n"),
        ("a.py", "x = 1\r\ny = 2\r\n", "# {}\r\nx = 1\r\ny = 2\r\n"),
        (
            "a.py",
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx",
            "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n# {}\nx",
        ),
        ("a.sh", "#!/bin/sh", "#!/bin/sh\n# {}\n"),
        ("a.lua", "\ufeffx = 1\n", "\ufeff-- {}\nx = 1\n"),
        ("a.md", "---\ntitle: x\n---\ntext\n", "---\ntitle: x\n---\n<!-- {} -->\ntext\n"),
        ("a.xml", "<?xml version='1.0'?>\n<a/>\n", "<?xml version='1.0'?>\n<!-- {} -->\n<a/>\n"),
        ("sub/Makefile", "all:\n", "# {}\nall:\n"),
        ("A.C", "int x;\n", "// {}\nint x;\n"),
    ],
)
def test_the_comment_goes_to_the_top_and_away_again(name, text, expected):
    change = improve(name, text)
    assert change is not None
    assert change.new_text == expected.format(NOTE)
    assert change.new_text.splitlines()[change.line - 1].endswith(expected.format(NOTE).splitlines()[change.line - 1])
    back = improve(name, change.new_text)
    assert back is not None
    assert back.new_text == (text if text.endswith("\n") or name != "a.sh" else text + "\n")


@pytest.mark.parametrize(
    ("name", "text"), [("a.json", "{}"), ("a.txt", "x"), ("LICENSE", "x"), ("a.py", "x\0"), ("a.c", "x" * 300_000)]
)
def test_what_could_do_harm_is_left_alone(name, text):
    assert improve(name, text) is None


def test_a_large_file_is_not_read_from_the_disk(tmp_path):
    (tmp_path / "large.py").write_bytes(b"#" * (files.LARGEST + 1))
    with pytest.raises(files.FileTrouble, match="too large"):
        files._read_disk(str(tmp_path / "large.py"))

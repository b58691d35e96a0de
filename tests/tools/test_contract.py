"""What is generated from the structs of the contract, and that drift is found."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from acp_nvim.contract import events
from acp_nvim.contract.messages import MESSAGES
from tests.support import contract
from tests.support.editor import HeadlessEditor
from tests.tools.contract import lua_types, model, page
from tests.tools.contract.__main__ import ROOT, generated, main


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of what the check needs, with what Python has compiled of it: that takes longer than the check."""
    for name in ("acp_nvim", "tests/tools", "lua/acp_nvim/types"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name in ("tests/__init__.py", "doc/development/contract.md", "doc/acp_nvim.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def check(root: Path) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-P", "-m", "tests.tools.contract", "--check", str(root)]
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)


def test_the_files_are_up_to_date() -> None:
    assert main(["--check"]) == 0


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        (
            "contract/events.py",
            "    prompts: list[WaitingView]\n",
            "    prompts: list[WaitingView]\n    more: int = 0\n",
        ),
        ("contract/views.py", "class PromptTypes(", "class PromptTypes(  # no other one\n    "),
        ("contract/events.py", "A turn begins,", "A turn is about to begin,"),
        ("contract/messages.py", "#: end the process", "#: at once the process"),
        ("contract/editor.py", '"""Show an event soon. Never', '"""Show an event at once. Never'),
    ],
)
def test_a_change_of_a_struct_fails_the_check(copy: Path, file: str, old: str, new: str) -> None:
    source = copy / "acp_nvim" / file
    text = source.read_text(encoding="utf-8")
    assert text.count(old) == 1, f"{file} has no {old!r}"
    source.write_text(text.replace(old, new), encoding="utf-8")
    ended = check(copy)
    is_of_contract = "PromptTypes" not in old and "Show an event" not in old  # those say nothing that is generated
    assert (ended.returncode, "run `make doc`" in ended.stderr) == ((1, True) if is_of_contract else (0, False))


def test_a_generated_file_that_was_edited_fails_the_check(copy: Path) -> None:
    assert check(copy).returncode == 0
    file = copy / "lua/acp_nvim/types/events.lua"
    file.write_text(file.read_text(encoding="utf-8") + "---@class acp.Mine\n", encoding="utf-8")
    ended = check(copy)
    assert (ended.returncode, "lua/acp_nvim/types/events.lua" in ended.stderr) == (1, True)


def test_words_of_fields_stand_behind_or_above_them() -> None:
    source = '''
class One(msgspec.Struct):
    """No field."""

    a: int  #: behind it
    #: above it,
    #: on two lines
    b: str = "#: no comment"
    c: float  # not for readers of the contract
'''
    assert dict(model._docs_in(source)) == {"a": "behind it", "b": "above it, on two lines", "c": ""}


def test_every_event_and_message_says_what_it_is_for() -> None:
    shapes = [*model.all_events().values(), *model.all_messages().values()]
    assert [one.tag for one in shapes if not one.doc.endswith((".", "?"))] == []
    assert [one.tag for one in shapes if one.doc == events.Event.__doc__] == []


def test_all_of_it_is_in_the_page_and_in_the_annotations() -> None:
    text, annotations = page.page(), lua_types.files()
    for tag, shape in model.all_events().items():
        assert f"\n| `{tag}` |" in text
        assert f"---@class acp.{lua_types.event_class(shape)}: acp.Event\n" in annotations["events.lua"]
    for method in MESSAGES:
        assert f"\n| `{method}` |" in text
    assert set(generated()) == {
        *(f"lua/acp_nvim/types/{name}" for name in annotations),
        "doc/development/contract.md",
        "doc/acp_nvim.txt",
    }


def test_what_is_optional() -> None:
    status = {one.name: one.optional for one in model.read(events.StatusView).fields}
    assert (status["state"], status["title"], status["asleep"]) == (False, True, True)
    changed = {one.name: one.optional for one in model.read(events.FileChanged).fields}
    assert (changed["added"], changed["tool_call"]) == (False, True)  # its defaults are sent, too
    opened = {one.name: one.optional for one in model.all_messages()["open"].fields}
    assert (opened["cwd"], opened["additional_directories"]) == (False, True)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ({"type": "turn_start", "session": 1}, None),
        ({"type": "turn_sart", "session": 1}, "no event has the type"),
        ({"type": "turn_start"}, 'event turn_start has no "session"'),
        ({"type": "turn_start", "session": "1"}, 'event turn_start.session is "1", not integer'),
        ({"type": "turn_start", "session": 1.5}, "not integer"),
        ({"type": "turn_start", "session": 1, "why": "x"}, 'has an unknown field "why"'),
        ({"type": "append", "session": 1, "block": 1, "kind": "shout", "text": ""}, "event append.kind"),
        ({"type": "commands", "session": 1, "commands": [{"name": "a"}]}, 'commands[1] has no "description"'),
        ({"type": "commands", "session": 1, "commands": {"a": 1}}, "and is a list"),
    ],
)
def test_neovim_in_tests_finds_what_is_no_event(tmp_path: Path, event: dict[str, object], words: str | None) -> None:
    editor = HeadlessEditor(tmp_path)
    editor.lua('require("acp_nvim.events").apply(...)', [event])
    if words is None:
        editor.close()
        return
    with pytest.raises(AssertionError):
        editor.close()
    assert len(found := editor.places.contract_problems()) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    ("method", "params", "words"),
    [
        ("stop", {"session": 1}, None),
        ("stopp", {"session": 1}, 'there is no message "stopp"'),
        ("stop", {"session": 1, "at_once": True}, 'message stop has an unknown field "at_once"'),
        ("saved", {"path": "/a", "stamp": {"size": 1}}, "message saved.stamp has no"),
        ("review", {"action": "burn"}, "message review.action"),
    ],
)
def test_neovim_in_tests_finds_what_is_no_message(
    tmp_path: Path, method: str, params: dict[str, object], words: str | None
) -> None:
    editor = HeadlessEditor(tmp_path)
    editor.lua('pcall(vim.rpcnotify, 99, "acp_nvim", ...)', method, params)
    if words is None:
        editor.close()
        return
    with pytest.raises(AssertionError):
        editor.close()
    assert len(found := editor.places.contract_problems()) == 1
    assert words in found[0]


@pytest.mark.parametrize(
    "event",
    [
        {"type": "turn_sart", "session": 1},
        {"type": "turn_start"},
        {"type": "turn_start", "session": "1"},
        {"type": "turn_start", "session": 1, "why": "x"},
        {"type": "commands", "session": 1, "commands": [{"name": "a", "description": "b", "more": 1}]},
    ],
)
def test_events_of_tests_are_what_the_host_can_send(event: dict[str, object]) -> None:
    with pytest.raises((AssertionError, ValueError)):
        contract.as_sent(event)


def test_events_of_tests_have_what_the_host_always_sends() -> None:
    sent = contract.as_sent({"type": "file_changed", "session": 1, "path": "/a", "by": "user"})
    assert (sent["added"], sent["why"], sent["operation"]) == (0, "", "modify")

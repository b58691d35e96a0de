"""`:AcpRestore`: the turns, what would change, the question, and what is said of the answer."""

from __future__ import annotations

import time

import pytest

from tests.lua.conftest import STATUS

TIME = 1_700_000_000

KEEP_PREVIEW = """
local select = vim.ui.select
vim.ui.select = function(items, ...)
  if items[2] == "Cancel" then _G.preview = vim.api.nvim_buf_get_lines(0, 0, -1, true) end
  return select(items, ...)
end
"""


def clock(moment, form="%Y-%m-%d %H:%M"):
    return time.strftime(form, time.localtime(moment))


def checkpoint(number, kind="turn", files=2, **more):
    counts = {"files": files, "added": 6 * files, "removed": 2 * files}
    given = {"agent": "demo", "prompt": f"prompt {number}\nand more", "time": TIME + number, **counts}
    return {"id": f"id{number}", "kind": kind, **given, **more}


ASK = """
_G.asked, _G.choice = {}, ...
vim.ui.select = function(items, opts, on_choice)
  local format = opts.format_item or tostring
  table.insert(_G.asked, { prompt = opts.prompt, items = vim.tbl_map(format, items), shown = vim.bo.filetype })
  local index = table.remove(_G.choice, 1)
  on_choice(index and items[index] or nil, index)
end
"""


def answers(editor, *indexes):
    """What a person chooses, question by question; None: nothing."""
    editor.lua(ASK, [index for index in indexes if index])


def asked(editor, count):
    editor.wait_until(lambda: len(editor.lua("return _G.asked")) == count, what=f"question {count}")
    return editor.lua("return _G.asked")[-1]


def listed(editor, *entries):
    editor.apply({"type": "checkpoints", "cwd": str(editor.project), "checkpoints": list(entries)})


def planned(editor, number=1, **more):
    files = [
        {"path": f"{editor.project.resolve()}/a.py", "operation": "modify", "added": 2, "removed": 6},
        {"path": f"{editor.project.resolve()}/b.py", "operation": "add", "added": 4, "conflict": True},
    ]
    patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-new\n+old\n"
    editor.apply({"type": "restore_plan", "id": f"id{number}", "files": files, "patch": patch, **more})


def test_from_the_list_to_the_files(editor):
    answers(editor, 2, 1)
    editor.command("AcpRestore")
    assert editor.sent("checkpoints") == editor.sent("review_load") == [{"cwd": str(editor.project)}]
    today = int(time.time())
    listed(editor, checkpoint(1, time=today), checkpoint(2, files=1), checkpoint(3, files=0))
    question = asked(editor, 1)
    assert question["items"] == [
        f"{clock(today, '%H:%M')}  2 files +12 −4  demo: prompt 1",
        f"{clock(TIME + 2)}  1 file +6 −2  demo: prompt 2",
        f"{clock(TIME + 3)}  no files  demo: prompt 3",
    ]
    assert editor.sent("restore_plan") == [{"id": "id2", "cwd": str(editor.project)}]
    planned(editor, 2)
    question = asked(editor, 2)
    assert question == {"prompt": "Restore 2 files?", "items": ["Restore these 2 files", "Cancel"], "shown": "diff"}
    assert editor.sent("restore") == [{"id": "id2", "cwd": str(editor.project)}]
    assert editor.lua("return #vim.api.nvim_list_tabpages()") == 1
    editor.apply({"type": "restored", "id": "id2", "undo_id": "id9", "files": ["a.py", "b.py"], "conflicts": []})
    assert "2 files restored; undo it with :AcpRestore undo" in editor.message()


def test_the_preview(editor):
    editor.command("tabnew | tabfirst | edit notes.txt")
    before = editor.api("get_current_win")
    answers(editor, 1)
    editor.lua(KEEP_PREVIEW)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor)
    asked(editor, 2)
    assert editor.lua("return _G.preview") == [
        f"Restore the files to the state before:  {clock(TIME + 1)}  2 files +12 −4  demo: prompt 1",
        "",
        "  M a.py  +2 −6",
        "  C b.py  +4 −0  (conflict: your own edits stay, and you choose in the review)",
        "",
        "--- a/a.py",
        "+++ b/a.py",
        "@@ -1 +1 @@",
        "-new",
        "+old",
    ]
    assert editor.api("get_current_win") == before
    assert editor.sent("restore") == []


@pytest.mark.parametrize("second", [None, 2])
def test_nothing_is_done_without_a_yes(editor, second):
    answers(editor, 1, second)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor)
    asked(editor, 2)
    assert editor.sent("restore") == []
    answers(editor)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    assert len(editor.sent("restore_plan")) == 1


def test_late_answers_ask_nothing(editor):
    answers(editor, 1, 1)
    listed(editor, checkpoint(1))
    planned(editor)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor, 7, files=[])
    planned(editor, 1)
    asked(editor, 2)
    listed(editor, checkpoint(1))
    planned(editor, 1)
    editor.lua("vim.schedule(function() _G.later = true end)")
    editor.wait_until("_G.later", what="what was scheduled")
    assert len(editor.lua("return _G.asked")) == 2
    assert len(editor.sent("restore")) == 1
    assert editor.messages() == []


def test_words_for_what_is_no_turn(editor):
    answers(editor)
    editor.command("AcpRestore")
    undo, undone = checkpoint(3, "restore", prompt="", is_undo=True), checkpoint(4, "reject", prompt="")
    mine = checkpoint(1, "restore", prompt="", undo=True), checkpoint(2, "reject", prompt="main.py", undo=True)
    listed(editor, *mine, undo, undone)
    assert [item.split("  ")[-1] for item in asked(editor, 1)["items"]] == [
        "your restore", "your rejection: main.py", "your undo", "your rejection (undone)",
    ]  # fmt: skip


def test_undo_takes_back_the_last_restore_or_rejection(editor):
    answers(editor)
    editor.command("AcpRestore undo")
    undone = checkpoint(1, "restore"), checkpoint(2, "reject"), checkpoint(3)
    listed(editor, *undone, checkpoint(4, "reject", undo=True), checkpoint(5, "restore", undo=True))
    editor.wait_until(lambda: editor.sent("restore"), what="the restore")
    assert editor.sent("restore") == [{"id": "id4", "cwd": str(editor.project)}]
    assert editor.lua("return _G.asked") == []
    editor.apply({"type": "restored", "id": "id4", "undo_id": "id9", "files": ["a.py"], "conflicts": []})
    assert "undone: 1 file restored" in editor.message()
    editor.command("AcpRestore undo")
    listed(editor, *undone)
    assert "there is nothing to undo in " in editor.message()


def test_undo_while_a_restore_is_carried_out_undoes_that(editor):
    answers(editor, 1, 1)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor)
    editor.wait_until(lambda: editor.sent("restore"), what="the restore")
    editor.command("AcpRestore undo")
    editor.apply({"type": "restored", "id": "id1", "undo_id": "id9", "files": ["a.py"], "conflicts": []})
    assert "1 file restored; undo it with" in editor.message()
    listed(editor, checkpoint(9, "restore", undo=True), checkpoint(1))
    editor.wait_until(lambda: len(editor.sent("restore")) == 2, what="the undo")
    assert editor.sent("restore")[-1]["id"] == "id9"
    editor.apply({"type": "restored", "id": "id9", "undo_id": "id10", "files": ["a.py"], "conflicts": []})
    assert "undone: 1 file restored" in editor.message()


def test_an_agent_at_work_is_named(editor):
    key = editor.chat()
    status = {**STATUS, "state": "running"}
    editor.apply({"type": "status", "session": key, "status": status})
    other = editor.project / "other"
    other.mkdir()
    elsewhere = editor.lua('return require("acp_nvim.host.sessions").new("far", ...).key', str(other))
    editor.apply({"type": "status", "session": elsewhere, "status": {**status, "agent": "far"}})
    answers(editor, 1)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor)
    assert asked(editor, 2)["prompt"] == "Restore 2 files? (demo works here now, and may write them again)"


def test_nothing_to_restore(editor):
    answers(editor, 1)
    editor.command("AcpRestore")
    listed(editor)
    assert "there is nothing to restore in " in editor.message()
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor, files=[], patch="")
    editor.wait_until(lambda: len(editor.messages()) == 2, what="the second message")
    assert "all files are as they were then" in editor.messages()[-1]
    editor.command("AcpRestore")
    answers(editor, 1)
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor, files=[], patch="", problem="Nothing was changed: it is gone")
    editor.wait_until(lambda: len(editor.messages()) == 3, what="the third message")
    assert editor.messages()[-1].endswith("Nothing was changed: it is gone")
    assert editor.sent("restore") == []


def test_the_directory_is_that_of_the_session(editor):
    editor.chat()
    other = editor.project / "other"
    other.mkdir()
    editor.command(f"tabnew | tcd {other}")
    editor.command("AcpRestore")
    assert editor.sent("checkpoints") == [{"cwd": str(editor.project)}]


def test_conflicts_and_problems_are_told(editor):
    paths = [f"{editor.project}/a.py", f"{editor.project}/b.py"]
    editor.apply({"type": "restored", "id": "x", "undo_id": "y", "files": paths, "conflicts": [paths[0]]})
    text = editor.message()
    assert "2 files restored; undo it with :AcpRestore undo" in text
    assert "your own edits stay in these files; resolve the conflicts with :AcpReview: a.py" in text
    restored = {"type": "restored", "id": "x", "undo_id": "", "files": [], "conflicts": []}
    editor.apply({**restored, "files": [paths[0]], "problem": "b.py: the disk is full"})
    editor.wait_until(lambda: len(editor.messages()) == 2, what="the second message")
    assert "1 file restored; undo it with :AcpRestore undo\nbut: b.py: the disk is full" in editor.messages()[-1]
    editor.apply({**restored, "conflicts": [paths[1]]}, {**restored, "problem": "Nothing was changed: it is gone"})
    editor.wait_until(lambda: len(editor.messages()) == 4, what="the fourth message")
    assert (
        "no file was restored\nyour own edits stay in these files; resolve the conflicts with :AcpReview: b.py"
        in editor.messages()[-2]
    )
    assert editor.messages()[-1].endswith("Nothing was changed: it is gone")


LEFT = [
    {"path": "/p/x.txt", "by": "unknown", "why": "no command ran"},
    {"path": "/p/.agent/log", "by": "state", "why": ""},
]
SAID = (
    "left alone, because it is not known who changed them: /p/x.txt (no command ran) "
    "(:AcpRestore! restores them, too)\n"
    "left alone: 1 of the agent's own records"
)


def test_what_is_left_alone_is_told_before_and_after(editor):
    answers(editor, 1, 1)
    editor.lua(KEEP_PREVIEW)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor, left=LEFT)
    asked(editor, 2)
    assert editor.lua("return _G.preview")[2:10] == [
        "  M a.py  +2 −6",
        "  C b.py  +4 −0  (conflict: your own edits stay, and you choose in the review)",
        "",
        "Left alone, because it is not known who changed them:",
        "  /p/x.txt (no command ran)",
        "  1 of the agent's own records",
        "",
        "--- a/a.py",
    ]
    assert "force" not in editor.sent("restore_plan")[0] | editor.sent("restore")[0]
    done = {"type": "restored", "id": "id1", "undo_id": "y", "files": ["/p/a.py"], "conflicts": [], "left": LEFT}
    editor.apply(done)
    assert editor.message().endswith("1 file restored; undo it with :AcpRestore undo\n" + SAID)


def test_with_a_bang_nothing_of_it_is_left_alone(editor):
    answers(editor, 1, 1)
    editor.command("AcpRestore!")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    assert editor.sent("restore_plan") == [{"id": "id1", "cwd": str(editor.project), "force": True}]
    planned(editor)
    asked(editor, 2)
    assert editor.sent("restore") == [{"id": "id1", "cwd": str(editor.project), "force": True}]


def test_the_bang_of_undo_means_nothing(editor):
    editor.command("AcpRestore! undo")
    listed(editor, checkpoint(2, "reject", undo=True))
    editor.wait_until(lambda: editor.sent("restore"), what="the restore")
    assert editor.sent("restore") == [{"id": "id2", "cwd": str(editor.project)}]


def test_nothing_but_what_is_left_alone(editor):
    answers(editor, 1)
    editor.command("AcpRestore")
    listed(editor, checkpoint(1))
    asked(editor, 1)
    planned(editor, files=[], patch="", left=LEFT)
    assert editor.message().endswith("there is nothing else to restore\n" + SAID)
    assert editor.sent("restore") == []

"""What a person sees of the lists, the summary and the questions of a review."""

from __future__ import annotations

import time

from tests.lua.conftest import RECORD
from tests.lua.review_files import TWO, review, tell, written


def opened(screen, columns=100, rows=30):
    editor = screen(columns=columns, rows=rows)
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    return editor


def summary(directory):
    files = [
        {"path": f"{directory}/a.py", "operation": "modify", "added": 10, "removed": 4},
        {"path": f"{directory}/a/rather/long/path.py", "operation": "add", "added": 2, "removed": 0},
    ]
    return {
        "type": "summary", "session": 1, "block": 1, "id": "x", "files": files, "time": 1_700_000_000,
    }  # fmt: skip


def test_the_help_of_the_keys(screen):
    editor = opened(screen)
    path = written(editor.project, "a.py")
    editor.command(f"edit {path}")
    tell(editor, review(path, hunks=TWO))
    editor.type("g?")
    editor.wait_for("Press ENTER")
    for words in ("Keys of the review", "ghk     Files under review: keep this hunk", "ghR ", "ghn ]h ", "ght "):
        assert editor.find(words)
    assert not editor.find("Prompt, normal mode")
    editor.type("\r")


def test_the_help_of_the_chat_leaves_them_out(screen):
    editor = opened(screen)
    editor.command("AcpChat")
    editor.type("g?")
    editor.wait_for("Keys of the prompt")
    assert editor.find("send (normal mode)")
    assert not editor.find("Files under review: keep this hunk")


def test_the_summary_in_a_narrow_chat(screen):
    editor = opened(screen, 60)
    editor.command("AcpChat")
    editor.apply(summary(editor.project.resolve()))
    editor.wait_for("Changed 2 files  +12 −4")
    edge = editor.find("Changed 2 files")[1]
    assert editor.lua("return vim.api.nvim_win_get_width(vim.fn.win_findbuf(vim.fn.bufnr('acp://demo chat'))[1])") == 40
    rows = [row[edge:] for row in editor.rows()]
    first = rows.index("Changed 2 files  +12 −4")
    clock = time.strftime("%H:%M", time.localtime(1_700_000_000))
    assert rows[first + 1 : first + 5] == [
        "  M a.py  +10 −4",
        "  A a/rather/long/path.py  +2 −0",
        f"  ⟲ {clock}  :AcpRestore goes back to",
        "before this turn",
    ]


def test_the_list_has_colours(screen):
    editor = opened(screen)
    editor.command("highlight AcpDiffAdded guifg=#00ff01 | highlight AcpDiffRemoved guifg=#ff0001 | set termguicolors")
    paths = [written(editor.project, name) for name in ("a.py", "b.py")]
    tell(editor, review(paths[0], added=12, removed=3), review(paths[1], "add", added=1))
    editor.command("AcpReview")
    editor.wait_for("M a.py  +12 −3")
    editor.wait_for("A b.py  +1 −0")
    row, column = editor.find("+12")
    assert editor.cell(row, column).fg == "00ff01"
    assert editor.cell(row, column + 4).fg == "ff0001"
    assert editor.cell(row, column + 3).fg != "00ff01"


def checkpoints(editor):
    files = [{"path": f"{editor.project.resolve()}/a.py", "operation": "modify", "added": 1, "removed": 1}]
    counts = {"files": 1, "added": 1, "removed": 1}
    one = {"id": "x", "kind": "turn", "agent": "demo", "prompt": "do it", "time": 1_700_000_000, **counts}
    editor.apply({"type": "checkpoints", "cwd": str(editor.project), "checkpoints": [one]})
    return files


def test_from_the_question_to_the_patch_and_back(screen):
    editor = opened(screen)
    editor.command("edit notes.txt | call setline(1, 'my notes') | write")
    editor.wait_for("my notes")
    for answer, sent in (("n", 0), ("\x03", 0), ("y", 1)):
        editor.command("AcpRestore")
        files = checkpoints(editor)
        editor.wait_for("1 file +1 −1  demo: do it")
        editor.type("1\r")
        editor.wait_until(
            lambda: "restore_plan" in editor.lua("return _G.sent[#_G.sent].method"), what="the plan asked"
        )
        patch = "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-new words\n+old words\n"
        editor.apply({"type": "restore_plan", "id": "x", "files": files, "patch": patch})
        editor.wait_for("Restore 1 file?")
        for words in ("M a.py  +1 −1", "-new words", "+old words", "(Y)es: Restore this file", "(N)o: Cancel"):
            editor.wait_for(words)
        editor.type(answer)
        if answer == "\x03":  # an interrupt throws away what is typed after it; up to 0.11 Neovim then asks for a key
            editor.wait_until(lambda: editor.find("Press ENTER") or editor.find("my notes"), what="the interrupt")
            if editor.find("Press ENTER"):
                editor.type("\r")
        editor.wait_for("my notes")
        editor.wait_until(
            "#vim.api.nvim_list_tabpages() == 1 and vim.api.nvim_get_mode().blocking == false", what="the end"
        )
        methods = [one["method"] for one in editor.lua("return _G.sent")]
        assert methods.count("restore") == sent, (answer, editor.screen_text())

"""`:AcpReview` with its words: hunks, files, sessions."""

from __future__ import annotations

import pytest

from tests.lua.conftest import STATUS
from tests.lua.review_files import TWO, hunk, review, tell, written

CHECKPOINT = {
    "id": "x",
    "kind": "turn",
    "agent": "demo",
    "prompt": "do it",
    "time": 1_700_000_000,
    "files": 0,
    "added": 0,
    "removed": 0,
}


@pytest.fixture
def files(editor):
    """Two files under review; of the first one there is a buffer, in the current window."""
    paths = [written(editor.project, name) for name in ("a.py", "b.py")]
    editor.command(f"edit {paths[0]}")
    tell(editor, review(paths[0], hunks=TWO), review(paths[1], added=2, removed=1))
    return paths


def test_lines_of_a_range(editor, files):
    editor.command("2AcpReview keep")
    editor.command("%AcpReview reject")
    editor.command("3,9AcpReview keep")
    assert [(one["action"], one.get("hunks")) for one in editor.sent("review")] == [("keep", [1]), ("reject", [1, 2])]
    assert "there is no hunk here" in editor.message()


def test_conflicts(editor, files):
    theirs = hunk(5, 3, 1, [], by="conflict", theirs=["x"])
    tell(editor, review(files[0], hunks=[*TWO, theirs], conflicts=1))
    for word in ("mine", "theirs", "both"):
        editor.command(f"%AcpReview {word}")
    assert [(one["action"], one["hunks"]) for one in editor.sent("review")] == [
        ("mine", [5]), ("theirs", [5]), ("both", [5]),
    ]  # fmt: skip


def test_all_of_this_file_or_of_the_session(editor, files):
    key = editor.chat()
    editor.command("wincmd p | wincmd p")
    tell(editor, review(files[0], hunks=TWO, sessions=[key]), review(files[1], sessions=[key]))
    editor.lua("vim.api.nvim_set_current_win(vim.fn.win_findbuf(vim.fn.bufnr(...))[1])", str(files[0]))
    editor.command("AcpReview keepall")
    editor.command("AcpReview! rejectall")
    assert editor.sent("review") == [
        {"action": "keep", "path": str(files[0])}, {"action": "reject", "session": key, "force": True},
    ]  # fmt: skip
    assert editor.messages() == []  # the host has done nothing yet
    editor.apply(judged(files))
    assert "rejected: 2 files; undo it with :AcpRestore undo" in editor.message()


def judged(files, action="reject", left=(), undo_id="x"):
    """Return the answer of the host to a decision."""
    return {
        "type": "judged", "action": action, "files": [str(path) for path in files], "left": list(left),
        "undo_id": undo_id,
    }  # fmt: skip


def left(path, by="unknown", why="no command ran"):
    return {"path": str(path), "by": by, "why": why}


@pytest.mark.parametrize("unknown", ["agent", "unknown"])
def test_all_of_one_file_is_a_choice_whoever_changed_it(editor, files, unknown):
    tell(editor, review(files[0], hunks=TWO, by=unknown))
    editor.command("AcpReview rejectall")
    editor.keys("ghR")
    assert editor.sent("review") == [{"action": "reject", "path": str(files[0])}] * 2


def test_what_was_left_alone_is_told(editor, files):
    unknown = [left(editor.project.resolve() / f"{name}.txt", why=f"nobody ran {name}") for name in "abcdef"]
    editor.apply(judged(files, left=[*unknown, left("/s/1", "state"), left("/s/2", "state")]))
    assert editor.message().splitlines() == [
        "acp_nvim: rejected: 2 files; undo it with :AcpRestore undo",
        "left alone, because it is not known who changed them: a.txt (nobody ran a), b.txt (nobody ran b) "
        "and 4 more (:AcpReview! rejectall rejects them too)",
        "left alone: 2 of the agent's own records",
    ]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (judged([], left=[left("/s/1", "state")], undo_id=""),
         "nothing was rejected\nleft alone: 1 of the agent's own records"),
        (judged(["/a"], left=[left("/big", "agent", "it is too large")]),
         "rejected: 1 file; undo it with :AcpRestore undo\nleft alone: /big (it is too large)"),
        (judged(["/a"], left=[left("/long/" + 90 * "x"), left("/b")]),
         "rejected: 1 file; undo it with :AcpRestore undo\n"
         f"left alone, because it is not known who changed them: /long/{90 * 'x'} and 1 more "
         "(:AcpReview! rejectall rejects "),
        (judged(["/a"], "keep", undo_id=""), "kept: 1 file"),
    ],
)  # fmt: skip
def test_other_answers(editor, event, said):
    editor.apply(event)
    assert editor.message().startswith(f"acp_nvim: {said}")


def test_the_focus_in_the_chat_means_its_session(editor, files):
    first, second = editor.chat(), editor.chat()
    tell(editor, review(files[0], sessions=[first]), review(files[1], sessions=[first]))
    editor.command("AcpReview rejectall")
    assert editor.sent("review") == []
    assert "nothing is left to review of this session (2 files of others: :AcpReview)" in editor.message()
    tell(editor, review(files[1], sessions=[first, second]))
    editor.command("AcpReview keepall")
    editor.command("AcpReview rejectall")
    editor.command("AcpReview! keepall")
    assert editor.sent("review") == [
        {"action": "keep", "session": second}, {"action": "reject", "session": second},
        {"action": "keep", "session": second},
    ]  # fmt: skip


@pytest.mark.parametrize("command", ["2AcpReview keep", "AcpReview keepall", "AcpReview! rejectall", "AcpRestore"])
def test_the_host_hears_of_edits_before_it_acts(editor, files, command):
    editor.lua("require('acp_nvim.limits').edit_pause_ms = 1e6")
    tell(editor, *[review(path, hunks=TWO, sessions=[]) for path in files])
    editor.lua("vim.ui.select = function(items, _, on_choice) on_choice(items[1]) end")
    editor.lua("vim.api.nvim_buf_set_lines(0, 5, 6, true, { 'mine' }) vim.cmd(...)", command)
    method = "review"
    if command == "AcpRestore":
        method = "restore_plan"
        editor.apply({"type": "checkpoints", "cwd": "", "checkpoints": [CHECKPOINT]})
    editor.wait_until(lambda: editor.sent(method), what=method)
    methods = [one["method"] for one in editor.lua("return _G.sent")]
    assert methods.index("edited") < methods.index(method)


def test_what_no_session_here_has_made_is_kept_altogether(editor, files):
    editor.chat()
    tell(editor, review(files[0], sessions=[]), review(files[1], sessions=[]))
    editor.command("AcpReview keepall")
    assert editor.sent("review") == [{"action": "keep"}]


def test_a_buffer_that_is_not_under_review(editor, files):
    editor.command("enew")
    editor.command("AcpReview keep")
    assert "this buffer has nothing to review" in editor.message()


def loaded(editor):
    """The host has told all that was left."""
    editor.apply({"type": "review_loaded", "cwd": str(editor.project)})


@pytest.mark.parametrize("word", ["", "next", "prev", "quickfix"])
def test_nothing_to_review(editor, word):
    editor.chat()
    editor.command(f"AcpReview {word}")
    assert editor.messages() == []  # the session may have begun just now: the host says when it knows
    loaded(editor)
    editor.wait_until(lambda: "nothing to review" in editor.message(), what="the message")
    editor.command(f"AcpReview {word}")
    assert len(editor.messages()) == 2
    assert (editor.sent("review"), len(editor.sent("review_load"))) == ([], 1)


@pytest.mark.parametrize("word", ["keepall", "rejectall"])
def test_nothing_to_decide(editor, word):
    editor.chat()
    editor.command(f"AcpReview {word}")
    assert "to review" in editor.message()
    assert editor.sent("review") == []


def test_what_was_left_in_another_neovim_is_asked_for(editor):
    path = written(editor.project, "a.py")
    editor.command("AcpReview")
    editor.command("AcpReview")
    assert editor.messages() == []  # however long the host takes
    assert editor.sent("review_load") == [{"cwd": str(editor.project)}]
    tell(editor, review(path, added=1, sessions=[]))
    editor.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    tell(editor, review(path, "none"))
    assert "nothing is left to review" in editor.message()
    editor.wait_until("vim.bo.filetype == ''", what="the end of the list")
    editor.lua("_G.channel = 2")
    editor.command("AcpReview next")
    assert len(editor.sent("review_load")) == 2
    assert "nothing is left to review" in editor.message()
    loaded(editor)
    editor.wait_until(lambda: "nothing to review" in editor.messages()[-1], what="the message")
    tell(editor, review(path, added=1, sessions=[]))
    editor.lua("vim.schedule(function() _G.later = true end)")
    editor.wait_until("_G.later", what="what was scheduled")
    assert editor.buffer_text() == ""


def test_it_is_not_called_nothing_once_it_is_told(editor):
    path = written(editor.project, "a.py")
    editor.command("AcpReview")
    editor.apply(review(path, added=1, sessions=[]), {"type": "review_loaded", "cwd": str(editor.project)})
    editor.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    assert editor.messages() == []


def turn_over(editor):
    """A chat whose agent has ended a turn, after everything that was left had been sent."""
    key = editor.chat()
    editor.command("AcpReview")
    loaded(editor)
    editor.wait_until(lambda: editor.messages(), what="that there is nothing")
    editor.apply(
        {"type": "turn_start", "session": key}, {"type": "turn_end", "session": key, "stop_reason": "end_turn"}
    )
    return key


COLLECTING = {"type": "review_collecting", "cwd": "/p"}


def test_a_turn_that_is_over_may_have_changed_more_than_is_known(editor):
    turn_over(editor)
    editor.command("AcpReview")
    editor.apply(COLLECTING, COLLECTING)
    editor.wait_until(lambda: len(editor.messages()) == 2, what="what is going on")
    assert "the changes of the last turn in /p are still being collected" in editor.messages()[-1]
    assert len(editor.sent("review_load")) == 2
    tell(editor, review(written(editor.project, "a.py"), added=1, sessions=[]))
    editor.wait_until("vim.bo.filetype == 'acp_review'", what="the list")
    assert len(editor.messages()) == 2


@pytest.mark.parametrize("word", ["keep", "reject"])
def test_all_is_decided_when_all_is_known(editor, word):
    key = turn_over(editor)
    editor.command(f"AcpReview {word}all")
    assert len(editor.messages()) == 1
    assert editor.sent("review") == []
    editor.apply(review(written(editor.project, "a.py"), added=1, sessions=[key]))
    assert editor.sent("review") == []
    loaded(editor)
    editor.wait_until(lambda: editor.sent("review"), what="the decision")
    assert editor.sent("review") == [{"action": word, "session": key}]


def test_while_an_agent_works_there_is_nothing_only_so_far(editor):
    key = turn_over(editor)
    editor.apply(
        {"type": "status", "session": key, "status": {**STATUS, "cwd": str(editor.project), "state": "running"}}
    )
    editor.command("AcpReview")
    loaded(editor)
    editor.wait_until(lambda: editor.messages()[-1].endswith("so far (demo works here)"), what="the words")
    editor.command("AcpRestore")
    editor.apply({"type": "checkpoints", "cwd": str(editor.project), "checkpoints": []})
    words = "no turn has changed files so far (demo works here)"
    editor.wait_until(lambda: editor.messages()[-1].endswith(words), what="the words")


def test_words(editor):
    assert editor.lua("return vim.fn.getcompletion('AcpReview ', 'cmdline')") == [
        "both", "comment", "comments", "keep", "keepall", "mine", "next", "prev", "quickfix", "reject", "rejectall",
        "send", "theirs", "uncomment",
    ]  # fmt: skip
    assert editor.lua("return vim.fn.getcompletion('AcpReview re', 'cmdline')") == ["reject", "rejectall"]
    assert editor.lua("return vim.fn.getcompletion('AcpRestore ', 'cmdline')") == ["undo"]
    editor.command("AcpReview rejct")
    assert 'not "rejct"; did you mean "reject"?' in editor.message()
    editor.command("AcpRestore all")
    editor.wait_until(lambda: len(editor.messages()) == 2, what="the second message")
    assert ':AcpRestore takes nothing, or undo, not "all"' in editor.messages()[-1]


def test_the_command_line_window_is_left_first(editor, files):
    editor.keys("q:")
    for command in ("AcpReview", "AcpReview next", "AcpRestore"):
        editor.command(command)
    editor.wait_until(lambda: len(editor.messages()) == 3, what="three messages")
    assert all("leave the command-line window first (:q)" in text for text in editor.messages())
    editor.keys(":q<CR>")


def test_next_goes_to_the_first_file_from_anywhere(editor, files):
    editor.command("enew")
    editor.command("AcpReview next")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(files[0])
    assert editor.lua("return vim.fn.line('.')") == 2
    editor.command("AcpReview next")
    assert editor.lua("return vim.fn.line('.')") == 10
    editor.command("enew")
    editor.command("AcpReview prev")
    assert editor.lua("return vim.api.nvim_buf_get_name(0)") == str(files[1])

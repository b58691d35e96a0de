"""How far long work on many files has come is shown above the chat, in the list, and to those who wait for it."""

from __future__ import annotations

from tests.lua.review_files import review, written

BAR = "return require('acp_nvim.chat.winbar').text(require('acp_nvim.host.sessions').all()[1], 200)"
ECHO = """
_G.said = {}
vim.api.nvim_echo = function(chunks, is_kept)
  if not is_kept and not chunks[1][1]:find("last turn", 1, true) then
    table.insert(_G.said, chunks[1][1])
  end
end
"""
VIEW = "return require('acp_nvim').status().review_progress"


def progress(what="collecting", done=120, total=3000, seconds=2.5, **more):
    """Return an event about the progress of work."""
    return {"type": "review_progress", "what": what, "done": done, "total": total, "seconds": seconds, **more}


def test_the_changes_of_a_turn_are_being_collected(editor):
    key = editor.chat()
    editor.apply(progress(session=key, total=0, done=0, seconds=0.0))
    assert editor.lua(VIEW) == {"what": "collecting", "done": 0, "total": 0}
    assert "collecting" not in editor.lua(BAR), "most turns change few files"
    editor.apply(progress(session=key))
    assert editor.lua(VIEW) == {"what": "collecting", "done": 120, "total": 3000}
    assert "collecting changes 120/3000" in editor.lua(BAR)
    editor.apply(review(written(editor.project, "a.py"), added=1, sessions=[key]))
    editor.command("AcpReview")
    assert editor.buffer_text().split("\n")[0] == "collecting changes 120/3000 …"
    editor.apply(progress(session=key, done=130))
    editor.wait_until(lambda: editor.buffer_text().startswith("collecting changes 130/3000 …"), what="the list")
    editor.apply(progress(session=key, is_over=True))
    editor.wait_until(lambda: "collecting" not in editor.buffer_text(), what="the list")
    assert "collecting" not in editor.lua(BAR)
    assert editor.lua(VIEW) is None
    assert [one["name"] for one in editor.events()] == ["AcpTurnChanges"]
    assert editor.messages() == []


def test_a_line_tells_who_waits(editor):
    key = editor.chat()
    editor.lua(ECHO)
    said = "return _G.said"
    editor.apply(progress(session=key), {"type": "review_collecting", "cwd": "/p"}, progress(session=key, done=9))
    editor.wait_until(lambda: editor.lua(said), what="the line")
    assert editor.lua(said) == ["acp_nvim: collecting changes 9/3000 …"]
    editor.apply(progress(session=key, is_over=True), progress("rejecting", 7), progress("rejecting", is_over=True))
    editor.wait_until(lambda: len(editor.lua(said)) == 2, what="the next line")
    editor.apply(progress(session=key, done=10))
    assert editor.lua(said)[1:] == ["acp_nvim: rejecting 7/3000 …"]
    assert "rejecting" not in editor.printed()


def test_the_same_is_not_asked_for_twice(editor):
    key = editor.chat()
    path = written(editor.project, "a.py")
    editor.apply(review(path, added=1, sessions=[key]))
    editor.command("AcpReview rejectall")
    editor.command("AcpReview rejectall")
    assert len(editor.sent("review")) == 1
    assert "still being done" in editor.message()
    editor.apply({"type": "judged", "action": "reject", "files": [str(path)], "left": [], "undo_id": "u"})
    editor.wait_until("not require('acp_nvim.review.files.actions').is_judging()", what="the result")
    editor.command("AcpReview rejectall")
    assert len(editor.sent("review")) == 2

"""Plans: entries or a text, several at once."""

from __future__ import annotations

import pytest

from tests.lua.test_chat import append


def plan(key, block, *steps, **more):
    entries = [{"content": text, "status": status, "priority": priority} for text, status, priority in steps]
    return {"type": "plan", "session": key, "block": block, "entries": entries, **more}


DONE = ("wash", "completed", "high")
NOW = ("dry", "in_progress", "low")


def test_words_that_nobody_knows_are_shown(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, DONE, ("iron", "cancelled", "urgent"), ("fold", "_dreamt\nof", "_whenever")))
    assert editor.lines(key)[1:] == ["Plan (1/3)", "  ✓ wash", "  – iron", "  ○ fold [_dreamt]"]
    assert editor.messages() == []


def test_one_plan_needs_no_title_and_several_have_theirs(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, NOW, title="laundry"), append(key, 2, "well"))
    assert editor.lines(key)[1:] == ["Plan (0/1)", "  ▸ dry", "", "well"]
    editor.apply(plan(key, 3, DONE, NOW, title="house\nand garden"))
    assert editor.lines(key)[1:] == [
        "Plan laundry (0/1)", "  ▸ dry", "", "well", "", "Plan house (1/2)", "  ✓ wash", "  ▸ dry",
    ]  # fmt: skip
    editor.apply(plan(key, 1, DONE, title="laundry"))
    assert editor.lines(key)[1:3] == ["Plan laundry (1/1)", "  ✓ wash"]


def test_the_same_plan_in_another_turn_needs_no_title_either(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, NOW, title="p"), plan(key, 2, DONE, title="p"), plan(key, 3, DONE))
    assert [line for line in editor.lines(key) if "Plan" in line] == ["Plan (0/1)", "Plan (1/1)", "Plan (1/1)"]


def test_a_plan_may_be_a_text(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, text="# Wash\n\n- first\n- then\n"))
    assert editor.lines(key)[1:] == ["Plan", "  # Wash", "", "  - first", "  - then"]
    editor.apply(plan(key, 1, text="\n".join(f"step {n}" for n in range(1000))))
    assert editor.lines(key)[-2:] == ["  step 199", "… 800 more lines"]
    editor.apply(plan(key, 1, NOW))
    assert editor.lines(key)[1:] == ["Plan (0/1)", "  ▸ dry"]


def test_plans_of_before_are_forgotten_with_the_text(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, NOW, title="a"), plan(key, 2, NOW, title="b"))
    editor.apply({"type": "reset", "session": key}, append(key, 1, "text"), plan(key, 2, DONE, title="b"))
    assert editor.lines(key)[1:] == ["text", "", "Plan (1/1)", "  ✓ wash"]


def test_plans_of_another_host_change_nothing_of_this_one(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, NOW, title="a"))
    editor.lua("_G.channel = 2")
    editor.lua('require("acp_nvim").prompt("go on")')
    editor.apply(append(key, 1, "go on", "user"), plan(key, 2, DONE, title="b"))
    assert editor.lines(key)[-4:] == ["go on", "", "Plan (1/1)", "  ✓ wash"]


def test_entries_that_nobody_has_kept_are_counted(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, DONE, NOW, left=999_998))
    assert editor.lines(key)[1:] == ["Plan (1/1000000)", "  ✓ wash", "  ▸ dry", "  … and 999,998 more"]


@pytest.mark.parametrize("stop_reason", ["end_turn", "cancelled", "error", "refusal"])
def test_steps_that_are_left_open_are_not_finished_after_the_turn(editor, stop_reason):
    key = editor.chat()
    start = {"type": "turn_start", "session": key, "background": False, "of_checks": False}
    editor.apply(start, plan(key, 1, DONE, NOW, ("iron", "pending", "low")), plan(key, 2, DONE), append(key, 3, "so"))
    assert editor.lines(key)[1:5] == ["Plan (1/3)", "  ✓ wash", "  ▸ dry", "  ○ iron"]
    end = {"type": "turn_end", "session": key, "stop_reason": stop_reason, "background": False}
    editor.apply(end)
    assert editor.lines(key)[1:] == [
        "Plan (1/3) [not finished]", "  ✓ wash", "  ○ dry", "  ○ iron", "", "Plan (1/1)", "  ✓ wash", "", "so",
    ]  # fmt: skip
    editor.apply(start)
    assert editor.lines(key)[1] == "Plan (1/3) [not finished]"


def test_what_is_sent_again_of_an_earlier_turn_is_not_finished(editor):
    key = editor.chat()
    cancelled = plan(key, 2, DONE, ("iron", "cancelled", "low"), over=True)
    editor.apply(plan(key, 1, NOW, over=True), cancelled, plan(key, 3, text="- [x] a\n- [ ] b", over=True))
    assert [line for line in editor.lines(key) if line.startswith("Plan")] == [
        "Plan (0/1) [not finished]",
        "Plan (1/2)",
        "Plan (1/2) [not finished]",
    ]
    assert "▸" not in "".join(editor.lines(key))


def test_nothing_of_a_plan_is_drawn_into_a_chat_that_is_emptied(editor):
    key = editor.chat()
    editor.apply(plan(key, 1, NOW), {"type": "reset", "session": key}, append(key, 1, "text"))
    assert editor.lines(key)[1:] == ["text"]

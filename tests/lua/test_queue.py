"""What waits to be sent: shown below the prompt, edited in a buffer of its own, steered."""

from __future__ import annotations

import pytest

from tests.lua.test_sessions import host_ends


@pytest.fixture
def key(editor):
    return editor.chat()


def queue(editor, key, *texts, held=False, first=1):
    """Prompts with the ids `first` and so on wait; Lua knows that these ids are in use."""
    last = first + len(texts) - 1
    editor.lua("vim.g.acp_nvim_last_prompt = math.max(vim.g.acp_nvim_last_prompt or 0, ...)", last)
    prompts = [{"id": first + index, "text": text, "context_names": []} for index, text in enumerate(texts)]
    editor.apply({"type": "queue", "session": key, "held": held, "prompts": prompts})


def below(editor, key):
    """The virtual lines of the prompt's buffer."""
    marks = editor.lua(
        'return vim.api.nvim_buf_get_extmarks(..., vim.api.nvim_create_namespace("acp_nvim.queue"), 0, -1, '
        "{ details = true })",
        editor.session(key, "prompt_bufnr"),
    )
    return [(mark[1], "".join(chunk[0] for chunk in line)) for mark in marks for line in mark[3]["virt_lines"]]


def sections(editor):
    return editor.buffer_text().split("\n")


def test_what_waits_is_shown_below_the_last_line(editor, key):
    queue(editor, key, "one\ntwo", "three")
    assert below(editor, key) == [(0, "2 prompts wait (:AcpQueue edits)"), (0, " 1 one ⏎ two"), (0, " 2 three")]
    editor.keys("idraft<CR>more<Esc>")
    assert {row for row, _ in below(editor, key)} == {1}
    queue(editor, key, "a", "b", "c", "d", "e", held=True)
    words = [line for _, line in below(editor, key)]
    assert words[0] == "5 prompts are held: <CR> sends them"
    assert words[-1] == " … 2 more"
    queue(editor, key)
    assert below(editor, key) == []


def test_an_empty_prompt_sends_what_is_held(editor, key):
    queue(editor, key, "one")
    editor.keys("<CR>")
    assert editor.sent("steer") == []  # it is sent at the end of the turn
    queue(editor, key, "one", held=True)
    assert next(line for _, line in below(editor, key)) == "1 prompt is held: <CR> sends it"
    editor.lua("vim.api.nvim_input('i')")
    editor.wait_until(lambda: below(editor, key)[0][1] == "1 prompt is held: <C-s> sends it", what="the key's name")
    editor.keys("<Esc>  <CR>")
    assert editor.sent("steer") == [{"session": key}]
    assert editor.sent("prompt") == []
    editor.keys("itwo<Esc><CR>")
    assert len(editor.sent("steer")) == 1
    assert [one["text"] for one in editor.sent("prompt")] == ["two"]


def test_an_empty_queue_says_what_to_do_and_lists_its_keys(screen):
    editor = screen(columns=80, rows=24)
    editor.command("AcpChat")
    editor.command("AcpQueue")
    editor.wait_for("Nothing waits (g?: keys)")
    editor.type("g?")
    editor.wait_for("Keys of the queue")
    for words in (":write", "--- prompt ---", "<C-g>s"):
        editor.wait_for(words)
    assert not editor.find("more")


def test_the_list_of_keys_says_that_there_are_more(screen):
    editor = screen(columns=80, rows=14)
    editor.command("AcpChat")
    editor.type("g?")
    editor.wait_for("j, <C-d>: more")


def test_the_queue_is_edited_reordered_and_added_to(editor, key):
    queue(editor, key, "one", "two\nlines", "three")
    editor.command("AcpQueue")
    assert editor.lua("return { vim.bo.filetype, vim.bo.buftype, vim.bo.modified }") == ["acp_queue", "acwrite", False]
    assert sections(editor) == [
        "--- prompt 1 ---",
        "one",
        "--- prompt 2 ---",
        "two",
        "lines",
        "--- prompt 3 ---",
        "three",
    ]
    editor.keys("ggdjGo--- prompt ---<CR>brand new<Esc>ggjA 2<Esc>")
    editor.command("write")
    (sent,) = editor.sent("queue_set")
    assert sent["known"] == [1, 2, 3]
    assert sent["prompts"] == [
        {"id": 2, "text": "two 2\nlines"},
        {"id": 3, "text": "three"},
        {"id": 4, "text": "brand new"},
    ]
    assert not editor.lua("return vim.bo.modified")


def test_the_numbers_are_those_below_the_prompt_whatever_was_sent_before(editor, key):
    queue(editor, key, "one", "two", first=7)
    assert below(editor, key)[1:] == [(0, " 1 one"), (0, " 2 two")]
    editor.command("AcpQueue")
    assert sections(editor) == ["--- prompt 1 ---", "one", "--- prompt 2 ---", "two"]
    editor.keys("ggdjGo--- prompt 1 ---<CR>one, last<Esc>")
    editor.command("write")
    assert editor.sent("queue_set")[0]["prompts"] == [{"id": 8, "text": "two"}, {"id": 7, "text": "one, last"}]
    queue(editor, key, "two", "one, last", first=8)
    assert sections(editor) == ["--- prompt 1 ---", "two", "--- prompt 2 ---", "one, last"]


def test_a_copied_section_is_a_new_prompt(editor, key):
    queue(editor, key, "one")
    editor.command("AcpQueue")
    editor.keys("yGGp")
    editor.command("write")
    assert editor.sent("queue_set")[0]["prompts"] == [{"id": 1, "text": "one"}, {"id": 2, "text": "one"}]


def test_text_that_looks_like_a_header_stays_text(editor, key):
    text = "--- prompt 7 ---\n\\--- prompt 8 ---\nx"
    queue(editor, key, text)
    editor.command("AcpQueue")
    editor.command("write")
    assert editor.sent("queue_set")[0]["prompts"] == [{"id": 1, "text": text}]


def test_an_untouched_view_follows_the_queue_and_an_edited_one_stays(editor, key):
    queue(editor, key, "one", "two")
    editor.command("AcpQueue")
    queue(editor, key, "two", first=2)
    assert sections(editor) == ["--- prompt 1 ---", "two"]
    editor.keys("Gccmine<Esc>")
    queue(editor, key)
    assert sections(editor) == ["--- prompt 1 ---", "mine"]  # the prompt was edited
    editor.command("write")
    sent = editor.sent("queue_set")[0]
    assert (sent["session"], sent["prompts"], sent["known"]) == (key, [{"id": 2, "text": "mine"}], [2])
    editor.apply({"type": "queue_late", "session": key, "prompts": [{"id": 2, "text": "mine"}]})
    assert editor.prompt_lines(key) == ["mine"]
    assert "was sent or removed before" in editor.message()


def test_what_comes_back_stands_above_the_draft(editor, key):
    editor.keys("idraft<Esc>")
    editor.apply({"type": "queue_late", "session": key, "prompts": [{"id": 2, "text": "mine"}]})
    assert editor.prompt_lines(key) == ["mine", "", "draft"]


def test_without_its_host_the_edits_stay_in_the_buffer(editor, key):
    queue(editor, key, "one")
    editor.command("AcpQueue")
    editor.keys("Gccmine<Esc>")
    editor.lua('_G.channel = 2 require("acp_nvim.host").ensure = function() return false end')
    editor.command("write")
    assert "the queue could not be changed" in editor.message()
    assert sections(editor)[1] == "mine"
    assert editor.lua("return vim.bo.modified")


def test_the_prompt_is_steered_or_else_the_first_that_waits(editor, key):
    editor.keys("inow!<M-s>")
    assert editor.sent("prompt")[0]["text"] == "now!"
    assert editor.sent("steer") == [{"session": key, "id": editor.sent("prompt")[0]["id"]}]
    assert editor.prompt_lines(key) == [""]
    editor.keys("<Esc><M-s>")
    assert editor.sent("steer")[1] == {"session": key}


def test_edits_are_what_comes_back_when_the_host_dies(editor, key):
    editor.lua('require("acp_nvim").prompt("one") require("acp_nvim").prompt("two")')
    queue(editor, key, "one", "two")
    editor.command("AcpQueue")
    editor.keys("ggjA!<Esc>jdj")
    editor.command("write")
    host_ends(editor)
    editor.lua("require('acp_nvim').prompt('next')")
    assert editor.sent("queue_set")[-1]["prompts"] == [{"id": 1, "text": "one!", "context": []}]


def test_where_nothing_waits_a_section_can_be_filled(editor, key):
    editor.command("AcpQueue")
    assert sections(editor) == ["--- prompt ---", ""]
    editor.command("write")
    assert editor.sent("queue_set")[0]["prompts"] == []
    editor.keys("Gido this<Esc>")
    editor.command("write")
    assert editor.sent("queue_set")[1]["prompts"] == [{"id": 1, "text": "do this"}]


def test_the_section_under_the_cursor_is_steered(editor, key):
    queue(editor, key, "one", "two\nlines")
    editor.command("AcpQueue")
    editor.keys("G<M-s>")
    assert editor.sent("steer") == [{"session": key, "id": 2}]
    editor.keys("x<M-s>")
    assert "write your changes first (:write)" in editor.message()
    assert len(editor.sent("steer")) == 1


def test_what_new_texts_mention_is_attached(editor, key):
    (editor.project / "a.txt").write_text("text of a\n")
    queue(editor, key, "one", "two @b.txt")
    editor.command("AcpQueue")
    editor.keys("ggjA see @a.txt<Esc>")
    editor.command("write")
    editor.wait_until(lambda: editor.sent("queue_set"), what="the queue at the host")
    first, second = editor.sent("queue_set")[0]["prompts"]
    assert [item["name"] for item in first["context"]] == ["a.txt"]
    assert second == {"id": 2, "text": "two @b.txt"}
    editor.wait_until("not vim.bo.modified")


@pytest.mark.parametrize("between", ["", "Gomore<Esc>"])
def test_a_new_section_that_is_written_twice_is_one_prompt(editor, key, between):
    queue(editor, key, "one")
    editor.command("AcpQueue")
    editor.keys("Go--- prompt ---<CR>brand new<Esc>")
    editor.command("write")
    editor.keys(between)
    editor.command("write")
    written = [one for sent in editor.sent("queue_set") for one in sent["prompts"]]
    assert len({one["id"] for one in written if one["text"].startswith("brand new")}) == 1


def test_a_number_that_the_user_types_is_no_other_prompts(editor, key):
    queue(editor, key, "one", "two")
    editor.command("AcpQueue")
    editor.keys("Go--- prompt 3 ---<CR>typed its number<Esc>")
    editor.command("write")
    ids = [one["id"] for one in editor.sent("queue_set")[-1]["prompts"]]
    editor.lua("require('acp_nvim').prompt('next')")
    assert editor.sent("prompt")[-1]["id"] not in ids


def test_an_answer_for_an_older_text_does_not_take_the_change_away(editor, key):
    editor.lua("require('acp_nvim').prompt('one')")
    queue(editor, key, "one")
    editor.command("AcpQueue")
    editor.keys("ggjA, better<Esc>")
    editor.command("write")
    [sent] = editor.sent("queue_set")
    outbox = (
        f"return vim.tbl_map(function(one) return one.text end, require('acp_nvim.host.sessions').get({key}).outbox)"
    )
    editor.apply({"type": "prompts_taken", "session": key, "ids": [1], "revisions": [0]})
    assert editor.lua(outbox) == ["one, better"]
    editor.apply({"type": "prompts_taken", "session": key, "ids": [1], "revisions": [sent["revision"]]})
    assert editor.lua(outbox) == []

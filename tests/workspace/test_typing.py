"""The user goes on undisturbed while the agent writes elsewhere in the file: mode, cursor, selection, views, undo."""

from __future__ import annotations

import contextlib
import random
from base64 import b64encode

import pytest

from tests.support.waiting import LIMIT

HOME = 100  # the line where the user is
HOME_LINE = f"line {HOME} of the file"
TOPS = "vim.tbl_map(function(w) return vim.fn.getline(vim.fn.getwininfo(w)[1].topline) end, vim.api.nvim_list_wins())"
COUNT_ASKED = """
if _G.asked then
  return -- an earlier test counts them
end
_G.asked = 0
local buffers = require("acp_nvim.buffers")
for _, name in ipairs({ "write", "follow_disk" }) do
  local was = buffers[name]
  buffers[name] = function(...)
    _G.asked = _G.asked + 1
    return was(...)
  end
end
"""


def around(lines, turn):
    """The agent's text of a turn: lines more above, another line below; far from where the user is."""
    lines = list(lines)
    at = lines.index(HOME_LINE)
    lines[at + 20 + turn % 30] = f"turn {turn} below"
    lines[3:3] = [f"turn {turn} above {n}" for n in range(turn % 3)]
    return lines


class Meanwhile:
    """What happens while the user is in the middle of something."""

    def __init__(self, place):
        self.place = place
        self.stage = place.stage
        self.nvim = place.stage.nvim
        self.nvim.lua(COUNT_ASKED)

    @property
    def mode(self):
        return self.nvim.api("get_mode")["mode"]

    def begin(self, keys, mode):
        """Begin a command, as the user."""
        self.nvim.api("input", keys)
        self.nvim.wait_until(lambda: self.mode == mode, what=f"mode {mode!r}")

    def others_write(self, lines, by):
        """The agent's request, or its own tool; `done` waits for the end."""
        self.by, content = by, "".join(f"{line}\n" for line in lines)
        self.nvim.lua("_G.asked = 0")
        path = str(self.place.path)
        if by == "fs":
            self.stage.agent.begin("write", path=path, content=content)
        else:
            data = b64encode(content.encode()).decode()
            self.stage.agent.tell("disk_write", path=path, data=data, mtime_ns=self.stage.next_time())

    def wait_asked(self, count):
        """Neovim was asked that often to change the buffer: the second time, because it could not be done at once."""
        self.nvim.wait_until("_G.asked >= ...", 10, f"change number {count}", count)

    def done(self, lines):
        """All has been written, and the buffer is like that."""
        if self.by == "fs":
            self.stage.agent.finish()
        with contextlib.suppress(AssertionError):  # the comparison below says more
            self.nvim.wait_until(lambda: self.place.buffer.lines == lines, what="the buffer to have all")
        assert self.place.buffer.lines == lines


@pytest.fixture
def meanwhile(scenery):
    return Meanwhile(scenery(300))


def test_typing_in_one_of_two_windows(scenery):
    place = scenery(300)
    nvim = place.stage.nvim
    place.stage.type(f":split<CR>200Gzt<C-w>p{HOME}G")
    nvim.api("input", "A")
    nvim.wait_until(lambda: nvim.api("get_mode")["mode"] == "i")
    tops = place.lua(TOPS)
    assert len(tops) == 2
    assert "line 200 of the file" in tops
    known = list(place.lines)
    for turn in range(60):
        known = around(known, turn)
        place.agent_writes(known, meanwhile=f" w{turn}")
        assert nvim.api("get_mode") == {"mode": "i", "blocking": False}
    typed = "".join(f" w{turn}" for turn in range(60))
    nvim.wait_until("vim.api.nvim_get_current_line() == ...", LIMIT, "all that was typed", HOME_LINE + typed)
    assert place.buffer.lines == [line + typed if line == HOME_LINE else line for line in known]
    row, column = place.lua("vim.api.nvim_win_get_cursor(0)")
    assert (place.buffer.lines[row - 1], column) == (HOME_LINE + typed, len(HOME_LINE + typed))
    assert place.lua(TOPS) == tops


def test_undo_takes_back_what_the_user_typed_and_then_all_the_rest(scenery):
    place = scenery(300)
    stage = place.stage
    before = place.buffer.lines
    stage.keys(place.buffer, f"{HOME}G")
    stage.nvim.api("input", "Afirst ")
    stage.nvim.wait_until("vim.api.nvim_get_current_line():find('first ') ~= nil")
    place.agent_writes(around(place.lines, 5))
    stage.nvim.api("input", "second")
    stage.nvim.wait_until("vim.api.nvim_get_current_line():find('second') ~= nil")
    stage.type("<Esc>")
    full = place.buffer.lines
    stage.type("u")
    undone = place.buffer.lines
    assert undone == [line.replace("second", "") for line in full]
    states = [full, undone]
    while (stage.type("u"), place.buffer.lines)[1] != states[-1]:
        states.append(place.buffer.lines)
    assert states[-1] == before
    for state in reversed(states[:-1]):
        stage.type("<C-r>")
        assert place.buffer.lines == state


MODES = {
    "insert": ("A more", "i", " text<Esc>", lambda line: line + " more text"),
    "replace": ("0Rxy", "R", "z<Esc>", lambda line: "xyz" + line[3:]),
    "characters": ("0vll", "v", "d", lambda line: line[3:]),
    "lines": ("V", "V", ":s/$/ selected/<CR>", lambda line: line + " selected"),
    "block": ("0l<C-v>l", "\x16", "d", lambda line: line[0] + line[3:]),
    "select": ("0vll<C-g>", "s", "x<Esc>", lambda line: "x" + line[3:]),
    "command line": (":.s/line/LINE", "c", "/<CR>", lambda line: line.replace("line", "LINE")),
    "one command of insert mode": ("A<C-o>", "niI", "0x<Esc>", lambda line: "x" + line),
}
HALF_DONE = {
    "operator": ("0d", "no", "w", lambda line: line.partition(" ")[2]),
    "operator with a count": ("02d", "no", "w", lambda line: line.split(" ", 2)[2]),
    "search": ("0/of", "c", "<CR>x", lambda line: line.replace("of", "f")),
    "insert in a block": ("0<C-v>I", "i", "x<Esc>", lambda line: "x" + line),
    "completion": ("A l<C-n>", "ic", "<C-y>!<Esc>", lambda line: f"{line} line!"),
}


@pytest.mark.parametrize("by", ["fs", "tool"])
@pytest.mark.parametrize("turn", [3, 5])
@pytest.mark.parametrize("mode", MODES)
def test_the_mode_stays_as_it_is(meanwhile, mode, turn, by):
    begin, name, finish, change = MODES[mode]
    place = meanwhile.place
    meanwhile.stage.keys(place.buffer, f"{HOME}G")
    meanwhile.begin(begin, name)
    typed = place.buffer.lines
    known = around(place.lines, turn)
    meanwhile.others_write(known, by)
    meanwhile.done([typed[HOME - 1] if line == HOME_LINE else line for line in known])
    assert meanwhile.mode == name
    meanwhile.stage.type(finish)
    assert place.buffer.lines == [change(line) if line == HOME_LINE else line for line in known]


@pytest.mark.parametrize("by", ["fs", "tool"])
@pytest.mark.parametrize("mode", HALF_DONE)
def test_a_command_that_is_half_done_is_waited_for(meanwhile, mode, by):
    begin, name, finish, change = HALF_DONE[mode]
    place = meanwhile.place
    meanwhile.stage.keys(place.buffer, f"{HOME}G")
    meanwhile.begin(begin, name)
    before = place.buffer.lines
    known = around(place.lines, 5)
    meanwhile.others_write(known, by)
    meanwhile.wait_asked(2)
    assert (meanwhile.mode, place.buffer.lines) == (name, before)
    meanwhile.stage.type(finish)
    meanwhile.done([change(line) if line == HOME_LINE else line for line in known])


@pytest.mark.parametrize("mode", HALF_DONE)
def test_nothing_is_waited_for_when_no_line_moves(meanwhile, mode):
    begin, name, finish, change = HALF_DONE[mode]
    place = meanwhile.place
    meanwhile.stage.keys(place.buffer, f"{HOME}G")
    meanwhile.begin(begin, name)
    known = around(place.lines, 3)
    meanwhile.others_write(known, "fs")
    meanwhile.stage.agent.finish()
    assert meanwhile.mode == name
    assert any(line.startswith("turn 3") for line in place.buffer.lines)
    meanwhile.stage.type(finish)
    meanwhile.done_lines = [change(line) if line == HOME_LINE else line for line in known]
    assert place.buffer.lines == meanwhile.done_lines


def test_a_menu_of_completions_stays_open(meanwhile):
    place, stage = meanwhile.place, meanwhile.stage
    known = list(place.lines)
    known[HOME : HOME + 2] = ["alphabet here", "alpine there"]
    place.agent_writes(known)
    stage.keys(place.buffer, f"{HOME}G")
    stage.nvim.api("input", "A alp<C-n>")
    stage.nvim.wait_until("vim.fn.pumvisible() == 1")
    known = around(known, 3)
    place.agent_writes(known)
    assert place.lua("vim.fn.pumvisible()") == 1
    stage.type("<C-n><C-y>!<Esc>")
    assert place.buffer.lines == [f"{line} alpine!" if line == HOME_LINE else line for line in known]


def test_a_key_that_is_awaited_holds_up_only_the_write(scenery):
    place = scenery(300)
    stage = place.stage
    stage.keys(place.buffer, f"{HOME}G0")
    stage.nvim.api("input", "r")
    stage.nvim.wait_until(lambda: stage.nvim.api("get_mode")["blocking"], what="Neovim to wait for a key")
    known = around(place.lines, 5)
    place.agent_writes(known, meanwhile="X")
    assert place.buffer.lines == ["X" + line[1:] if line == HOME_LINE else line for line in known]


def test_a_register_a_recording_and_the_last_change_survive(scenery):
    place = scenery(300)
    stage = place.stage
    stage.keys(place.buffer, f'{HOME}G0"ayiwqb')
    known = around(place.lines, 5)
    place.agent_writes(known)
    stage.type("A!<Esc>q")
    assert place.lua("{ vim.fn.getreg('a'), vim.fn.getreg('b') }") == ["line", "A!\x1b"]
    known = [f"{line}!" if line == HOME_LINE else line for line in known]
    assert place.buffer.lines == known
    stage.agent.tell("read", path=str(place.path))
    place.agent_writes(known[:-2])
    stage.type("k.")
    assert place.buffer.lines[known.index(f"{HOME_LINE}!") - 1].endswith("!")


def selections(first, last):
    """Keys that begin, the mode then, keys that finish, and what becomes of lines `first` to `last` (1-based)."""
    down, at = last - first, f"{first}G"

    def cut(lines, left, right):
        return [line[:left] + line[right:] for line in lines]

    return [
        (f"{at}V{down}jo", "V", "d", lambda lines: []),
        (f"{at}V{last}G", "V", "d", lambda lines: []),
        (f"{last}GV{first}G", "V", "rx", lambda lines: ["x" * len(line) for line in lines]),
        (f"{at}03lv{last}G0", "v", "d", lambda lines: [lines[0][:3] + lines[-1][1:]]),
        (f"{last}G05lv{first}G02l", "v", "d", lambda lines: [lines[0][:2] + lines[-1][6:]]),
        (f"{at}02l<C-v>{last}G04l", "\x16", "d", lambda lines: cut(lines, 2, 5)),
        (f"{last}G02l<C-v>{first}G$", "\x16", "d", lambda lines: cut(lines, 2, 99)),
        (f"{at}A", "i", " end<Esc>", lambda lines: [lines[0] + " end", *lines[1:]]),
        (f"{at}0c", "no", "wX<Esc>", lambda lines: ["X" + lines[0][lines[0].index(" ") :], *lines[1:]]),
        (f"{at}d", "no", f"{down}j", lambda lines: []),
        (f"{last}Gd", "no", f"{down}k", lambda lines: []),
        (f"{at}>", "no", f"{down}j", lambda lines: ["\t" + line for line in lines]),
    ]


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_selected_is_the_same_text_wherever_it_moves(meanwhile, seed):
    rng = random.Random(seed)
    place, stage = meanwhile.place, meanwhile.stage
    fresh = list(place.lines)
    for case in range(15):
        stage.agent.tell("read", path=str(place.path))
        place.agent_writes([f"{line} {case}" for line in fresh])
        lines = place.buffer.lines
        first = rng.randint(50, 250)
        last = first + rng.randint(1, 4)
        begin, mode, finish, change = rng.choice(selections(first, last))
        above, own, below = lines[: first - 3], lines[first - 3 : last + 2], lines[last + 2 :]
        for part in (above, below):
            at = rng.randrange(len(part) - 5)
            part[at : at + rng.randint(0, 4)] = [f"by others {n}" for n in range(rng.randint(0, 4))]
        meanwhile.begin(begin, mode)
        meanwhile.others_write(above + own + below, rng.choice(["fs", "tool"]))
        meanwhile.wait_asked(1)
        if mode != "no":
            meanwhile.done(above + own + below)
        stage.type(finish)
        meanwhile.by = meanwhile.by if mode == "no" else ""
        meanwhile.done(above + own[:2] + change(own[2:-2]) + own[-2:] + below)

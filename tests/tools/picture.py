"""Makes the README's pictures: the demo in a real Neovim on a real screen, as SVG, for dark and for light pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import copytree

from tests.support.places import ROOT
from tests.support.screen import ScreenEditor
from tests.tools.svg_screen import THEMES, Frame, Part, Theme, animation, drawn_rows, still

COLUMNS, ROWS = 112, 34  # a waiting request and its tool call fit into the chat, so that no window changes its size
CHAT_COLUMNS = 41  # the line of a hunk fits beside it, with all keys of its hint
ANSWER_COLUMNS, ANSWER_ROWS = 56, 48  # all of the answer's table fits
PARSER = ROOT / ".cache" / "tree-sitter-python"
"""A parser of Python and its queries, which Neovim does not have."""
RULES = [{"command": "wc *", "action": "allow"}]
NO_TIME = "local date = os.date os.date = function(format, _) return date('!' .. format, 43200) end"
"""All happens at noon: the same pictures each time."""

NOT_FOLLOWED = """#vim.api.nvim_buf_get_extmarks(
    vim.fn.bufnr("greeting.py"), vim.api.nvim_create_namespace("acp_nvim.follow.light"), 0, -1, {}) == 0"""
"""The line where the agent works is no longer highlighted, which it is for 0.8 s."""


@contextmanager
def demo(theme: str, rows: int, chat_columns: int) -> Iterator[ScreenEditor]:
    """Neovim with the sample project and the chat of the demo agent, whose prompt is the current window."""
    with tempfile.TemporaryDirectory(prefix="acp-picture-") as directory:
        env = {"ACP_NVIM_DEMO_SPEED": "0"}
        config = {"ui": {"width": chat_columns, "spinner": False, "plan": "chat"}, "permissions": {"rules": RULES}}
        nvim = ScreenEditor(Path(directory), columns=COLUMNS, rows=rows, env=env, config=config)
        try:
            copytree(ROOT / "acp_nvim" / "demo_project", nvim.project, dirs_exist_ok=True)
            nvim.lua(NO_TIME)
            nvim.command(f"set runtimepath+={PARSER} termguicolors background={theme} fillchars=eob:\\ ")
            nvim.command("autocmd FileType python lua pcall(vim.treesitter.start)")
            nvim.command(f"cd {nvim.project} | edit greeting.py")
            nvim.command("AcpChat demo")
            nvim.wait_until('require("acp_nvim").status().state == "idle"')
            nvim.wait_for("Ask demo")
            yield nvim
        finally:
            nvim.close()


class Film:
    """The frames of an animation, as they are taken."""

    def __init__(self, nvim: ScreenEditor, theme: Theme) -> None:
        self.frames: list[Frame] = []
        self._nvim = nvim
        self._theme = theme

    def take(self, caption: str, seconds: float, shows: str) -> None:
        """Waits until the screen shows a text and is still, and takes it."""
        self._nvim.wait_for(shows)
        rows = settled(self._nvim, Part(range(ROWS), range(COLUMNS)), self._theme, cursor=True)
        self.frames.append(Frame(rows, caption, seconds))


def settled(nvim: ScreenEditor, part: Part, theme: Theme, *, cursor: bool) -> list[str]:
    """The rows of a part of the screen, when they have been the same for several requests to Neovim."""
    seen: list[list[str]] = []

    def is_still() -> list[str] | None:
        if not nvim.lua(f"vim.cmd.redraw() return {NOT_FOLLOWED}"):
            seen.clear()
        seen.append(drawn_rows(nvim, part, theme, cursor))
        return seen[-1] if len(seen) >= 20 and all(rows == seen[-1] for rows in seen[-20:]) else None

    rows: list[str] = nvim.wait_until(is_still, what="a screen that stays as it is")
    return rows


def film(nvim: ScreenEditor, theme: Theme) -> Film:
    """Film the demo, from the prompt to a rejected hunk."""
    made = Film(nvim, theme)
    caption = "Ask the agent, beside your code"
    nvim.type("i")
    made.take(caption, 0.5, "INSERT")
    for part, seconds in (("What is wrong ", 0.3), ("with ", 0.3), ("greeting.py?", 0.7)):
        nvim.type(part)
        made.take(caption, seconds, part.strip())
    nvim.type("\x1b\r")
    made.take("It asks before it acts; the change is previewed in your file", 4, "✗ r")
    nvim.type("\x17kp")
    made.take("p goes to the change; ghk allows it", 3, "demo asks")
    nvim.type("ghk")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 1)
    made.take("The change is in your buffer, as one undo step, and under review", 3.5, "hunk 1/1")
    nvim.type("\x17li/edits\x1b\r")
    made.take("The next turn would change two more places", 2.5, "Permission needed  edit")
    nvim.type("\x17ka")
    nvim.wait_until(lambda: len(nvim.events("AcpTurnEnd")) == 2)
    nvim.type("\x17h")
    nvim.type("G")
    made.take("Each hunk is yours to keep with ghk, or to reject with ghr", 2.5, "hunk 3/3")
    nvim.type("ghr")
    made.take("This one is rejected", 1.5, "1 rejected")
    return made


def reason(made: Film, nvim: ScreenEditor) -> list[str]:
    """The prompt that says why; the rows of the review behind it."""
    caption = "Your next prompt tells the agent what you have rejected; say why"
    nvim.type("\x17li")
    for part, seconds in (("No comments ", 0.3), ("at the end, ", 0.3), ("please.", 0.9)):
        nvim.type(part)
        made.take(caption, seconds, part.strip())
    nvim.type("\x1b\x17hgg]h")
    made.take("Two hunks are left; the keys stand beside the one under the cursor", 3.5, "hunk 2/2")
    return made.frames[-1].rows


def restored(made: Film, nvim: ScreenEditor) -> None:
    """Film `:AcpRestore`, which takes all turns back."""
    nvim.type(":AcpRestore")
    made.take(":AcpRestore goes back to before any turn", 1, ":AcpRestore ")
    nvim.type("\r")
    made.take(":AcpRestore goes back to before any turn", 2.4, "Type number")
    nvim.type("3\r")
    made.take("It shows what would change", 2.8, "(Y)es")
    nvim.type("y")
    made.take("All is as it was, and :AcpRestore undo takes that back", 3, "1 file restored")


def talk(nvim: ScreenEditor, theme: Theme) -> list[str]:
    """The second half of an answer with all that markdown has: the chat, without the windows around it."""
    nvim.type("i/markdown\x1b\r")
    nvim.wait_until(lambda: nvim.events("AcpTurnEnd"))
    # the line of the cursor shows its marks, so the cursor goes elsewhere
    nvim.command("wincmd k | call search('^## Lists', 'bw') | exe 'normal! zt' | wincmd h")
    nvim.wait_until(lambda: "## Lists" in nvim.rows()[1])
    end, _ = nvim.wait_for("ends the agent's process")
    top, left = nvim.lua("return vim.api.nvim_win_get_position(vim.fn.bufwinid('acp://demo chat 1'))")
    return settled(nvim, Part(range(top, end + 1), range(left, COLUMNS)), theme, cursor=False)


def main() -> None:
    """Writes the animation and the stills; their names end in `-light` for light pages."""
    for name, theme in THEMES.items():
        end = "" if name == "dark" else f"-{name}"
        with demo(name, ROWS, CHAT_COLUMNS) as nvim:
            made = film(nvim, theme)
            drawn = {"review": still(reason(made, nvim)[:-1], COLUMNS, theme)}
            restored(made, nvim)
            drawn["picture"] = animation(made.frames, COLUMNS, theme, still_frame=4)
        with demo(name, ANSWER_ROWS, ANSWER_COLUMNS) as nvim:
            drawn["chat"] = still(talk(nvim, theme), ANSWER_COLUMNS, theme)
        for picture, text in drawn.items():
            (ROOT / "doc" / f"{picture}{end}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

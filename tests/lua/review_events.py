"""A file under review, as the host would tell of it, without a host."""

from __future__ import annotations

from tests.lua.conftest import RECORD

COLOURS = {
    "AcpReviewAdd": "003300",
    "AcpReviewAddText": "006600",
    "AcpReviewChange": "000033",
    "AcpReviewDelete": "330000",
    "AcpReviewDeleteText": "660000",
    "AcpConflictMine": "333300",
    "AcpConflictTheirs": "003333",
    "AcpPreviewAdd": "003300",
    "AcpPreviewAddText": "006600",
    "AcpPreviewDelete": "330000",
    "AcpPreviewDeleteText": "660000",
}
PLAIN = "101010"
STATE = "return require('acp_nvim.buffers.text').state(vim.fn.bufnr(...))"


def hunk(id_, first, count, old=(), theirs=None):
    """One hunk; with `theirs`: of a conflict."""
    told = {"id": id_, "first": first, "count": count, "old": list(old)}
    told |= {} if theirs is None else {"by": "conflict", "theirs": list(theirs)}
    return told


class Reviewed:
    """A file that is open in an editor."""

    def __init__(self, editor, name, lines):
        self.editor = editor
        self.path = editor.project / name
        self.path.write_text("".join(f"{line}\n" for line in lines))
        editor.command(f"edit {self.path}")
        self.bufnr = editor.api("get_current_buf")

    @property
    def state(self):
        """What the host would have as the state of the buffer."""
        return self.editor.lua(STATE, str(self.path))

    def event(self, *hunks, **given):
        """Return a `review` event whose rows are those of the buffer now."""
        told = {"type": "review", "path": str(self.path), "operation": "modify", "sessions": [1]}
        told |= {"added": 1, "removed": 2, "state": self.state, "hunks": list(hunks)}
        return told | given

    def tell(self, *hunks, **given):
        """The host says that these are the hunks."""
        self.editor.apply(self.event(*hunks, **given))

    def hunks(self):
        """Where they are now: `(id, row, count)`."""
        found = self.editor.lua("return require('acp_nvim.review.files').hunks(...)", self.bufnr)
        return [(one["id"], one["row"], one["count"]) for one in found]

    def sent(self, method):
        """Return the parameters of the messages to the host with this method."""
        return [one["params"] for one in self.editor.lua("return _G.sent") if one["method"] == method]

    def edited(self):
        """What the host was told of the user's edits."""
        return self.sent("edited")


def recorded(editor):
    """A recorder in place of the host; the screen keeps its size."""
    editor.lua(RECORD.replace("vim.o.columns, vim.o.lines = 120, 40", ""))
    return editor


def coloured(editor):
    """A recorder in place of the host, and a colour for each group that `is_on` knows."""
    editor.lua("vim.o.termguicolors = true vim.api.nvim_set_hl(0, 'Normal', { fg = '#e0e0e0', bg = '#101010' })")
    for group, colour in COLOURS.items():
        editor.lua("local group, bg = ... vim.api.nvim_set_hl(0, group, { bg = bg })", group, f"#{colour}")
    return recorded(editor)


def background(file, text, offset=0):
    """The colour below a text on the screen."""
    row, column = file.editor.wait_for(text)
    return file.editor.cell(row, column + offset).bg


def is_on(file, text, group, offset=0):
    """Wait until a text on the screen has the colour of that group."""
    file.editor.wait_until(
        lambda: background(file, text, offset) == COLOURS.get(group, PLAIN), what=f"{group} at {text!r}+{offset}"
    )

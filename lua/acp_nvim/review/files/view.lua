-- The view of the hunks under review: the agent's rows are coloured, and the old lines are shown above them.
local config = require("acp_nvim.config")
local hunk_view = require("acp_nvim.review.hunks.view")

---@class acp.Kind how hunks of a kind look
---@field group? string of the rows
---@field sign { [1]: string, [2]: string }

---@type table<string, acp.Kind>
local KINDS = {
  conflict = { group = "AcpConflictMine", sign = { "!", "AcpReviewSignConflict" } },
  delete = { sign = { "_", "AcpReviewSignDelete" } },
  add = { group = "AcpReviewAdd", sign = { "+", "AcpReviewSignAdd" } },
  change = { group = "AcpReviewChange", sign = { "~", "AcpReviewSignChange" } },
}

---@return acp.Kind
local function kind_of(hunk)
  if hunk.by == "conflict" then
    return KINDS.conflict
  elseif hunk.count == 0 then
    return KINDS.delete
  end
  return #hunk.old == 0 and KINDS.add or KINDS.change
end

---@return acp.HunkStyle
local function style(mark, row, count, last)
  local hunk = mark.hunk --[[@as acp.ReviewHunk]]
  local kind, is_conflict = kind_of(hunk), hunk.by == "conflict"
  return {
    group = kind.group,
    priority = 90,
    sign = config.get().review.signs and kind.sign or nil,
    lines = is_conflict and hunk.theirs or hunk.old,
    lines_group = is_conflict and "AcpConflictTheirs" or "AcpReviewDelete",
    noun = is_conflict and "of their" or "deleted",
    is_below = row > last or (is_conflict and count > 0),
    words = not is_conflict and { group = "AcpReviewAddText", line_group = "AcpReviewAdd" } or nil,
  }
end

return hunk_view.new({ name = "review", style = style, in_diff = false })

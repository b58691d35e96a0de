-- Draws a tool call: what it does and how far it is, where, and what came of it.
local Lines = require("acp_nvim.chat.blocks.lines")
local content = require("acp_nvim.chat.blocks.content")
local limits = require("acp_nvim.limits")

---@type table<string, { icon: string, group: string, words: string }>
local STATUS = {
  pending = { icon = "○", group = "AcpStatusPending", words = "pending" },
  in_progress = { icon = "◐", group = "AcpStatusInProgress", words = "in progress" },
  paused = { icon = "‖", group = "AcpStatusPending", words = "paused" },
  completed = { icon = "●", group = "AcpStatusCompleted", words = "completed" },
  failed = { icon = "✗", group = "AcpStatusFailed", words = "failed" },
  cancelled = { icon = "–", group = "AcpStatusPending", words = "cancelled" },
  rejected = { icon = "–", group = "AcpStatusPending", words = "rejected" }, -- the host's words for calls that a turn
  unfinished = { icon = "–", group = "AcpStatusPending", words = "unfinished" }, -- has left open when it ended
}

---@param call acp.ToolCall
---@param cwd? string
---@return acp.Rendered
return function(call, cwd)
  -- a status that nobody here knows counts as still in progress (v2, ToolCallStatus)
  local unknown = { icon = "◐", group = "AcpToolDetail", words = Lines.one_line(call.status) }
  local status = STATUS[call.status] or unknown
  local kind, title = Lines.one_line(call.kind), Lines.one_line(call.title)
  local out = Lines.new()
  out:add({
    { status.icon, status.group },
    " ",
    { kind ~= "" and kind or "other", "AcpToolKind" },
    "  ",
    { title ~= "" and title or Lines.one_line(call.id), "AcpToolTitle" },
    "  ",
    { ("[%s]"):format(status.words), status.group },
  })
  content.add_title_rest(out, call.title, limits.output_lines)
  content.add_locations(out, call, title, cwd)
  content.add(out, call.content, cwd)
  return out:rendered()
end

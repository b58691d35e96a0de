-- Draws a subagent in the chat of its parent: its title, its state, what it does, and what it has changed.
local Lines = require("acp_nvim.render.lines")
local config = require("acp_nvim.config")
local duration = require("acp_nvim.render.duration")
local entry = require("acp_nvim.render.file_changes")
local icons = require("acp_nvim.render.icons")

---@type table<string, { group: string, words: string, icon: string }>
local STATES = {
  running = { group = "AcpStatusInProgress", words = "works", icon = "in_progress" },
  waiting = { group = "AcpPermission", words = "waits for you", icon = "pending" },
  idle = { group = "AcpStatusCompleted", words = "", icon = "completed" },
  stopped = { group = "AcpStatusPending", words = "over", icon = "unfinished" },
}
local UNKNOWN = { group = "AcpToolDetail", words = "not known what it does", icon = "pending" }

---@type table<string, { group: string, words: string, icon: string }> by the reason for which an idle one has stopped
local ENDS = {
  cancelled = { group = "AcpStatusPending", words = "cancelled", icon = "cancelled" },
  error = { group = "AcpStatusFailed", words = "failed", icon = "failed" },
}

---@param name string
local function icon(name)
  return config.get().ui.icons[name] or icons[name]
end

---@param view acp.Subagent
---@return string since when, or how long it has worked
local function time_of(view)
  if not view.started then
    return ""
  end
  return view.ended and duration(view.ended - view.started) or "since " .. os.date("%H:%M:%S", math.floor(view.started))
end

---@param view acp.Subagent
---@return acp.Rendered
return function(view)
  local out = Lines.new()
  local state = view.state == "idle" and ENDS[view.stop_reason] or STATES[view.state] or UNKNOWN
  local words, time = state.words, time_of(view)
  out:add({
    { icon(state.icon) .. " ", state.group },
    { icon("subagent") .. " ", "AcpToolKind" },
    { Lines.one_line(view.title), "AcpToolTitle" },
    { words ~= "" and "  " .. words or "", state.group },
    { time ~= "" and "  " .. time or "", "AcpToolDetail" },
  })
  local about = Lines.one_line(view.description)
  if about ~= "" and about ~= Lines.one_line(view.title) then
    out:add_whole("  " .. about, "AcpToolDetail")
  end
  local activity = Lines.one_line(view.activity)
  if activity ~= "" then
    out:add_whole("  → " .. activity, "AcpToolDetail")
  end
  if view.review then
    local pieces = { { "  ± " .. entry.plural(view.review.files, "file") .. " to review", "AcpToolDetail" } }
    out:add(vim.list_extend(pieces, entry.counts(view.review)))
  end
  table.insert(out.ranges, { 0, #out.lines - 1, { subagent = view.session } })
  return out:rendered()
end

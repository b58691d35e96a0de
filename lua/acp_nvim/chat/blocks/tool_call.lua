-- Draws a tool call: what it does and how far it is, where, and what came of it.
local Lines = require("acp_nvim.chat.blocks.lines")
local config = require("acp_nvim.config")
local content = require("acp_nvim.chat.blocks.content")
local icons = require("acp_nvim.chat.blocks.icons")
local limits = require("acp_nvim.limits")

local M = {}

local CALL_MARKS = 200 -- looks of what stands before the titles of tool calls that are kept: agents have a dozen kinds

---@type table<string, { group: string, words: string }>
local STATUS = {
  pending = { group = "AcpStatusPending", words = "pending" },
  in_progress = { group = "AcpStatusInProgress", words = "in progress" },
  paused = { group = "AcpStatusPending", words = "paused" },
  completed = { group = "AcpStatusCompleted", words = "" },
  failed = { group = "AcpStatusFailed", words = "failed" },
  cancelled = { group = "AcpStatusPending", words = "cancelled" },
  rejected = { group = "AcpStatusPending", words = "rejected" }, -- the host's words for calls that a turn
  unfinished = { group = "AcpStatusPending", words = "unfinished" }, -- has left open when it ended
}

---@param seconds number
---@return string
local function duration(seconds)
  if seconds < 60 then
    return ("%.1f s"):format(seconds)
  elseif seconds < 3600 then
    return ("%d min %d s"):format(seconds / 60, seconds % 60)
  end
  return ("%d h %d min"):format(seconds / 3600, seconds % 3600 / 60)
end

---@param call acp.ToolCall
---@return string
local function title_of(call)
  local title = Lines.one_line(call.title)
  return title ~= "" and title or Lines.one_line(call.id)
end

---@param name string a kind, or a status
---@param otherwise string whose icon it gets when it is unknown
---@return string of the user, or ours
local function icon(name, otherwise)
  local own = config.get().ui.icons
  return own[name] or icons[name] or own[otherwise] or icons[otherwise]
end

---@param kind string
---@param status string as the agent says it
---@param group string
---@param depth integer
---@return string[][]
local function marks(kind, status, group, depth)
  local before = {
    { icon(status, "in_progress") .. " ", group },
    { icon(kind, "other") .. " ", "AcpToolKind" },
  }
  if depth > 0 then
    table.insert(before, 1, { ("  "):rep(depth - 1) .. "↳ ", "AcpToolDetail" })
  end
  if not icons[kind] then
    table.insert(before, { kind .. "  ", "AcpToolKind" })
  end
  return before
end

---The same for all calls that look alike there.
---@type table<string, string[][]>
local made = {}
---@type acp.Config? with which they were made
local made_with
local count = 0

---@param kind string
---@param status string as the agent says it
---@param group string
---@param depth integer
---@return string[][]
local function kept_marks(kind, status, group, depth)
  if made_with ~= config.get() or count >= CALL_MARKS then
    made, made_with, count = {}, config.get(), 0
  end
  local key = kind .. "\0" .. status .. "\0" .. depth
  local before = made[key]
  if not before then
    before = marks(kind, status, group, depth)
    made[key], count = before, count + 1
  end
  return before
end

---@param call acp.ToolCall
---@param status { group: string, words: string }
---@return string[][]
local function behind(call, status)
  local after, words = {}, ""
  if call.started then
    words = call.ended and duration(call.ended - call.started)
      or "since " .. os.date("%H:%M:%S", math.floor(call.started))
  end
  if status.words ~= "" and not (call.status == "in_progress" and words ~= "") then
    after[1] = { "  " .. status.words, status.group }
  end
  if words ~= "" then
    after[#after + 1] = { "  " .. words, "AcpToolDetail" }
  end
  if call.under then
    after[#after + 1] = { ("  of %s"):format(Lines.one_line(call.under)), "AcpToolDetail" }
  end
  return after
end

---What stands before and behind the title, and is no text.
---@param call acp.ToolCall
---@return acp.CallHead
function M.head(call)
  -- a status that nobody here knows counts as still in progress (v2, ToolCallStatus)
  local status = STATUS[call.status] or { group = "AcpToolDetail", words = Lines.one_line(call.status) }
  local kind = Lines.one_line(call.kind)
  local before = kept_marks(kind ~= "" and kind or "other", call.status or "", status.group, call.depth or 0)
  return { before = before, title = title_of(call), after = behind(call, status) }
end

---@param call acp.ToolCall
---@param cwd? string
---@return acp.Rendered
function M.render(call, cwd)
  local key = config.keys("details")[1]
  local out = Lines.new(nil, key and (" (%s: all of it)"):format(key))
  local title = title_of(call)
  out:add({ title })
  content.add_title_rest(out, call.title, limits.output_lines)
  content.add_locations(out, call, title, cwd)
  content.add(out, call.content, cwd)
  return out:rendered()
end

return M

-- Draws changes of files: what happens to which file, and the lines that differ.
local Lines = require("acp_nvim.chat.blocks.lines")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.chat.blocks.paths")

local DIFF_LINES = 60 -- of one diff: about one tall screen; the file itself shows the rest
local DIFFS_LINES = 400 -- of all diffs of one tool call: several tall screens; each further file has its name
local INDENT = "  "
local UNIFIED = { result_type = "unified", ctxlen = 3 }
local AT = ("@"):byte()
local GROUPS = { [("+"):byte()] = "AcpDiffAdded", [("-"):byte()] = "AcpDiffRemoved", [AT] = "AcpToolDetail" }
local VERBS = { delete = "deleted", move = "moved", copy = "copied", modify = "changed" }

---What was drawn before in the same tool call.
---@class acp.Diffs
---@field left integer lines that may still be drawn
---@field file? string the file that has its header, with what happens to it
---@field shift integer lines by which that file has grown so far
---@field silent? string the file that is known not to be shown further
local Diffs = {}
Diffs.__index = Diffs

---@return acp.Diffs
function Diffs.new()
  return setmetatable({ left = DIFFS_LINES, shift = 0 }, Diffs)
end

---@param item acp.Content
---@return boolean
local function has_text(item)
  return (item.old_text or "") ~= "" or (item.new_text or "") ~= ""
end

---@param item acp.Content
---@return string
local function operation_of(item)
  if item.operation then
    return Lines.one_line(item.operation)
  end
  return item.old_text == nil and has_text(item) and "add" or "modify"
end

---@param item acp.Content
---@param cwd? string
---@return (string|string[])[] pieces of a line
local function header(item, cwd)
  local operation = operation_of(item)
  local path = paths.short(item.path or "?", cwd)
  local verb = VERBS[operation]
  if operation == "modify" and has_text(item) then
    verb = nil
  end
  if item.old_path and item.old_path ~= item.path then
    path = paths.short(item.old_path, cwd) .. " -> " .. path
  end
  local after = ""
  if operation == "add" then
    after = " (new file)"
  elseif not VERBS[operation] then
    after = (" (%s)"):format(operation)
  end
  local note = item.note and "  " .. Lines.one_line(item.note) or ""
  return {
    INDENT,
    { verb and verb .. " " or "", "AcpToolDetail" },
    { path .. after, "AcpDiffHeader" },
    { note, "AcpToolDetail" },
  }
end

---@param text? string
---@return string
local function ended(text)
  text = text or ""
  return (text == "" or text:sub(-1) == "\n") and text or text .. "\n"
end

---Numbers that count from the beginning of the file, where it is known where the piece begins.
---@param line string of a diff
---@param before integer lines of the old file before the piece
---@param shift integer by which the file has grown before it
---@return string
local function renumbered(line, before, shift)
  local old, old_count, new, new_count = line:match("^@@ %-(%d+)(,?%d*) %+(%d+)(,?%d*) @@")
  if not old then
    return line
  end
  return ("@@ -%d%s +%d%s @@"):format(old + before, old_count, new + before + shift, new_count)
end

---@param item acp.Content
---@param shift integer
---@return string[] lines
---@return integer growth
local function unified(item, shift)
  local old, new = ended(item.old_text), ended(item.new_text)
  if item.operation == "patch" then
    return vim.split((new:gsub("\n$", "")), "\n", { plain = true }), 0
  elseif #old + #new > limits.diff_bytes then
    return { ("(%d bytes before, %d after: too large to be shown)"):format(#old, #new) }, 0
  end
  local text = vim.diff(old, new, UNIFIED) --[[@as string]]
  if text == "" then
    return { (item.lines or 0) > 0 and "(the first lines are the same)" or "(no change)" }, 0
  end
  local lines = vim.split(text:sub(1, -2), "\n", { plain = true })
  for index, line in ipairs(item.line and lines or {}) do
    lines[index] = line:byte() == AT and renumbered(line, item.line - 1, shift) or line
  end
  return lines, select(2, new:gsub("\n", "")) - select(2, old:gsub("\n", ""))
end

---@param out acp.Lines
---@param item acp.Content
---@param cwd? string
function Diffs:add(out, item, cwd)
  local file = table.concat({ item.path or "", operation_of(item), item.old_path or "", item.note or "" }, "\0")
  if file ~= self.file then
    self.file, self.shift = file, 0
    out.targets[#out.lines] = { path = item.path }
    out:add(header(item, cwd))
  end
  if not has_text(item) then
    return
  elseif self.left <= 0 then
    if self.silent ~= file then
      self.silent = file
      out:add({ INDENT, { "… the rest of it is not shown" .. out.more, "AcpToolDetail" } })
    end
    return
  end
  local lines, growth = unified(item, self.shift)
  self.shift = self.shift + growth
  self.left = self.left - math.min(#lines, DIFF_LINES)
  for index, line in ipairs(lines) do
    lines[index] = INDENT .. line
  end
  local first = #out.lines
  out:add_cut(lines, DIFF_LINES, function(line)
    return GROUPS[line:byte(#INDENT + 1)]
  end, item.lines)
  table.insert(out.ranges, { first, #out.lines - 1, { path = item.path, diff = true } })
end

return Diffs

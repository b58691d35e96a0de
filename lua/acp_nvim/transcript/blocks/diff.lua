-- Draws changes of files: the operation, the file, and the lines that differ.
local Lines = require("acp_nvim.render.lines")
local limits = require("acp_nvim.limits")
local paths = require("acp_nvim.render.paths")

local DIFF_LINES = 60 -- shown of one diff: about one tall screen
local DIFFS_LINES = 400 -- shown of all diffs of one tool call: several tall screens; of further files only the name
local INDENT = "  "
local UNIFIED = { result_type = "unified", ctxlen = 3 }
local AT = ("@"):byte()
local GROUPS = { [("+"):byte()] = "AcpDiffAdded", [("-"):byte()] = "AcpDiffRemoved", [AT] = "AcpToolDetail" }
local VERBS = { delete = "deleted", move = "moved", copy = "copied", modify = "changed", overwrite = "overwrites" }

---Draws the diffs of one tool call.
---@class acp.Diffs
---@field left integer lines that may still be drawn
---@field file? string key of the file whose header was drawn last
---@field shift integer lines by which that file has grown so far
---@field cut_file? string key of the file whose rest is left out
local Diffs = {}
Diffs.__index = Diffs

---@return acp.Diffs
function Diffs.new()
  return setmetatable({ left = DIFFS_LINES, shift = 0 }, Diffs)
end

local function has_text(item)
  return (item.old_text or "") ~= "" or (item.new_text or "") ~= ""
end

local function operation_of(item)
  if item.operation then
    return Lines.one_line(item.operation)
  end
  return item.old_text == nil and has_text(item) and "add" or "modify"
end

---@return (string|string[])[] pieces for `Lines:add`
local function header(item, cwd)
  local operation = operation_of(item)
  local path = paths.short(item.path or "?", cwd)
  local verb = not (operation == "modify" and has_text(item)) and VERBS[operation]
  if item.old_path and item.old_path ~= item.path then
    path = paths.short(item.old_path, cwd) .. " -> " .. path
  end
  local after = operation == "add" and " (new file)" or not VERBS[operation] and (" (%s)"):format(operation) or ""
  local note = item.note and "  " .. Lines.one_line(item.note) or ""
  return {
    INDENT,
    { verb and verb .. " " or "", "AcpToolDetail" },
    { path .. after, "AcpDiffHeader" },
    { note, "AcpToolDetail" },
  }
end

local function with_newline(text)
  text = text or ""
  return (text == "" or text:sub(-1) == "\n") and text or text .. "\n"
end

---Changes the line numbers of a hunk header so that they count from the beginning of the file.
---@param line string of a diff
---@param before integer lines of the old file before the piece
---@param shift integer by which the file has grown before it
local function renumbered(line, before, shift)
  local old, old_count, new, new_count = line:match("^@@ %-(%d+)(,?%d*) %+(%d+)(,?%d*) @@")
  if not old then
    return line
  end
  return ("@@ -%d%s +%d%s @@"):format(old + before, old_count, new + before + shift, new_count)
end

---@param shift integer by which the file has grown before it
---@param is_first boolean nothing of the file is shown above it
---@return string[] lines
---@return integer growth
local function unified(item, shift, is_first)
  local old, new = with_newline(item.old_text), with_newline(item.new_text)
  if item.operation == "patch" then
    return vim.split((new:gsub("\n$", "")), "\n", { plain = true }), 0
  elseif #old + #new > limits.diff_bytes then
    return { ("(%d bytes before, %d after: too large to show)"):format(#old, #new) }, 0
  end
  local text = vim.diff(old, new, UNIFIED) --[[@as string]]
  if text == "" then
    return { (item.lines or 0) > 0 and "(the first lines are the same)" or "(no change)" }, 0
  end
  local lines = vim.split(text:sub(1, -2), "\n", { plain = true })
  local is_whole = not item.old_text or item.operation == "delete" -- then it begins at the first line
  for index, line in ipairs(lines) do
    if line:byte() == AT and not (is_whole and not item.line) then
      lines[index] = item.line and renumbered(line, item.line - 1, shift) or "@@"
    end
  end
  if is_first and lines[1] == "@@" then
    table.remove(lines, 1)
  end
  return lines, select(2, new:gsub("\n", "")) - select(2, old:gsub("\n", ""))
end

function Diffs:add(out, item, cwd)
  local file = table.concat({ item.path or "", operation_of(item), item.old_path or "", item.note or "" }, "\0")
  local is_first = file ~= self.file
  if is_first then
    self.file, self.shift = file, 0
    out.targets[#out.lines] = { path = item.path }
    out:add(header(item, cwd))
  end
  if not has_text(item) then
    return
  elseif self.left <= 0 then
    if self.cut_file ~= file then
      self.cut_file = file
      out:add({ INDENT, { "… the rest is not shown" .. out.more, "AcpToolDetail" } })
    end
    return
  end
  local lines, growth = unified(item, self.shift, is_first)
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

-- Words for the files that a rejection or a restore of many files left as they are.
local entry = require("acp_nvim.review.entry")
local limits = require("acp_nvim.limits")

local M = {}

---@param left acp.LeftFile[]
---@return { unknown: acp.LeftFile[], state: acp.LeftFile[], other: acp.LeftFile[] }
local function by_group(left)
  local groups = { unknown = {}, state = {}, other = {} }
  for _, file in ipairs(left) do
    table.insert(groups[file.by] or groups.other, file)
  end
  return groups
end

---@param file acp.LeftFile
---@return string
local function because(file)
  return (file.why or "") ~= "" and (" (%s)"):format(file.why) or ""
end

---As many as fit, with their reasons; of the first one at least the name.
---@param left acp.LeftFile[]
---@return string
local function names(left)
  local text, shown = "", 0
  for _, file in ipairs(left) do
    local name = vim.fn.fnamemodify(file.path, ":~:.")
    local more = (shown > 0 and ", " or "") .. name .. because(file)
    if #text + #more <= limits.left_bytes then
      text = text .. more
    elseif shown == 0 then
      text = name
    else
      break
    end
    shown = shown + 1
  end
  return text .. (shown < #left and (" and %d more"):format(#left - shown) or "")
end

---Messages about the files that were left alone.
---@param left acp.LeftFile[]
---@param hint string which command does not leave them alone
---@return string[] lines one for each kind of reason; none when nothing was left
function M.words(left, hint)
  local groups, lines = by_group(left), {}
  if #groups.unknown > 0 then
    table.insert(lines, ("left alone, since nobody saw who changed them: %s (%s)"):format(names(groups.unknown), hint))
  end
  if #groups.other > 0 then
    table.insert(lines, "left alone: " .. names(groups.other))
  end
  if #groups.state > 0 then
    table.insert(lines, ("left alone: %d of the agent's own records"):format(#groups.state))
  end
  return lines
end

---Lines of a preview: each file that is left alone, with its reason; the agent's own records are counted.
---@param left acp.LeftFile[]
---@param cwd string real path
---@return string[] lines without an end of line; none when nothing is left
function M.listed(left, cwd)
  local lines, records = {}, 0
  for _, file in ipairs(left) do
    if file.by == "state" then
      records = records + 1
    else
      table.insert(lines, "  " .. entry.name(file, cwd) .. because(file))
    end
  end
  if records > 0 then
    table.insert(lines, ("  %d of the agent's own records"):format(records))
  end
  return lines
end

return M

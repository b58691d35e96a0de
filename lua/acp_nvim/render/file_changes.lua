-- Describes changed files: the operation, the name, the counts of lines, who changed it, and why it was left alone.
local Lines = require("acp_nvim.render.lines")
local names = require("acp_nvim.names")
local characters = require("acp_nvim.render.characters")
local paths = require("acp_nvim.render.paths")

local M = {}

local LEFT_BYTES = 48

---@type table<string, string>
local LETTERS = { add = "A", modify = "M", delete = "D", rename = "R", mode = "T", binary = "B" }

---@type acp.By[] in the order of display
M.ORDER = { "agent", "unknown", "state", "user" }

---@type table<acp.By, string> headings of the groups
M.TITLES = {
  agent = "By the agent",
  unknown = "Not sure who",
  state = "The agent's own records",
  user = "By you",
}

---@type table<string, string?> labels of hunks and files that are not proven to be the agent's
M.WHOSE = { unknown = "not sure who", state = "agent's own record", user = "by you" }

---@alias acp.Piece string|string[] a text, or { text, group }

---@param file acp.ChangedFile
---@return acp.Piece
function M.letter(file)
  if (tonumber(file.conflicts) or 0) > 0 or file.conflict then
    return { "C", "AcpNoticeError" }
  end
  return { LETTERS[file.operation] or "?", "AcpToolKind" }
end

---@return string on one line: relative to the session's directory, or to `~`, if it is below one of them
local function short(path, cwd)
  local is_below = cwd and vim.startswith(path, cwd .. "/")
  return paths.short(is_below and path or names.below_home(path), cwd)
end

---@param file { path: string }
---@return boolean is_directory it is the rename of a directory
function M.is_directory(file)
  return vim.endswith(file.path, "/")
end

---@param file acp.ChangedFile
---@return string
function M.name(file, cwd)
  local name = short(file.path, cwd)
  if file.old_path and file.old_path ~= file.path then
    return short(file.old_path, cwd) .. " → " .. name
  end
  return name
end

---@param file acp.ChangedFile
---@return string name relative to the working directory or to `~`; of a renamed file, both
function M.short(file)
  local old = file.old_path and names.short(file.old_path) .. " → " or ""
  return old .. names.short(file.path)
end

---@param counted { added?: integer, removed?: integer }
---@return acp.Piece[] empty when no line was changed
function M.counts(counted)
  local added, removed = counted.added or 0, counted.removed or 0
  if added == 0 and removed == 0 then
    return {}
  end
  return { "  ", { ("+%d"):format(added), "AcpDiffAdded" }, " ", { ("−%d"):format(removed), "AcpDiffRemoved" } }
end

---@return string
function M.plural(count, word)
  return ("%d %s%s"):format(count, word, count == 1 and "" or "s")
end

---@param files { added?: integer, removed?: integer }[]
---@return { added: integer, removed: integer }
function M.sum(files)
  local sum = { added = 0, removed = 0 }
  for _, file in ipairs(files) do
    sum.added = sum.added + (file.added or 0)
    sum.removed = sum.removed + (file.removed or 0)
  end
  return sum
end

---@param pieces acp.Piece[]
---@return string on one line
function M.text(pieces)
  local texts = vim.iter(pieces):map(function(piece)
    return type(piece) == "table" and piece[1] or piece
  end)
  return characters.text((vim.trim(texts:join("")):gsub("[%z\n]", " ")))
end

---@param file acp.ChangedFile
---@param width? integer columns to pad the name to
---@return acp.Piece[]
function M.pieces(file, cwd, width)
  local name = M.name(file, cwd)
  local pieces = { "  ", M.letter(file), " ", { name, "AcpDiffHeader" } }
  if width then
    table.insert(pieces, (" "):rep(width - vim.fn.strdisplaywidth(name)))
  end
  vim.list_extend(pieces, M.counts(file))
  if file.note then
    table.insert(pieces, { "  " .. Lines.one_line(file.note), "AcpToolDetail" })
  end
  return pieces
end

---@generic T
---@param files T[] each with `by`
---@return table<acp.By, T[]> all four groups, each in the order of `files`
function M.grouped(files)
  local groups = {}
  for _, by in ipairs(M.ORDER) do
    groups[by] = {}
  end
  for _, file in ipairs(files) do
    table.insert(groups[file.by] or groups.agent, file)
  end
  return groups
end

---@param file acp.LeftFile
local function because(file)
  return (file.why or "") ~= "" and (" (%s)"):format(file.why) or ""
end

---@param left acp.LeftFile[]
---@return string names with their reasons, as many as fit, but at least the first name
local function left_names(left)
  local text, shown = "", 0
  for _, file in ipairs(left) do
    local name = names.short(file.path)
    local more = (shown > 0 and ", " or "") .. name .. because(file)
    if #text + #more <= LEFT_BYTES then
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

---Describes the files that were left alone, for a message.
---@param left acp.LeftFile[]
---@param hint string names the command that includes the files of unknown origin
---@return string[] lines one for each kind of reason
function M.left_words(left, hint)
  local groups, lines = { unknown = {}, state = {}, other = {} }, {}
  for _, file in ipairs(left) do
    table.insert(groups[file.by] or groups.other, file)
  end
  if #groups.unknown > 0 then
    local words = "left alone, because it is not known who changed them: %s (%s)"
    table.insert(lines, words:format(left_names(groups.unknown), hint))
  end
  if #groups.other > 0 then
    table.insert(lines, "left alone: " .. left_names(groups.other))
  end
  if #groups.state > 0 then
    table.insert(lines, ("left alone: %d of the agent's own records"):format(#groups.state))
  end
  return lines
end

---Lists the files that are left alone, with their reasons, and counts the agent's own records.
---@param left acp.LeftFile[]
---@param cwd string real path
---@return string[] lines
function M.left_listed(left, cwd)
  local lines, records = {}, 0
  for _, file in ipairs(left) do
    if file.by == "state" then
      records = records + 1
    else
      table.insert(lines, "  " .. M.text({ M.name(file, cwd), because(file) }))
    end
  end
  if records > 0 then
    table.insert(lines, ("  %d of the agent's own records"):format(records))
  end
  return lines
end

return M

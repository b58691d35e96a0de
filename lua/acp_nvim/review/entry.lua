-- Says of one changed file on one line: what happened to it, which one it is, and how much.
local Lines = require("acp_nvim.chat.blocks.lines")
local paths = require("acp_nvim.chat.blocks.paths")

local M = {}

---@type table<string, string>
local LETTERS = { add = "A", modify = "M", delete = "D", rename = "R", mode = "T", binary = "B" }

---@alias acp.Piece string|string[] a text, or { text, group }

---@param file acp.ChangedFile
---@return acp.Piece
function M.letter(file)
  if (tonumber(file.conflicts) or 0) > 0 or file.conflict then
    return { "C", "AcpNoticeWarn" }
  end
  return { LETTERS[file.operation] or "?", "AcpToolKind" }
end

---@param file acp.ChangedFile
---@param cwd string
---@return string
function M.name(file, cwd)
  local name = paths.short(file.path, cwd)
  if file.old_path and file.old_path ~= file.path then
    return paths.short(file.old_path, cwd) .. " -> " .. name
  end
  return name
end

---@param counted { added?: integer, removed?: integer }
---@return acp.Piece[] nothing when no line is another one
function M.counts(counted)
  local added, removed = counted.added or 0, counted.removed or 0
  if added == 0 and removed == 0 then
    return {}
  end
  return { "  ", { ("+%d"):format(added), "AcpDiffAdded" }, " ", { ("−%d"):format(removed), "AcpDiffRemoved" } }
end

---@param count integer
---@param word string
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
  return (vim.trim(texts:join("")):gsub("[%z\n]", " "))
end

---@param file acp.ChangedFile
---@param cwd string
---@param width? integer columns for the name; without it, as many as it has
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

return M

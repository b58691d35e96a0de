-- Builds the lines and highlights of a block, piece by piece.
local limits = require("acp_nvim.limits")
local visible = require("acp_nvim.chat.blocks.visible")

---@class acp.Lines
---@field bytes integer of one line, at the most
---@field lines string[]
---@field highlights acp.Highlight[]
---@field targets table<integer, acp.Target> row -> what it leads to
local Lines = {}
Lines.__index = Lines

---@param bytes? integer of one line, at the most
---@return acp.Lines
function Lines.new(bytes)
  return setmetatable({ lines = {}, highlights = {}, targets = {}, bytes = bytes or limits.line_bytes }, Lines)
end

---A text's first line with something on it, for places that have one line.
---@param text any
---@return string
function Lines.one_line(text)
  return visible(vim.trim(tostring(text or "")):match("^[^\r\n]*"))
end

---The lines of a text after its first, which a title's place does not show.
---@param text any
---@return string[]
function Lines.further_lines(text)
  local lines = vim.split(vim.trim(tostring(text or "")), "[\r\n]+")
  return vim.list_slice(lines, 2)
end

---@param line string
---@param bytes integer
---@return string
local function shortened(line, bytes)
  if #line <= bytes then
    return line
  end
  local last = bytes + vim.str_utf_start(line, bytes + 1)
  return ("%s … %d more bytes"):format(line:sub(1, last), #line - last)
end

---Adds a line made of pieces, each a text or { text, group }.
---@param pieces (string|string[])[]
function Lines:add(pieces)
  local row, text = #self.lines, ""
  for _, piece in ipairs(pieces) do
    local from = #text
    local words = type(piece) == "table" and piece[1] or piece --[[@as string]]
    text = text .. visible((words:gsub("\n", " ")))
    if type(piece) == "table" and piece[2] and #text > from then
      table.insert(self.highlights, { row = row, from = from, to = #text, group = piece[2] })
    end
  end
  self.lines[row + 1] = shortened(text, self.bytes)
end

---@param line string
---@param group? string
function Lines:add_whole(line, group)
  local row = #self.lines
  self.lines[row + 1] = shortened(visible((line:gsub("\n", " "))), self.bytes)
  if group then
    table.insert(self.highlights, { row = row, from = 0, to = -1, group = group })
  end
end

---Adds at most `most` of these lines, and a line that counts the others.
---@param lines string[]
---@param most integer
---@param group_of? fun(line: string): string?
function Lines:add_cut(lines, most, group_of)
  -- one line more is no shorter than the words about it
  local shown = #lines <= most + 1 and #lines or most
  for index = 1, shown do
    self:add_whole(lines[index], group_of and group_of(lines[index]))
  end
  if shown < #lines then
    self:add_whole(("… %d more lines"):format(#lines - shown), "AcpToolDetail")
  end
end

---Adds the last `most` of these lines at the most, below a line that counts the others.
---@param lines string[]
---@param most integer
function Lines:add_end(lines, most)
  local first = #lines <= most + 1 and 1 or #lines - most + 1
  if first > 1 then
    self:add_whole(("… %d more lines above"):format(first - 1), "AcpToolDetail")
  end
  for index = first, #lines do
    self:add_whole(lines[index])
  end
end

---@return acp.Rendered
function Lines:rendered()
  return { lines = self.lines, highlights = self.highlights, target_rows = self.targets }
end

return Lines

-- Builds the lines and highlights of a block, piece by piece.
local cells = require("acp_nvim.render.cells")
local limits = require("acp_nvim.limits")
local reveal = require("acp_nvim.render.reveal")
local characters = require("acp_nvim.render.characters")

---@class acp.Lines
---@field bytes integer limit of one line
---@field more string text after a count of lines left out: how to see them
---@field lines string[]
---@field highlights acp.Highlight[]
---@field targets table<integer, acp.Target> by row
---@field ranges acp.TargetRange[]
---@field reveals? boolean for requests: make everything in the lines visible, and cut long lines in the middle
local Lines = {}
Lines.__index = Lines

---@param bytes? integer limit of one line
---@param more? string
---@return acp.Lines
function Lines.new(bytes, more)
  local self = { lines = {}, highlights = {}, targets = {}, ranges = {} }
  self.bytes, self.more = bytes or limits.line_bytes, more or ""
  return setmetatable(self, Lines)
end

---Returns the first non-blank line of a text, with hidden characters made visible.
function Lines.one_line(text)
  return characters.text(tostring(text or ""):match("^%s*([^\r\n]*)"):match("^.*%S") or "")
end

---Returns the lines of a text after its first non-blank line.
function Lines.further_lines(text)
  local whole = tostring(text or "")
  if not whole:find("[\r\n]") then
    return {}
  end
  return vim.list_slice(vim.split(vim.trim(whole), "[\r\n]+"), 2)
end

local function shortened(line, bytes)
  if #line <= bytes then
    return line
  end
  local last = bytes + vim.str_utf_start(line, bytes + 1)
  return ("%s … %d more bytes"):format(line:sub(1, last), #line - last)
end

local function flat(text)
  return text:find("\n", 1, true) and (text:gsub("\n", " ")) or text
end

---Makes hidden characters visible.
---@param most? integer adjacent blanks that are kept
---@return string
---@return integer[][] spans of what was inserted for requests
function Lines:visible(text, most)
  if self.reveals then
    return reveal.cut(text, self.bytes, most)
  end
  return characters.text(flat(text)), {}
end

---@param shift integer bytes before them
function Lines:mark_inserted(row, spans, shift)
  for _, span in ipairs(spans) do
    local from, to = span[1] + shift, span[2] + shift
    table.insert(self.highlights, { row = row, from = from, to = to, group = "AcpPermissionHidden" })
  end
end

---Adds a line made of pieces, each a text or { text, group }.
---@param pieces (string|string[])[]
function Lines:add(pieces)
  local row, text = #self.lines, ""
  for _, piece in ipairs(pieces) do
    local from = #text
    local words, spans = self:visible(type(piece) == "table" and piece[1] or piece --[[@as string]])
    text = text .. words
    if type(piece) == "table" and piece[2] and #text > from then
      table.insert(self.highlights, { row = row, from = from, to = #text, group = piece[2] })
    end
    self:mark_inserted(row, spans, from)
  end
  self.lines[row + 1] = self.reveals and text or shortened(text, self.bytes)
end

---Adds a line with one group for all of it.
---@param most? integer adjacent blanks that are kept
function Lines:add_whole(line, group, most)
  local row = #self.lines
  local text, spans = self:visible(flat(line), most)
  self.lines[row + 1] = self.reveals and text or shortened(text, self.bytes)
  if group then
    table.insert(self.highlights, { row = row, from = 0, to = -1, group = group })
  end
  self:mark_inserted(row, spans, 0)
end

---Adds a line that counts lines left out.
---@param where? string "above" it, or "between" the lines around it
function Lines:add_count(count, where)
  local form = where == "between" and "… %d line%s …" or "… %d more line%s"
  local words = form:format(count, count == 1 and "" or "s") .. (where == "above" and " above" or "")
  local row = #self.lines
  self.lines[row + 1] = words .. characters.text(self.more)
  self.highlights[#self.highlights + 1] = { row = row, from = 0, to = -1, group = "AcpToolDetail" }
end

---Adds a line that counts list entries the host has not kept.
function Lines:add_more(count, indent)
  self:add({ indent, { ("… and %s more"):format(cells.count(count)), "AcpToolDetail" } })
end

---Adds at most `most` of the lines, and a line that counts the rest.
---@param group_of? fun(line: string): string?
---@param hidden? integer number of lines after them that the host has not sent
function Lines:add_cut(lines, most, group_of, hidden)
  hidden = hidden or 0
  -- a single further line takes no more room than a line that counts it
  local shown = #lines + hidden <= most + 1 and #lines or math.min(most, #lines)
  for index = 1, shown do
    self:add_whole(lines[index], group_of and group_of(lines[index]), limits.request_indent)
  end
  if #lines + hidden > shown then
    self:add_count(#lines + hidden - shown)
  end
end

---@return integer last byte before the trailing line ends
local function last_byte(text)
  local last = #text
  while last > 0 and (text:byte(last) == 10 or text:byte(last) == 13) do
    last = last - 1
  end
  return last
end

---@param first integer byte
---@param last integer byte
local function count_lines(text, first, last)
  return select(2, text:sub(first, last):gsub("\n", "")) + 1
end

---Adds the first lines of a text.
---@param most integer lines
---@return integer? first byte of the first line left out
function Lines:add_lines(text, indent, most)
  local last = last_byte(text)
  local plain, at = characters.is_plain(text), 1
  local lines, row = self.lines, #self.lines
  for _ = 1, most do
    local ends = text:find("\n", at, true)
    local length = (ends and ends < last and ends or last + 1) - at
    if length <= 0 then
      lines[row + 1] = ""
    elseif plain and length + #indent <= self.bytes then
      lines[row + 1] = indent .. text:sub(at, at + length - 1)
    else
      local line = text:sub(at, at + length - 1):gsub("\r$", "")
      self:add_whole(line == "" and "" or indent .. line)
    end
    row = row + 1
    at = ends and ends < last and ends + 1 or nil
    if not at then
      return nil
    end
  end
  return at
end

---Adds a line of ours between lines of an agent.
function Lines:add_inserted(words, indent)
  local row = #self.lines
  self.lines[row + 1] = indent .. words
  self:mark_inserted(row, { { #indent, #indent + #words } }, 0)
end

---Adds a text of a request: blank lines are counted, and of too many lines the middle is left out.
---@param most integer lines
---@param is_command? boolean mark line breaks within it
---@param from? integer index of the first line to add
function Lines:add_revealed(text, indent, most, is_command, from)
  local lines = reveal.lines(text)
  local first = #self.lines
  from = from or 1
  local head = #lines - from + 1 <= most + 1 and #lines or from + math.floor(most / 2) - 1
  local tail = head == #lines and #lines or #lines - math.floor(most / 2)
  for index = from, #lines do
    local line = lines[index]
    if index <= head or index > tail then
      if line.is_inserted then
        self:add_inserted(line.text, indent)
      else
        self:add_whole(line.text == "" and "" or indent .. line.text)
      end
    elseif index == head + 1 then
      self:add_count(tail - head)
    end
  end
  for row = first, is_command and #self.lines - 2 or -1 do
    self:mark_break(row)
  end
end

---Marks at the end of a row that the command continues in the next one.
function Lines:mark_break(row)
  local at = #self.lines[row + 1]
  table.insert(self.highlights, { row = row, from = at, to = at, group = "AcpPermissionHidden", after = reveal.BREAK })
end

---Adds the beginning of a text, at most `most` lines, and a line that counts the rest.
---@param hidden? integer number of its lines that `text` does not contain
function Lines:add_text(text, most, indent, hidden)
  hidden = hidden or 0
  if self.reveals then
    self:add_revealed(text, indent, most, vim.startswith(text, "$ "))
    return hidden > 0 and self:add_count(hidden)
  end
  local count = #self.lines
  -- a single further line takes no more room than a line that counts it
  local rest = self:add_lines(text, indent, hidden > 0 and most or most + 1)
  if rest and hidden == 0 then
    self.lines[count + most + 1] = nil
    hidden = 1
  end
  if rest then
    hidden = hidden + count_lines(text, rest, last_byte(text))
  end
  if hidden > 0 then
    self:add_count(hidden)
  end
end

---@return integer first byte of that line
local function start_of(text, line)
  local at = 1
  for _ = 2, line do
    at = text:find("\n", at, true) + 1
  end
  return at
end

---Adds an output: its beginning, a line that counts what the host has left out, and its end.
---@param hidden? integer number of lines left out
---@param tail? string
function Lines:add_output(text, indent, hidden, tail)
  local most, first = limits.output_lines, math.huge
  hidden, tail = hidden or 0, tail or ""
  local count = hidden == 0 and tail == "" and count_lines(text, 1, last_byte(text)) or 0
  if count > most + 1 then
    first, hidden = limits.output_first, count - most
    tail = text:sub(start_of(text, hidden + first + 1))
  end
  if text ~= "" then
    self:add_lines(text, indent, first)
  end
  if hidden > 0 then
    self:add_count(hidden, tail ~= "" and "between" or nil)
  end
  if tail ~= "" then
    self:add_lines(tail, indent, math.huge)
  end
end

---Adds the end of a text, at most `most` lines, below a line that counts the rest.
function Lines:add_end(text, most, indent)
  local count = count_lines(text, 1, last_byte(text))
  if count <= most + 1 then
    self:add_lines(text, indent, count)
    return
  end
  self:add_count(count - most, "above")
  self:add_lines(text:sub(start_of(text, count - most + 1)), indent, most)
end

---@return acp.Rendered
function Lines:rendered()
  return {
    lines = self.lines,
    highlights = self.highlights,
    target_rows = next(self.targets) and self.targets or nil, -- kept as long as the block
    target_ranges = next(self.ranges) and self.ranges or nil,
  }
end

return Lines

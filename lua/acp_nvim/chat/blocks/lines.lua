-- Builds the lines and highlights of a block, piece by piece.
local cells = require("acp_nvim.chat.cells")
local limits = require("acp_nvim.limits")
local reveal = require("acp_nvim.chat.blocks.reveal")
local characters = require("acp_nvim.chat.blocks.characters")

---@class acp.Lines
---@field bytes integer of one line, at the most
---@field more string words behind a count of lines that are not shown: how to see them
---@field lines string[]
---@field highlights acp.Highlight[]
---@field targets table<integer, acp.Target> row -> what it leads to
---@field ranges acp.TargetRange[] rows that lead to the same
---@field reveals? boolean the lines are to be allowed: nothing in them is hidden, and what is too long loses its middle
local Lines = {}
Lines.__index = Lines

---@param bytes? integer of one line, at the most
---@param more? string
---@return acp.Lines
function Lines.new(bytes, more)
  local new = { lines = {}, highlights = {}, targets = {}, ranges = {} }
  new.bytes, new.more = bytes or limits.line_bytes, more or ""
  return setmetatable(new, Lines)
end

---A text's first line with something on it, for places that have one line.
---@param text any
---@return string
function Lines.one_line(text)
  return characters.text(tostring(text or ""):match("^%s*([^\r\n]*)"):match("^.*%S") or "")
end

---The lines of a text after its first, which a title's place does not show.
---@param text any
---@return string[]
function Lines.further_lines(text)
  local whole = tostring(text or "")
  if not whole:find("[\r\n]") then
    return {}
  end
  local lines = vim.split(vim.trim(whole), "[\r\n]+")
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

---@param text string
---@return string the same on one line
local function flat(text)
  return text:find("\n", 1, true) and (text:gsub("\n", " ")) or text
end

---@param row integer
---@param spans integer[][]
---@param shift integer bytes before them
function Lines:mark_ours(row, spans, shift)
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
    local words = type(piece) == "table" and piece[1] or piece --[[@as string]]
    local spans = {}
    if self.reveals then
      words, spans = reveal.cut(words, self.bytes)
    end
    text = text .. (self.reveals and words or characters.text(flat(words)))
    if type(piece) == "table" and piece[2] and #text > from then
      table.insert(self.highlights, { row = row, from = from, to = #text, group = piece[2] })
    end
    self:mark_ours(row, spans, from)
  end
  self.lines[row + 1] = self.reveals and text or shortened(text, self.bytes)
end

---@param line string
---@param group? string
---@param most? integer blanks side by side that stay
function Lines:add_whole(line, group, most)
  local row = #self.lines
  local spans = {}
  if self.reveals then
    self.lines[row + 1], spans = reveal.cut(flat(line), self.bytes, most)
  else
    self.lines[row + 1] = shortened(characters.text(flat(line)), self.bytes)
  end
  if group then
    table.insert(self.highlights, { row = row, from = 0, to = -1, group = group })
  end
  self:mark_ours(row, spans, 0)
end

---@param count integer of lines that are not shown
---@param above? boolean
function Lines:add_count(count, above)
  local words = ("… %d more line%s%s"):format(count, count == 1 and "" or "s", above and " above" or "")
  local row = #self.lines
  self.lines[row + 1] = words .. characters.text(self.more)
  self.highlights[#self.highlights + 1] = { row = row, from = 0, to = -1, group = "AcpToolDetail" }
end

---Adds a line that counts the entries of a list that the host has not kept.
---@param count integer
---@param indent string
function Lines:add_more(count, indent)
  self:add({ indent, { ("… and %s more"):format(cells.count(count)), "AcpToolDetail" } })
end

---Adds at most `most` of these lines, and a line that counts the others.
---@param lines string[]
---@param most integer
---@param group_of? fun(line: string): string?
---@param hidden? integer lines that follow them, and that nobody here has
function Lines:add_cut(lines, most, group_of, hidden)
  hidden = hidden or 0
  -- one line more is no shorter than the words about it
  local shown = #lines + hidden <= most + 1 and #lines or math.min(most, #lines)
  for index = 1, shown do
    self:add_whole(lines[index], group_of and group_of(lines[index]), limits.request_indent)
  end
  if #lines + hidden > shown then
    self:add_count(#lines + hidden - shown)
  end
end

---@param text string
---@return integer where it ends, without the line ends behind it
local function last_byte(text)
  local last = #text
  while last > 0 and (text:byte(last) == 10 or text:byte(last) == 13) do
    last = last - 1
  end
  return last
end

---@param text string
---@param first integer byte
---@param last integer byte
---@return integer
local function count_lines(text, first, last)
  return select(2, text:sub(first, last):gsub("\n", "")) + 1
end

---Adds lines of a text as they are, or made visible.
---@param text string
---@param indent string
---@param most integer lines
---@return integer? byte where the first line begins that is not added
function Lines:split_in(text, indent, most)
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

---Adds a text that is to be allowed: lines without anything on them are counted, and of too many the middle is left out.
---@param text string
---@param indent string
---@param most integer lines
---@param is_command? boolean marks where it goes on in the next line
---@param from? integer index of the first line that is added
function Lines:add_revealed(text, indent, most, is_command, from)
  local lines = reveal.lines(text)
  local first = #self.lines
  from = from or 1
  local head = #lines - from + 1 <= most + 1 and #lines or from + math.floor(most / 2) - 1
  local tail = head == #lines and #lines or #lines - math.floor(most / 2)
  for index = from, #lines do
    local line = lines[index]
    if index <= head or index > tail then
      if line.ours then
        local row, words = #self.lines, indent .. line.text
        self.lines[row + 1] = words
        self:mark_ours(row, { { #indent, #words } }, 0)
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

---A command goes on in the next line.
---@param row integer
function Lines:mark_break(row)
  local at = #self.lines[row + 1]
  table.insert(self.highlights, { row = row, from = at, to = at, group = "AcpPermissionHidden", after = reveal.BREAK })
end

---Adds the beginning of a text, at most `most` lines, and a line that counts the others.
---@param text string
---@param most integer
---@param indent string
---@param hidden? integer lines of it that are not in `text`
function Lines:add_text(text, most, indent, hidden)
  hidden = hidden or 0
  if self.reveals then
    self:add_revealed(text, indent, most, vim.startswith(text, "$ "))
    return hidden > 0 and self:add_count(hidden)
  end
  local count = #self.lines
  -- one line more is no shorter than the words about it
  local rest = self:split_in(text, indent, hidden > 0 and most or most + 1)
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

---Adds the end of a text, at most `most` lines, below a line that counts the others.
---@param text string
---@param most integer
---@param indent string
function Lines:add_end(text, most, indent)
  local count = count_lines(text, 1, last_byte(text))
  if count <= most + 1 then
    self:split_in(text, indent, count)
    return
  end
  self:add_count(count - most, true)
  local at = 1
  for _ = 1, count - most do
    at = text:find("\n", at, true) + 1
  end
  self:split_in(text:sub(at), indent, most)
end

---@return acp.Rendered
function Lines:rendered()
  return {
    lines = self.lines,
    highlights = self.highlights,
    target_rows = next(self.targets) and self.targets or nil, -- blocks keep this as long as they are there
    target_ranges = next(self.ranges) and self.ranges or nil,
  }
end

return Lines

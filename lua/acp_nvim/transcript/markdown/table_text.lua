-- Turns the text of a table's cell into words without marks, and wraps them by display width.
require("acp_nvim.transcript.markdown.interpreted")()

local characters = require("acp_nvim.render.characters")
local inline = require("acp_nvim.transcript.markdown.inline")

local M = {}

local api = vim.api
local LEAST_PART = 4 -- columns of a line that are used for the beginning of a word that is longer than a line

---@alias acp.Chunk { [1]: string, [2]: integer[]? } text and highlight groups of virtual text

---@class acp.TableWord cannot be broken, unless it is longer than a line
---@field parts { [1]: string, [2]: integer[]?, [3]: integer }[] text, groups, columns
---@field width integer columns
---@field space integer[]|false groups of the blank before it; false: no blank
---@field is_break? boolean a line break instead of a word

---@class acp.TableCell
---@field words acp.TableWord[]
---@field width integer columns without wrapping
---@field least integer columns of its longest word

---Splits a text where its highlights begin and end, and leaves out what is concealed.
---@param found acp.Span[]
---@return { [1]: string, [2]: integer[]? }[] pieces
local function pieces_of(text, found)
  local edges = { 0, #text }
  for _, span in ipairs(found) do
    edges[#edges + 1] = span[1]
    edges[#edges + 1] = span[2].end_col
  end
  table.sort(edges)
  local pieces = {}
  for index = 2, #edges do
    local from, to = edges[index - 1], edges[index]
    local groups, is_hidden = {}, from == to
    for _, span in ipairs(is_hidden and {} or found) do
      if span[1] <= from and span[2].end_col >= to then
        is_hidden = is_hidden or span[2].conceal == ""
        groups[#groups + 1] = span[2].hl_group
      end
    end
    if not is_hidden then
      pieces[#pieces + 1] = { text:sub(from + 1, to), #groups > 0 and groups or nil }
    end
  end
  return pieces
end

---Splits a text without blanks into parts: wide characters, between which lines may break, and what is between them.
---@return { [1]: string, [2]: integer }[] parts text and columns
local function parts_of(text)
  if not text:find("[\128-\255]") then
    return { { text, #text } }
  end
  local parts, is_open = {}, false
  for _, char in ipairs(vim.fn.split(text, [[\zs]])) do
    local width = api.nvim_strwidth(char)
    if is_open and width < 2 then
      local part = parts[#parts]
      part[1], part[2] = part[1] .. char, part[2] + width
    else
      parts[#parts + 1] = { char, width }
    end
    is_open = width < 2
  end
  return parts
end

---@param words acp.TableWord[]
---@param space integer[]|false
local function new_word(words, space)
  words[#words + 1] = { parts = {}, width = 0, space = space }
  return words[#words]
end

---@param pieces { [1]: string, [2]: integer[]? }[]
---@return acp.TableWord[]
local function words_of(pieces)
  local words, word, space = {}, nil, false ---@type acp.TableWord[], acp.TableWord?, integer[]|false
  for _, piece in ipairs(pieces) do
    for blanks, text in piece[1]:gmatch("(%s*)(%S*)") do
      if blanks ~= "" then
        word, space = nil, piece[2] or {}
        if blanks:find("\n", 1, true) then
          new_word(words, false).is_break, space = true, false
        end
      end
      for _, part in ipairs(text ~= "" and parts_of(text) or {}) do
        local is_wide = part[2] >= 2 and part[1]:byte() >= 128
        word = word and not is_wide and word or new_word(words, space)
        table.insert(word.parts, { part[1], piece[2], part[2] })
        word.width, space = word.width + part[2], false
        word = not is_wide and word or nil
      end
    end
  end
  return words
end

---@param words acp.TableWord[]
---@return integer width columns without wrapping
---@return integer least columns of the longest word
local function measure(words)
  local width, least, line = 0, 0, 0
  for _, word in ipairs(words) do
    line = word.is_break and 0 or line + ((word.space and line > 0) and 1 or 0) + word.width
    width, least = math.max(width, line), math.max(least, word.width)
  end
  return width, least
end

---@param text string of the cell, valid UTF-8
---@param budget acp.InlineBudget
---@return acp.TableCell
function M.cell(text, budget)
  text = vim.trim(text:gsub("\n", "^@"):gsub("\\|", "|"))
  if not text:find("`", 1, true) then
    text = text:gsub("<[bB][rR]%s*/?>", "\n")
  end
  local rows = {}
  inline.colour(rows, 1, { text }, { 0 }, budget)
  local pieces = rows[1] and pieces_of(text, rows[1]) or { { text } }
  for _, piece in ipairs(pieces) do
    piece[1] = characters.text(piece[1])
  end
  local words = words_of(pieces)
  local width, least = measure(words)
  return { words = words, width = width, least = least }
end

---Lines of a cell, while they are filled.
---@class acp.TableLines
---@field lines { width: integer, chunks: acp.Chunk[] }[]
---@field width integer columns of each line
local Lines = {}
Lines.__index = Lines

function Lines:last()
  return self.lines[#self.lines]
end

function Lines:next()
  self.lines[#self.lines + 1] = { width = 0, chunks = {} }
end

function Lines:put(text, groups, width)
  local line = self:last()
  local before = line.chunks[#line.chunks]
  if before and before[2] == groups then
    before[1] = before[1] .. text
  else
    line.chunks[#line.chunks + 1] = { text, groups }
  end
  line.width = line.width + width
end

---Adds a word that is longer than a line, broken between any two characters.
---@param word acp.TableWord
function Lines:put_broken(word)
  for _, part in ipairs(word.parts) do
    local is_ascii, at = #part[1] == part[3] and not part[1]:find("[\128-\255]"), 1
    while is_ascii and at <= #part[1] do
      if self:last().width >= self.width then
        self:next()
      end
      local piece = part[1]:sub(at, at + self.width - self:last().width - 1)
      self:put(piece, part[2], #piece)
      at = at + #piece
    end
    for _, char in ipairs(is_ascii and {} or vim.fn.split(part[1], [[\zs]])) do
      local width = api.nvim_strwidth(char)
      if self:last().width > 0 and self:last().width + width > self.width then
        self:next()
      end
      self:put(char, part[2], width)
    end
  end
end

---@param word acp.TableWord
function Lines:put_word(word)
  local used = self:last().width
  local gap = (word.space and used > 0) and 1 or 0
  local fits = used + gap + word.width <= self.width
  local is_long = word.width > self.width and self.width - used - gap >= LEAST_PART
  if used > 0 and not fits and not is_long then
    self:next()
  elseif gap == 1 then
    self:put(" ", word.space and #word.space > 0 and word.space or nil, 1)
  end
  if word.width > self.width then
    return self:put_broken(word)
  end
  for _, part in ipairs(word.parts) do
    self:put(part[1], part[2], part[3])
  end
end

---Wraps the words of a cell.
---@param words acp.TableWord[]
---@param width integer columns, at least 2
---@return { width: integer, chunks: acp.Chunk[] }[] lines at least one
function M.wrap(words, width)
  local out = setmetatable({ lines = {}, width = width }, Lines)
  out:next()
  for _, word in ipairs(words) do
    if word.is_break then
      out:next()
    else
      out:put_word(word)
    end
  end
  return out.lines
end

return M

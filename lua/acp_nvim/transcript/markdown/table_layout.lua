-- Lays out a table for the width of a window: aligned columns with wrapped cells or, in a window too narrow for them, records.
require("acp_nvim.transcript.markdown.interpreted")()

local rows = require("acp_nvim.transcript.markdown.table_rows")
local spans = require("acp_nvim.transcript.markdown.spans")
local table_text = require("acp_nvim.transcript.markdown.table_text")

local M = {}

local api = vim.api
local MARKS = 300 -- of emphasis, code and links read in a table: as in a segment
local WIDE_COLUMN, NARROW_COLUMN = 6, 4 -- columns that each column gets with and without blanks beside its bars
local WORD = 16 -- columns that a word may keep unbroken, as far as there is room
local LINES = "@punctuation.special.markdown"
local LIST = "@markup.list.markdown"
local HEADER = "@markup.heading.markdown"

---@class acp.TableRow
---@field prefix string marks of quotes and lists before it
---@field cells acp.TableCell[]

---@class acp.TableLayout
---@field lines acp.Chunk[][][] for each line of the text the lines to show
---@field blank acp.Chunk[] line without text between the bars
---@field widths integer[] columns of each column
---@field cells table<string, acp.TableRow> by the text of the row, to lay out a table that grows
---@field by_row table<acp.TableRow, acp.Chunk[][]> for the same purpose

---@class acp.TableGrid
---@field widths integer[]
---@field pad string between a bar and a cell
---@field aligned string[] "left", "right" or "center"
---@field base? string group of all text

---@return string prefix that is shown
---@return integer from first byte of the row
local function prefix_of(line, is_header)
  local from = line:match("^[%s>]*()")
  local marks = line:sub(1, from - 1):gsub("\t", "    "):gsub(">", "▎")
  local bullet, to = line:match("^([-+*])%s+()", from)
  if is_header and not bullet then
    bullet, to = line:match("^(%d%d?%d?%d?%d?%d?%d?%d?%d?[.)])%s+()", from)
  end
  if is_header and bullet then
    local shown = #bullet == 1 and "•" or bullet
    return marks .. shown .. (" "):rep(to - from - #bullet), to
  end
  return marks, from
end

---@param column string of the delimiter
local function alignment(column)
  local left, right = column:find("^%s*:") ~= nil, column:find(":%s*$") ~= nil
  return right and (left and "center" or "right") or "left"
end

---Returns the widths of the columns: the widest are shrunk, all to the same width, but no column below its longest word
---while another can be shrunk instead.
---@param natural integer[]
---@param least integer[]
---@param room integer columns for all, at least two for each: a character may be two columns wide
---@return integer[]
local function shrink(natural, least, room)
  local function at(most, from)
    local widths, sum = {}, 0
    for index, width in ipairs(natural) do
      widths[index] = math.max(math.min(width, most), math.min(from and from[index] or 2, width))
      sum = sum + widths[index]
    end
    return widths, sum
  end
  local _, floor = at(0, least)
  local from = floor <= room and least or nil
  local low, high = 1, room
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if select(2, at(middle, from)) <= room then
      low = middle
    else
      high = middle - 1
    end
  end
  local widths, sum = at(low, from)
  for index, width in ipairs(natural) do
    if sum < room and widths[index] < width then
      widths[index], sum = widths[index] + 1, sum + 1
    end
  end
  return widths
end

---@return integer
local function sum_of(widths, most)
  local sum = 0
  for _, width in ipairs(widths) do
    sum = sum + math.min(width, most)
  end
  return sum
end

---@param count integer columns
---@param room integer columns of the window
---@return integer[]? widths nil: there is no room for the columns side by side
---@return string? pad
local function fit(table_rows, count, room)
  local natural, least = {}, {}
  for index = 1, count do
    natural[index], least[index] = 1, 1
    for _, row in ipairs(table_rows) do
      local cell = row.cells[index]
      natural[index] = math.max(natural[index], cell and cell.width or 0)
      least[index] = math.max(least[index], math.min(cell and cell.least or 0, WORD))
    end
  end
  local wide, narrow = room - 3 * count - 1, room - count - 1
  local is_wide, is_narrow = wide >= sum_of(natural, WIDE_COLUMN), narrow >= sum_of(natural, NARROW_COLUMN)
  local whole = sum_of(least, WORD) -- without broken words
  if is_wide and (wide >= whole or narrow < whole) then
    return shrink(natural, least, wide), " "
  elseif is_narrow then
    return shrink(natural, least, narrow), ""
  end
end

---@type table<string, integer[]> by the names of the groups
local known_groups = {}

---@param given? integer[] groups within a cell
---@param group? string below them
---@param base? string above them
---@return integer[]
local function groups_of(given, group, base)
  local name = ("%s %s"):format(group or "", base or "")
  if given or not known_groups[name] then
    local groups = { group and spans.id(group) }
    for _, id in ipairs(given or {}) do
      groups[#groups + 1] = id
    end
    groups[#groups + 1] = base and spans.id(base)
    if given then
      return groups
    end
    known_groups[name] = groups
  end
  return known_groups[name]
end

---@param out acp.Chunk[]
---@param chunks acp.Chunk[]
local function extend(out, chunks, group, base)
  for _, chunk in ipairs(chunks) do
    out[#out + 1] = { chunk[1], groups_of(chunk[2], group, base) }
  end
end

---@param row acp.TableRow
---@param group? string of the header
---@return acp.Chunk[][]
local function grid_lines(grid, row, group, prefixes)
  local wrapped, height = {}, 1
  for index, width in ipairs(grid.widths) do
    wrapped[index] = row.cells[index] and table_text.wrap(row.cells[index].words, width) or {}
    height = math.max(height, #wrapped[index])
  end
  local out, bar = {}, groups_of(nil, LINES, grid.base)
  for at = 1, height do
    local line = { { prefixes[at == 1 and 1 or 2], groups_of(nil, LIST, grid.base) } }
    for index, width in ipairs(grid.widths) do
      local cell = wrapped[index][at] or { width = 0, chunks = {} }
      local free, aligned = math.max(width - cell.width, 0), grid.aligned[index]
      local left = aligned == "right" and free or aligned == "center" and math.floor(free / 2) or 0
      line[#line + 1] = { "│", bar }
      line[#line + 1] = { grid.pad .. (" "):rep(left), groups_of(nil, nil, grid.base) }
      extend(line, cell.chunks, group, grid.base)
      line[#line + 1] = { (" "):rep(free - left) .. grid.pad, groups_of(nil, nil, grid.base) }
    end
    line[#line + 1] = { "│", bar }
    out[at] = line
  end
  return out
end

---@return acp.Chunk[]
local function rule(grid, prefix, char)
  local line = prefix
  for _, width in ipairs(grid.widths) do
    line = ("%s│%s"):format(line, char:rep(width + 2 * #grid.pad))
  end
  return { { line .. "│", groups_of(nil, LINES, grid.base) } }
end

---@param name acp.TableCell
---@return acp.TableWord[] words of a column's name, and a colon
local function label(name)
  local words = {}
  for index, word in ipairs(name.words) do
    local parts = {}
    for at, part in ipairs(word.parts) do
      parts[at] = { part[1], groups_of(part[2], HEADER), part[3] }
    end
    words[index] = { parts = parts, width = word.width, space = word.space, is_break = word.is_break }
  end
  words[#words + 1] = { parts = { { ":", nil, 1 } }, width = 1, space = false }
  return words
end

---Shows a row as lines "name: cell".
---@param names acp.TableRow the header
---@param row? acp.TableRow nil: show the names only
---@return acp.Chunk[][]
local function record_lines(names, row, room, prefix, base)
  local out = {}
  for index = 1, math.max(row and #row.cells or 0, #names.cells) do
    local words = names.cells[index] and label(names.cells[index]) or {}
    for at, word in ipairs(row and row.cells[index] and row.cells[index].words or {}) do
      words[#words + 1] = at == 1 and vim.tbl_extend("force", word, { space = {} }) or word
    end
    for at, line in ipairs(table_text.wrap(words, room)) do
      local shown = { { prefix, groups_of(nil, LIST, base) }, { at > 1 and "  " or "", groups_of(nil, nil, base) } }
      extend(shown, line.chunks, nil, base)
      out[#out + 1] = shown
    end
  end
  return out
end

---@param parsed acp.TableRow[] without the delimiter
---@param kept table<acp.TableRow, acp.Chunk[][]> rows that are laid out already
---@return acp.Chunk[][][]
local function records(parsed, room, prefixes, base, kept)
  local function line(prefix)
    return { { prefix .. ("─"):rep(room), groups_of(nil, LINES, base) } }
  end
  local names = #parsed == 1 and record_lines(parsed[1], nil, room - 2, prefixes[2], base) or {}
  local out = { names, { line(prefixes[1]) } }
  for index = 2, #parsed do
    local lines = kept[parsed[index]] or record_lines(parsed[1], parsed[index], room - 2, prefixes[2], base)
    if not kept[parsed[index]] then
      table.insert(lines, line(prefixes[2]))
    end
    out[index + 1] = lines
  end
  return out
end

---@param parsed acp.TableRow[]
---@param out acp.Chunk[][][]
---@return table<acp.TableRow, acp.Chunk[][]>
local function by_row(parsed, out)
  local found = {}
  for index = 3, #out do
    found[parsed[index - 1]] = out[index]
  end
  return found
end

---@param known table<string, acp.TableRow>
---@return acp.TableRow[] rows header and rows, without the delimiter
---@return table<string, acp.TableRow> by the text of the row
local function parse(lines, columns, known)
  local parsed, by_text, budget = {}, {}, { marks = MARKS }
  for index, line in ipairs(lines) do
    if index ~= 2 then
      local row = index > 1 and known[line] or nil
      if not row then
        local prefix, from = prefix_of(line, index == 1)
        row = { prefix = prefix, cells = {} }
        for number, cell in ipairs((rows.cells(line, from, columns))) do
          row.cells[number] = table_text.cell(line:sub(cell[1], cell[2]), budget)
        end
      end
      parsed[#parsed + 1] = row
      by_text[line] = row
    end
  end
  return parsed, by_text
end

---@param prefix string of a header
---@return string for its further lines, with the same width
local function continued(prefix)
  local rest = prefix:gsub("•", " "):gsub("%d+[.)]", function(number)
    return (" "):rep(#number)
  end)
  return rest
end

---@return integer? columns of a table; nil: the delimiter belongs to no header
function M.columns(header, delimiter)
  local _, from = prefix_of(header, true)
  local _, below = prefix_of(delimiter)
  local count = #rows.cells(delimiter, below)
  return #rows.cells(header, from, count) == count and count or nil
end

---Whether a table can be shown as it is written: it fits, and its bars are below each other.
---@param lines string[]
---@param columns integer
---@param width integer columns of the window
function M.is_aligned(lines, columns, width)
  local first
  for index, line in ipairs(lines) do
    local _, from = prefix_of(line, index == 1)
    local _, bars = rows.cells(line, from, columns)
    local places = {}
    for number, bar in ipairs(bars) do
      places[number] = api.nvim_strwidth(line:sub(1, bar))
    end
    first = first or places
    if api.nvim_strwidth(line) > width or not vim.deep_equal(first, places) then
      return false
    end
  end
  return true
end

---@param lines string[] header, delimiter and rows: valid UTF-8
---@param columns integer of the header
---@param width integer columns of the window
---@param base? string group of all text
---@param before? acp.TableLayout of the same table when it was shorter
---@return acp.TableLayout? layout nil: there is no room
function M.lay_out(lines, columns, width, base, before)
  local parsed, by_text = parse(lines, columns, before and before.cells or {})
  local header, count = parsed[1], columns
  local room = width - api.nvim_strwidth(header.prefix)
  if room < math.min(width / 2, 8) then
    return nil
  end
  for _, row in ipairs(parsed) do
    count = math.max(count, #row.cells)
  end
  local first, rest = header.prefix, continued(header.prefix)
  local widths, pad = fit(parsed, count, room)
  if not widths then
    local kept = before and #before.widths == 0 and before.by_row or {}
    local out = records(parsed, room, { first, rest }, base, kept)
    return { lines = out, blank = {}, widths = {}, cells = by_text, by_row = by_row(parsed, out) }
  end
  local grid = { widths = widths, pad = pad, aligned = {}, base = base }
  local _, from = prefix_of(lines[2])
  for index, cell in ipairs((rows.cells(lines[2], from))) do
    grid.aligned[index] = alignment(lines[2]:sub(cell[1], cell[2]))
  end
  local out = { grid_lines(grid, header, HEADER, { first, rest }), { rule(grid, rest, "─") } }
  local is_same = before and #before.widths > 0 and vim.deep_equal(before.widths, widths)
  for index = 3, #lines do
    local row = parsed[index - 1]
    out[index] = is_same and before.by_row[row] or grid_lines(grid, row, nil, { rest, rest })
  end
  local blank = rule(grid, rest, " ")
  return { lines = out, blank = blank, widths = widths, cells = by_text, by_row = by_row(parsed, out) }
end

return M

-- Splits lines at the width of a window, so that each row of the screen is a line of the buffer.
local characters = require("acp_nvim.render.characters")

local TAB_WIDTH = 8

---@param width integer columns
---@return integer[] for each piece, its last byte: of a blank behind a word, or of any character if there is none
local function ends_of(line, width)
  local ends = {}
  if characters.is_plain(line) and not line:find("\t", 1, true) then
    local from = 1
    while #line - from >= width do
      local blank = line:sub(from, from + width - 1):match("^.*%S() ")
      from = from + (blank or width)
      ends[#ends + 1] = from - 1
    end
  else
    local used, before = 0, nil -- columns of the piece; of its part up to the last blank behind a word
    local starts = vim.str_utf_pos(line)
    for index, at in ipairs(starts) do
      local char = line:sub(at, (starts[index + 1] or #line + 1) - 1)
      local columns = char == "\t" and TAB_WIDTH or vim.api.nvim_strwidth(char)
      if used + columns > width then
        ends[#ends + 1] = before and before.ends or at - 1
        used, before = before and used - before.used or 0, nil
      end
      used = used + columns
      if char == " " and line:sub(at - 1, at - 1):find("%S") then
        before = { ends = at, used = used }
      end
    end
  end
  ends[#ends + 1] = #line
  return ends
end

---Splits what marks a part of a line where the line is split.
---@generic T
---@param marks T[] with `row`, `from` and `to`
---@param rows table<integer, integer> by row: the first row of its pieces
---@param ends table<integer, integer[]> by row
---@return T[]
local function split(marks, rows, ends)
  local out = {}
  for _, one in ipairs(marks) do
    local from = 0
    for piece, to in ipairs(ends[one.row]) do
      local place = { row = rows[one.row] + piece - 1, from = 0, to = -1 }
      if one.to == -1 then
        out[#out + 1] = vim.tbl_extend("force", one, place)
      elseif one.from < to and one.to > from then
        place.from, place.to = math.max(one.from, from) - from, math.min(one.to, to) - from
        out[#out + 1] = vim.tbl_extend("force", one, place)
      end
      from = to
    end
  end
  return out
end

---@param rendered acp.Rendered with lines and highlights
---@param width integer columns
---@return string[] lines
---@return acp.Highlight[] highlights
---@return acp.OptionPlace[] options
return function(rendered, width)
  local before = vim.list_slice(rendered.lines)
  local highlights = vim.tbl_map(function(one)
    if not one.after then
      return one
    end
    local from = #before[one.row + 1] -- virtual text behind a line becomes a part of it
    before[one.row + 1] = before[one.row + 1] .. one.after
    return { row = one.row, from = from, to = from + #one.after, group = one.group }
  end, rendered.highlights)
  local lines, rows, ends = {}, {}, {}
  for index, line in ipairs(before) do
    rows[index - 1], ends[index - 1] = #lines, ends_of(line, width)
    local from = 0
    for _, to in ipairs(ends[index - 1]) do
      lines[#lines + 1] = line:sub(from + 1, to)
      from = to
    end
  end
  return lines, split(highlights, rows, ends), split(rendered.options or {}, rows, ends)
end

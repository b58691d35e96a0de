-- Shows places in files as `path:line:col: text`. Texts are read in slices, and only of files of the session.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local guarded = require("acp_nvim.mcp.guarded")
local inside = require("acp_nvim.mcp.inside")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local slices = require("acp_nvim.kernel.slices")
local values = require("acp_nvim.problems.values")

local M = {}

local api = vim.api
local FILE_BYTES = 1024 * 1024 -- of a file that is not open, in which lines are looked up: a few milliseconds
local FILES = 200 -- that are read for one call; places in others have no text
local LINE_BYTES = 16 * 1024 -- of a line in which a column is counted: a fraction of a millisecond
local SHOWN_BYTES = 2000 -- of a line that is shown

---@class acp.mcp.Place: acp.lsp.Place
---@field encoding string of its character
---@field words? string to be shown instead of the text of its line

---@class acp.mcp.File
---@field name string
---@field is_outside boolean of the session's directories
---@field line fun(line: integer): string? line from 0, its beginning at most; lines are asked for in ascending order
---@field last? { [1]: integer, [2]: string? } line that was asked for before, and its text

---@return string? beginning of a line; nil beyond the end of the buffer
function M.line_of_buffer(bufnr, line)
  if line >= api.nvim_buf_line_count(bufnr) then
    return nil
  end
  return api.nvim_buf_get_text(bufnr, line, 0, line, LINE_BYTES, {})[1]
end

---@param data string beginning of a file
---@return fun(line: integer): string? that wants its lines in ascending order
local function lines_of(data)
  local at, row = 1, 0
  return function(line)
    while at and row < line do
      local newline = data:find("\n", at, true)
      at, row = newline and newline + 1, row + 1
    end
    if not at or at > #data then
      return nil
    end
    local last = (data:find("\n", at, true) or #data + 1) - 1
    return (data:sub(at, math.min(last, at + LINE_BYTES - 1)):gsub("\r$", ""))
  end
end

---@param text? string beginning of the line
---@param character integer from 0
---@return integer column in bytes, from 1; without the text that is needed: in the server's units
function M.column(text, character, encoding)
  if not text or #text >= LINE_BYTES and character * 4 > LINE_BYTES then
    return character + 1
  end
  return vim.str_byteindex(text, encoding, character, false) + 1
end

local function none()
  return nil
end

---@param args { cwd: string, directories: string[], path?: string } `path`: a file that the agent may read
---@return fun(place: acp.lsp.Place): acp.mcp.File
local function reader(args)
  local buffers, left = lookup.by_path(), FILES
  local last, file ---@type string?, acp.mcp.File
  return function(place)
    if not place.path then
      return { name = place.uri, is_outside = true, line = none }
    elseif place.path == last then
      return file
    end
    last = place.path
    local real = lookup.real(place.path)
    local bufnr = buffers[real]
    file = { name = name_of(place.path, args.cwd):gsub("%c", "?"), line = none, is_outside = false }
    if real ~= args.path and not inside(real, args) then
      file.is_outside = true
    elseif bufnr and api.nvim_buf_is_loaded(bufnr) then
      file.line = function(line)
        return M.line_of_buffer(bufnr, line)
      end
    elseif left > 0 then
      left = left - 1
      file.line = lines_of(file_buffer.read(real, FILE_BYTES) or "")
    end
    return file
  end
end

---@param a acp.mcp.Place
---@param b acp.mcp.Place
local function is_before(a, b)
  if (a.path or a.uri) ~= (b.path or b.uri) then
    return (a.path or a.uri) < (b.path or b.uri)
  elseif a.line ~= b.line then
    return a.line < b.line
  end
  return a.character < b.character
end

---@param places acp.mcp.Place[]
function M.sort(places)
  table.sort(places, is_before)
end

---@param one acp.mcp.Place
---@param file acp.mcp.File
---@return string
local function line_of(one, file)
  if not file.last or file.last[1] ~= one.line then -- a line may be long, and have thousands of places
    file.last = { one.line, file.line(one.line) }
  end
  local text = file.last[2]
  local words = one.words or text and vim.trim(values.cut(text, SHOWN_BYTES))
  local place = ("%s:%d:%d"):format(file.name, one.line + 1, M.column(text, one.character, one.encoding))
  return words and ("%s: %s"):format(place, words) or place
end

---Calls `on_done` with a line for each place; equal ones without words that follow each other are one.
---@param places acp.mcp.Place[]
---@param args { cwd: string, directories: string[], path?: string }
---@param answer acp.mcp.Answer gets an error if this fails
---@param on_done fun(lines: string[], outside: integer) `outside`: places of which only the place may be told
function M.list(places, args, answer, on_done)
  local read, lines, outside, at = reader(args), {}, 0, 0
  local is_over = false
  local step = guarded(answer, function()
    is_over, at = true, at + 1
    local one = places[at]
    if not one then
      return on_done(lines, outside)
    end
    local file = read(one)
    if file.is_outside then
      outside = outside + 1
    end
    if not (file.is_outside and one.words) then
      local line = line_of(one, file)
      local is_known = not one.words and line == lines[#lines]
      lines[#lines + (is_known and 0 or 1)] = line
    end
    is_over = false
  end)
  slices.run(function()
    step()
    return is_over
  end)
end

return M

-- The text that the file of a buffer had when the buffer last read or wrote it: the common ground when both move on.
local file_buffer = require("acp_nvim.windows.file_buffer")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local is_unicode = text.is_unicode
-- Of a buffer whose saved text is kept for merging: as much as people edit by hand
local SAVED_TEXT_BYTES = 16 * 1024 * 1024
local BIG_ENDIAN = { ["utf-16"] = "utf-16be", ["ucs-2"] = "ucs-2be", ["utf-32"] = "utf-32be", ["ucs-4"] = "ucs-4be" }

---@class acp.SavedText either text, or lines of the buffer with their shape and its state then
---@field text? string
---@field lines? string[]
---@field shape? acp.TextShape
---@field state? string

---@type table<integer, acp.SavedText>
local saved = {}

---@param bufnr integer
---@return boolean too much to keep a copy of
local function is_large(bufnr)
  return api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) > SAVED_TEXT_BYTES
end

---@param bufnr integer
---@param shape acp.TextShape
---@param lines? string[] its lines, which are kept
local function keep(bufnr, shape, lines)
  if is_large(bufnr) then
    saved[bufnr] = nil
    return
  end
  saved[bufnr] = { lines = lines or text.lines(bufnr), shape = shape, state = text.state(bufnr) }
end

---The buffer has what was read from the file.
---@param bufnr integer
function M.keep_read(bufnr)
  keep(bufnr, text.shape_read(bufnr))
end

---The file has what was written from the buffer.
---@param bufnr integer
function M.keep_written(bufnr)
  keep(bufnr, text.shape(bufnr))
end

---@param lines string[] changed, if it has as many lines afterwards
---@param change acp.TextChange of lines
---@return string[]
local function spliced(lines, change)
  if change.count == #change.lines then
    for index, line in ipairs(change.lines) do
      lines[change.first + index] = line
    end
    return lines
  end
  local new = vim.list_extend(vim.list_slice(lines, 1, change.first), change.lines)
  return vim.list_extend(new, lines, change.first + change.count + 1)
end

---The same, when the buffer had these lines before, and nothing but this change was made: much is not copied.
---@param bufnr integer
---@param before string[] not to be used any more
---@param change acp.TextChange
function M.keep_changed(bufnr, before, change)
  local is_known = change.lines ~= nil and #before > 0
  keep(bufnr, text.shape(bufnr), is_known and spliced(before, change) or nil)
end

---@param bufnr integer
---@return string[] lines of the buffer; not to be changed
function M.lines(bufnr)
  local one = saved[bufnr]
  return one and one.state == text.state(bufnr) and one.lines or text.lines(bufnr)
end

---@param bufnr integer
---@param content string that is in the file
function M.keep_text(bufnr, content)
  saved[bufnr] = #content <= SAVED_TEXT_BYTES and { text = content } or nil
end

---@param bytes string
---@param encoding string as Neovim names it
---@return string? text
local function decode(bytes, encoding)
  if encoding == "utf-8" then
    return bytes
  end
  local content = vim.iconv(bytes, BIG_ENDIAN[encoding] or encoding, "utf-8")
  local has_bom = is_unicode(encoding) and (vim.startswith(bytes, "\254\255") or vim.startswith(bytes, "\0\0\254\255"))
  if content and has_bom and not vim.startswith(content, text.BOM) then
    return text.BOM .. content -- iconv takes it off where it is big-endian
  end
  return content
end

---The buffer has changes already, its file has none since it was read.
---@param bufnr integer
function M.keep_file(bufnr)
  local path = api.nvim_buf_get_name(bufnr)
  local bytes = file_buffer.read(path, SAVED_TEXT_BYTES, SAVED_TEXT_BYTES)
  if bytes then
    local content = decode(bytes, text.encoding(bufnr))
    saved[bufnr] = content and { text = content } or nil
  end
end

---@param bufnr integer
---@return string? text nil when it is not known
function M.text(bufnr)
  local one = saved[bufnr]
  return one and (one.text or text.join(one.lines, one.shape))
end

---Undo may say that a buffer is unmodified because it was, when its file had another text.
---@param bufnr integer
---@return boolean
function M.is_another(bufnr)
  local one = saved[bufnr]
  if not one or one.state == text.state(bufnr) then
    return false
  end
  local content, lines = M.text(bufnr), text.lines(bufnr)
  return content ~= text.join(lines, text.shape(bufnr)) and content ~= text.join(lines, text.shape_read(bufnr))
end

---@param bufnr integer
function M.forget(bufnr)
  saved[bufnr] = nil
end

return M

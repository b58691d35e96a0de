-- The text of a buffer's file when the buffer last read or wrote it: the base for merging when both have changed.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local text = require("acp_nvim.buffers.text")

local M = {}

local api = vim.api
local is_unicode = text.is_unicode
-- Largest text that is kept for merging: more than people edit by hand
local SAVED_TEXT_BYTES = 16 * 1024 * 1024
local BIG_ENDIAN = { ["utf-16"] = "utf-16be", ["ucs-2"] = "ucs-2be", ["utf-32"] = "utf-32be", ["ucs-4"] = "ucs-4be" }

---@class acp.SavedText either `text`, or `lines` with their shape and the buffer's state
---@field text? string
---@field lines? string[]
---@field shape? acp.TextShape
---@field state? string

---@type table<integer, acp.SavedText>
local saved = {}

---@param shape acp.TextShape
---@param lines? string[] lines of the buffer, to be kept
local function keep(bufnr, shape, lines)
  local bytes = api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr))
  saved[bufnr] = bytes <= SAVED_TEXT_BYTES
      and { lines = lines or text.lines(bufnr), shape = shape, state = text.state(bufnr) }
    or nil
end

---Records that the buffer has what was read from the file.
function M.keep_read(bufnr)
  keep(bufnr, text.shape_read(bufnr))
end

---Records that the file has what was written from the buffer.
function M.keep_written(bufnr)
  text.note_written(bufnr)
  keep(bufnr, text.shape(bufnr))
end

---@param lines string[] modified in place if the number of lines stays the same
---@param change acp.TextChange of lines
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

---Like `keep_written`, after a single change to known lines: avoids a copy.
---@param before string[] no longer usable afterwards
---@param change acp.TextChange
function M.keep_changed(bufnr, before, change)
  local is_known = change.lines ~= nil and #before > 0
  text.note_written(bufnr)
  keep(bufnr, text.shape(bufnr), is_known and spliced(before, change) or nil)
end

---@return string[] lines of the buffer; must not be modified
function M.lines(bufnr)
  local entry = saved[bufnr]
  return entry and entry.state == text.state(bufnr) and entry.lines or text.lines(bufnr)
end

---@param content string of the file
function M.keep_text(bufnr, content)
  saved[bufnr] = #content <= SAVED_TEXT_BYTES and { text = content } or nil
end

---@param encoding string Neovim's name
---@return string? text
local function decode(bytes, encoding)
  if encoding == "utf-8" then
    return bytes
  end
  local content = vim.iconv(bytes, BIG_ENDIAN[encoding] or encoding, "utf-8")
  local has_bom = is_unicode(encoding) and (vim.startswith(bytes, "\254\255") or vim.startswith(bytes, "\0\0\254\255"))
  if content and has_bom and not vim.startswith(content, text.BOM) then
    return text.BOM .. content -- iconv removes a big-endian BOM
  end
  return content
end

---@return string? text of the buffer's file
local function read_file(bufnr)
  local bytes = file_buffer.read(api.nvim_buf_get_name(bufnr), SAVED_TEXT_BYTES, SAVED_TEXT_BYTES)
  return bytes and decode(bytes, text.encoding(bufnr))
end

---Records whether an unmodified buffer was written since it was read without an end of its last line.
---@param content? string of the file
function M.note_end(bufnr, content)
  if vim.bo[bufnr].modified or vim.bo[bufnr].eol or not text.shape(bufnr).eol then
    return
  end
  content = content or read_file(bufnr)
  if content == text.join(text.lines(bufnr), text.shape(bufnr)) then
    text.note_written(bufnr)
  end
end

---Records the text of the file, which has not changed since the modified buffer was read.
function M.keep_file(bufnr)
  local content = read_file(bufnr)
  saved[bufnr] = content and { text = content } or nil
  M.note_end(bufnr, content)
end

---@return string? text nil when unknown
function M.text(bufnr)
  local entry = saved[bufnr]
  return entry and (entry.text or text.join(entry.lines, entry.shape))
end

---Checks for an unmodified buffer that differs from its file: undo resets 'modified' by its own record.
function M.is_another(bufnr)
  local entry = saved[bufnr]
  if not entry or entry.state == text.state(bufnr) then
    return false
  end
  local content, lines = M.text(bufnr), text.lines(bufnr)
  return content ~= text.join(lines, text.shape(bufnr)) and content ~= text.join(lines, text.shape_read(bufnr))
end

function M.forget(bufnr)
  saved[bufnr] = nil
end

return M

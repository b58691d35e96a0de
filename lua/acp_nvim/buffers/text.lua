-- Converts between the lines of a buffer and the text that :write would write. Exact in both directions.
local M = {}

local api = vim.api
local BOM = "\239\187\191"
M.BOM = BOM
local EOL = { unix = "\n", dos = "\r\n", mac = "\r" }

---@class acp.TextShape properties of a text that its lines do not show
---@field fileformat "unix"|"dos"|"mac"
---@field eol boolean the last line has a line end
---@field bomb boolean

---@return string Neovim's name, "utf-8" when the option is empty
function M.encoding(bufnr)
  local fenc = vim.bo[bufnr].binary and "" or vim.bo[bufnr].fileencoding
  return fenc == "" and "utf-8" or fenc
end

---@param encoding string
function M.is_unicode(encoding)
  return encoding:match("^utf") ~= nil or encoding:match("^ucs") ~= nil
end

---@return boolean the buffer has no text, not even an empty line
function M.is_void(bufnr)
  if api.nvim_buf_line_count(bufnr) > 1 or api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] ~= "" then
    return false
  end
  return api.nvim_buf_call(bufnr, vim.fn.wordcount).bytes == 0
end

---@return acp.TextShape
function M.shape(bufnr)
  local bo = vim.bo[bufnr]
  return {
    fileformat = bo.binary and "unix" or bo.fileformat,
    eol = bo.eol or (bo.fixeol and not bo.binary),
    bomb = bo.bomb and not bo.binary and M.is_unicode(M.encoding(bufnr)),
  }
end

---Returns the shape of the text that was read; 'fixendofline' may add an end of line when it is written.
---@return acp.TextShape
function M.shape_read(bufnr)
  local shape = M.shape(bufnr)
  shape.eol = vim.bo[bufnr].eol
  return shape
end

---Records that the buffer was written: 'fixendofline' has ended the last line, but Neovim leaves 'endofline' off.
function M.note_written(bufnr)
  if not vim.bo[bufnr].eol and M.shape(bufnr).eol then
    vim.bo[bufnr].eol = true
  end
end

---Returns the shape of the buffer's text: of what was read, or of what :write would write of a modified buffer.
---@return acp.TextShape
local function shape_now(bufnr)
  return vim.bo[bufnr].modified and M.shape(bufnr) or M.shape_read(bufnr)
end

---Returns a string that is equal for equal texts of the same buffer.
function M.state(bufnr)
  local shape, tick = shape_now(bufnr), api.nvim_buf_get_changedtick(bufnr)
  local parts = { bufnr, tick, shape.fileformat, tostring(shape.eol), tostring(shape.bomb), M.encoding(bufnr) }
  return table.concat(parts, " ")
end

---@param lines string[] empty: the text is empty
---@param shape acp.TextShape
function M.join(lines, shape)
  if #lines == 0 then
    return shape.bomb and BOM or ""
  end
  if shape.fileformat == "mac" then -- a NL in the file is a CR in the buffer
    local swapped = {}
    for index, line in ipairs(lines) do
      swapped[index] = line:gsub("\r", "\n")
    end
    lines = swapped
  end
  local eol = EOL[shape.fileformat]
  return (shape.bomb and BOM or "") .. table.concat(lines, eol) .. (shape.eol and eol or "")
end

---@return string[] lines empty when the buffer has no text
function M.lines(bufnr)
  return M.is_void(bufnr) and {} or api.nvim_buf_get_lines(bufnr, 0, -1, true)
end

function M.of_buffer(bufnr)
  return M.join(M.lines(bufnr), shape_now(bufnr))
end

---@return "unix"|"dos"|"mac"|nil format nil when the text has no line end
local function format_of(text)
  local newline = text:find("\n", 1, true)
  if not newline then
    return text:find("\r", 1, true) and "mac" or nil
  end
  local is_dos = text:sub(1, 1) ~= "\n" and not text:find("[^\r]\n")
  return is_dos and "dos" or "unix"
end

---@param text string without BOM
---@param format "unix"|"dos"|"mac"
---@return string[] lines
---@return boolean eol
local function split(text, format)
  local lines = vim.split(text, format == "mac" and "\r" or "\n", { plain = true })
  local eol = lines[#lines] == ""
  if eol then
    table.remove(lines)
  end
  if format == "unix" then
    return lines, eol
  end
  for index, line in ipairs(lines) do
    if format == "mac" then
      lines[index] = line:gsub("\n", "\r")
    elseif index < #lines or eol then
      lines[index] = line:sub(1, -2) -- each line ends with CR in a dos text
    end
  end
  return lines, eol
end

---@return string[] lines empty when the text is empty
---@return acp.TextShape
function M.take_apart(bufnr, text)
  local shape = M.shape(bufnr)
  local encoding = M.encoding(bufnr)
  if M.is_unicode(encoding) and not vim.bo[bufnr].binary then
    local has_bom = vim.startswith(text, BOM)
    text = has_bom and text:sub(#BOM + 1) or text
    shape.bomb = has_bom or (shape.bomb and encoding ~= "utf-8") -- UTF-16 could not be recognized without it
  end
  if text == "" then
    return {}, shape
  end
  local format = not vim.bo[bufnr].binary and format_of(text)
  if format and format ~= format_of(M.of_buffer(bufnr)) then
    shape.fileformat = format
  end
  local lines
  lines, shape.eol = split(text, shape.fileformat)
  return lines, shape
end

---@param shape acp.TextShape
---@param is_read? boolean the file already has this shape; else the buffer has to be written
function M.set_shape(bufnr, shape, is_read)
  local bo, now = vim.bo[bufnr], M.shape(bufnr)
  if is_read then
    bo.eol = shape.eol
    shape = vim.tbl_extend("force", shape, { eol = now.eol })
  end
  if vim.deep_equal(shape, now) then
    return
  end
  if shape.eol ~= now.eol then
    bo.eol = shape.eol
    bo.fixeol = shape.eol and bo.fixeol
  end
  if shape.fileformat ~= now.fileformat then
    bo.fileformat = shape.fileformat
  end
  if shape.bomb ~= now.bomb then
    bo.bomb = shape.bomb
  end
  bo.modified = true
end

return M

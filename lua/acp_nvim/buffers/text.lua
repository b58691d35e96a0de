-- Joins a buffer's lines to the text that :write would write, and takes a text apart for the buffer; exact both ways.
local M = {}

local api = vim.api
local BOM = "\239\187\191"
M.BOM = BOM
local EOL = { unix = "\n", dos = "\r\n", mac = "\r" }

---@class acp.TextShape what of a text is not in the lines of its buffer
---@field fileformat "unix"|"dos"|"mac"
---@field eol boolean the last line ends
---@field bomb boolean

---@param bufnr integer
---@return string as Neovim names it, "utf-8" when it has no name
function M.encoding(bufnr)
  local fenc = vim.bo[bufnr].binary and "" or vim.bo[bufnr].fileencoding
  return fenc == "" and "utf-8" or fenc
end

---@param encoding string
---@return boolean
function M.is_unicode(encoding)
  return encoding:match("^utf") ~= nil or encoding:match("^ucs") ~= nil
end

---@param bufnr integer
---@return boolean nothing at all is in it, not even an empty line
function M.is_void(bufnr)
  if api.nvim_buf_line_count(bufnr) > 1 or api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] ~= "" then
    return false
  end
  return api.nvim_buf_call(bufnr, vim.fn.wordcount).bytes == 0
end

---@param bufnr integer
---@return acp.TextShape
function M.shape(bufnr)
  local bo = vim.bo[bufnr]
  return {
    fileformat = bo.binary and "unix" or bo.fileformat,
    eol = bo.eol or (bo.fixeol and not bo.binary),
    bomb = bo.bomb and not bo.binary and M.is_unicode(M.encoding(bufnr)),
  }
end

---What was read, which may lack the end of the last line that :write brings ('fixendofline').
---@param bufnr integer
---@return acp.TextShape
function M.shape_read(bufnr)
  local shape = M.shape(bufnr)
  shape.eol = vim.bo[bufnr].eol
  return shape
end

---Equal states of a buffer mean equal texts.
---@param bufnr integer
---@return string
function M.state(bufnr)
  local shape = M.shape(bufnr)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  return table.concat(
    { bufnr, tick, shape.fileformat, tostring(shape.eol), tostring(shape.bomb), M.encoding(bufnr) },
    " "
  )
end

---@param lines string[] none: nothing at all
---@param shape acp.TextShape
---@return string
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

---@param bufnr integer
---@return string[] lines none when nothing at all is in it
function M.lines(bufnr)
  return M.is_void(bufnr) and {} or api.nvim_buf_get_lines(bufnr, 0, -1, true)
end

---@param bufnr integer
---@return string
function M.of_buffer(bufnr)
  return M.join(M.lines(bufnr), M.shape(bufnr))
end

---@param text string
---@return "unix"|"dos"|"mac"|nil format nil when there is no line end at all
local function format_of(text)
  local newline = text:find("\n", 1, true)
  if not newline then
    return text:find("\r", 1, true) and "mac" or nil
  end
  local is_dos = text:sub(1, 1) ~= "\n" and not text:find("[^\r]\n")
  return is_dos and "dos" or "unix"
end

---The format that holds `text`, byte by byte; another than now only when the line ends are others than before.
---@param text string
---@param before string
---@param now "unix"|"dos"|"mac"
---@return "unix"|"dos"|"mac"
local function fitting_format(text, before, now)
  local format = format_of(text)
  return (format == nil or format == format_of(before)) and now or format
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
      lines[index] = line:sub(1, -2) -- each ends with CR, else it were no dos text
    end
  end
  return lines, eol
end

---@param bufnr integer
---@param text string
---@return string[] lines none when the text is empty
---@return acp.TextShape
function M.take_apart(bufnr, text)
  local shape = M.shape(bufnr)
  local encoding = M.encoding(bufnr)
  if M.is_unicode(encoding) and not vim.bo[bufnr].binary then
    local has_bom = vim.startswith(text, BOM)
    text = has_bom and text:sub(#BOM + 1) or text
    shape.bomb = has_bom or (shape.bomb and encoding ~= "utf-8") -- without it nobody knows UTF-16 again
  end
  if text == "" then
    return {}, shape
  end
  if not vim.bo[bufnr].binary then
    shape.fileformat = fitting_format(text, M.of_buffer(bufnr), shape.fileformat)
  end
  local lines
  lines, shape.eol = split(text, shape.fileformat)
  return lines, shape
end

---@param bufnr integer
---@param shape acp.TextShape
---@param is_read? boolean the file has it already; else it is to be written like that
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

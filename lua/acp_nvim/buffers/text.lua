-- Joins a buffer's lines to the text that :write would write, and splits a text into lines for the buffer.
local M = {}

local EOL = { unix = "\n", dos = "\r\n", mac = "\r" }

---@param bufnr integer
---@return boolean nothing at all is in it, not even an empty line
local function is_void(bufnr)
  if vim.api.nvim_buf_line_count(bufnr) > 1 or vim.api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] ~= "" then
    return false
  end
  return vim.api.nvim_buf_call(bufnr, vim.fn.wordcount).bytes == 0
end

---@param bufnr integer
---@return boolean
function M.ends_with_eol(bufnr)
  return vim.bo[bufnr].eol or (vim.bo[bufnr].fixeol and not vim.bo[bufnr].binary)
end

---@param bufnr integer
---@return string
function M.of_buffer(bufnr)
  if is_void(bufnr) then
    return ""
  end
  local format = vim.bo[bufnr].fileformat
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
  if format == "mac" then -- a NL in the file is a CR in the buffer
    for index, line in ipairs(lines) do
      lines[index] = line:gsub("\r", "\n")
    end
  end
  local text = table.concat(lines, EOL[format])
  return M.ends_with_eol(bufnr) and text .. EOL[format] or text
end

---@param bufnr integer
---@param text string
---@return string[] lines none when the text is empty
---@return boolean eol the text ends with one
function M.to_lines(bufnr, text)
  if text == "" then
    return {}, true
  end
  local format = vim.bo[bufnr].fileformat
  local lines = vim.split(text, format == "mac" and "\r" or "\n", { plain = true })
  local eol = lines[#lines] == ""
  if eol then
    table.remove(lines)
  end
  for index, line in ipairs(lines) do
    if format == "dos" and line:sub(-1) == "\r" then
      lines[index] = line:sub(1, -2)
    elseif format == "mac" then
      lines[index] = line:gsub("\n", "\r")
    end
  end
  return lines, eol
end

return M

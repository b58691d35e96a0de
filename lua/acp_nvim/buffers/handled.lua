-- Tells which files other plugins read or write in place of Neovim (BufReadCmd, BufWriteCmd).
local M = {}

local api = vim.api

---@param pattern string of an autocommand
---@param name string absolute path
---@return boolean
local function matches(pattern, name)
  local subject = pattern:find("/", 1, true) and name or vim.fs.basename(name)
  return vim.regex(vim.fn.glob2regpat(pattern)):match_str(subject) ~= nil
end

---@param event "BufReadCmd"|"BufWriteCmd"
---@param name string absolute path
---@param bufnr? integer the buffer of that name
---@return boolean
local function has_autocommand(event, name, bufnr)
  return vim.iter(api.nvim_get_autocmds({ event = event })):any(function(autocmd)
    if autocmd.buffer then
      return autocmd.buffer == bufnr
    end
    return matches(autocmd.pattern, name)
  end)
end

---@param path string absolute
---@return boolean another plugin reads the file
function M.is_read_by_others(path)
  return has_autocommand("BufReadCmd", path)
end

---@param bufnr integer
---@return boolean another plugin writes the buffer
function M.is_written_by_others(bufnr)
  return has_autocommand("BufWriteCmd", api.nvim_buf_get_name(bufnr), bufnr)
end

return M

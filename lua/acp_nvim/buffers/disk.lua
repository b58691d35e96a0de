-- Saves buffers and reads them again, and is never caught in a question that Neovim would ask about it.
local message = require("acp_nvim.message")

local M = {}

local api = vim.api

---@type table<integer, true> buffers whose file was changed by others since it was read
local stale = {}
local watching = false

---Writing or reading settles it.
local function watch()
  if watching then
    return
  end
  watching = true
  api.nvim_create_autocmd({ "BufReadPost", "BufWritePost", "FileChangedShellPost", "BufWipeout" }, {
    group = api.nvim_create_augroup("acp_nvim.disk", {}),
    callback = function(event)
      stale[event.buf] = nil
    end,
  })
end

---Looks at the file: reads it again where that is safe ('autoread', no changes), notes it where it is not.
---@param bufnr integer
function M.check(bufnr)
  watch()
  local found
  local id = api.nvim_create_autocmd("FileChangedShell", {
    buffer = bufnr,
    callback = function()
      found = vim.v.fcs_reason
      vim.v.fcs_choice = ""
    end,
  })
  pcall(vim.cmd, ("silent! checktime %d"):format(bufnr))
  api.nvim_del_autocmd(id)
  if found == "changed" or found == "conflict" then
    stale[bufnr] = true
  end
end

---Neovim writes "?" for a character that the file's encoding lacks.
---@param bufnr integer
---@return boolean
local function can_be_encoded(bufnr)
  local fenc = vim.bo[bufnr].fileencoding
  if fenc == "" or fenc == "utf-8" then
    return true
  end
  local text = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  local there = vim.iconv(text, "utf-8", fenc)
  return there == nil or vim.iconv(there, fenc, "utf-8") == text
end

---@param bufnr integer
---@return string? problem
local function obstacle(bufnr)
  local path = api.nvim_buf_get_name(bufnr)
  if stale[bufnr] then
    return "the file was changed on disk by another program since Neovim read it; the change is in the buffer, unsaved"
  elseif vim.uv.fs_stat(path) and not vim.uv.fs_access(path, "W") then
    return "the file may not be written; the change is in the buffer, unsaved"
  elseif not can_be_encoded(bufnr) then
    return "the file's encoding lacks some of the characters; the change is in the buffer, unsaved"
  end
end

---@param err any
---@return string without where in our code it came up
local function reason(err)
  local words = tostring(err):match("^[^\n]*"):gsub('^.*Autocommands for ".-": ', "")
  return (words:gsub("^.-(E%d+:)", "%1"))
end

---@param bufnr integer
---@return boolean saved
---@return string? problem
function M.save(bufnr)
  local problem = obstacle(bufnr)
  if problem then
    return false, problem
  end
  local was_modified = vim.bo[bufnr].modified
  vim.v.errmsg = ""
  local ok, err = pcall(api.nvim_buf_call, bufnr, function()
    vim.cmd("silent keepalt lockmarks write! ++p") -- with ! Neovim asks nothing
  end)
  if not api.nvim_buf_is_loaded(bufnr) then
    return false, "an autocommand removed the buffer"
  end
  local words = ok and vim.v.errmsg or reason(err)
  if not vim.bo[bufnr].modified and (ok or was_modified) then
    if not ok then
      message.news("the file was written, but an autocommand failed: " .. words)
    end
    return true
  end
  return false, (words ~= "" and words or "it could not be written") .. "; the change is in the buffer, unsaved"
end

---@param bufnr integer
---@return boolean
local function can_reload(bufnr)
  local autoread = vim.bo[bufnr].autoread
  if autoread == nil then -- no value of its own
    autoread = vim.go.autoread
  end
  return autoread and not vim.bo[bufnr].modified
end

---@param bufnr integer
function M.reload_if_changed(bufnr)
  if can_reload(bufnr) and vim.uv.fs_stat(api.nvim_buf_get_name(bufnr)) then
    M.check(bufnr)
  end
end

return M

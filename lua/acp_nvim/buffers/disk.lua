-- Saves buffers without ever prompting the user.
local companions = require("acp_nvim.buffers.companions")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local stamp = require("acp_nvim.buffers.stamp")
local swap = require("acp_nvim.buffers.swap")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api

---Neovim would write "?" for characters that the file's encoding lacks.
local function can_be_encoded(bufnr)
  local encoding = text.encoding(bufnr)
  if encoding == "utf-8" then
    return true
  end
  local content = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  local there = vim.iconv(content, "utf-8", encoding)
  return there == nil or vim.iconv(there, encoding, "utf-8") == content
end

---Writing to a FIFO would block, and so would reading an undo file that is one: Neovim looks at it first.
---@return string? problem
local function not_regular(bufnr, path)
  local stat = vim.uv.fs_stat(path)
  if stat and stat.type ~= "file" then
    return "it is not a regular file any more"
  end
  for _, undo in ipairs(vim.bo[bufnr].undofile and companions.undo(path) or {}) do
    stat = vim.uv.fs_stat(undo)
    if stat and stat.type ~= "file" then
      return ("its undo file %s is not a regular file: remove it"):format(undo)
    end
  end
end

---Checks for known reasons why saving would fail.
---@return string? problem
function M.obstacle(bufnr)
  local path = lookup.real_path(bufnr)
  local own = vim.bo[bufnr].swapfile and vim.fn.swapname(bufnr) or ""
  local problem = not_regular(bufnr, path)
  if problem then
    return problem
  elseif vim.uv.fs_stat(path) and not vim.uv.fs_access(path, "W") then
    return "you have no permission to write the file"
  elseif own:sub(-4) ~= ".swp" then -- then no other swap file existed when the buffer was loaded
    return swap.foreign(path, own ~= "" and own or nil)
  end
end

---@return string message without the position in our code
local function reason(err)
  local words = tostring(err):match("^[^\n]*"):gsub('^.*Autocommands for ".-": ', "")
  return (words:gsub("^.-(E%d+:)", "%1"))
end

---@type table<integer, string> stamps of the files of buffers that are being saved
local expected = {}

---Checks the file right before it is written: other autocommands, which may be slow, have run.
---@return integer 1 when the file is unchanged
function M.may_write(bufnr)
  return stamp.of(lookup.real_path(bufnr)) == expected[bufnr] and 1 or 0
end

M.CHANGED = "the file was changed meanwhile"
local LAST_CHECK = "if !v:lua.require'acp_nvim.buffers.disk'.may_write(str2nr(expand('<abuf>'))) | throw '%s' | endif"

---@return boolean ok
---@return string words error message
local function write(bufnr)
  local ignored = vim.o.eventignore
  local is_typing = bufnr == api.nvim_get_current_buf() and api.nvim_get_mode().mode:match("^[iR]") ~= nil
  if is_typing then
    vim.opt.eventignore:append("BufWritePre") -- a formatter would change the line being typed
  end
  expected[bufnr] = stamp.of(lookup.real_path(bufnr))
  local id = api.nvim_create_autocmd("BufWritePre", { buffer = bufnr, command = LAST_CHECK:format(M.CHANGED) })
  vim.v.errmsg = ""
  local ok, err = pcall(api.nvim_buf_call, bufnr, function()
    vim.cmd("silent keepalt lockmarks write! ++p") -- the ! suppresses questions
  end)
  pcall(api.nvim_del_autocmd, id)
  if is_typing then
    vim.o.eventignore = ignored
  end
  return ok, ok and vim.v.errmsg or reason(err)
end

---@return boolean changed the lines of the buffer changed meanwhile, for example by autocommands
---@return boolean ok
---@return string words error message
local function watched_write(bufnr)
  local changed, done = false, false
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      changed = changed or not done
      return done
    end,
  })
  local ok, words = tracking.ours(bufnr, function()
    return write(bufnr)
  end)
  done = true
  return changed, ok, words
end

---@return string? problem nil when the file was written, M.CHANGED when another program changed the file first
---@return boolean? flag autocommands changed the buffer; with a problem: the file is partly written
function M.save(bufnr)
  if not can_be_encoded(bufnr) then
    return "the file's encoding lacks some of the characters"
  end
  local path, was_modified = lookup.real_path(bufnr), vim.bo[bufnr].modified
  local problem = not_regular(bufnr, path)
  if problem then
    return problem
  end
  local before = stamp.of(path)
  local changed, ok, words = watched_write(bufnr)
  local is_same = stamp.of(path) == before
  if not api.nvim_buf_is_loaded(bufnr) then
    return is_same and "an autocommand removed the buffer" or nil
  elseif vim.bo[bufnr].modified and not ok then
    local is_own_error = words:match("^E5%d%d:") or words:match("^E667:") -- not one of an autocommand
    return words, not is_same and is_own_error ~= nil
  elseif is_same and (vim.bo[bufnr].modified or not (ok or was_modified)) then
    return words ~= "" and words or "it could not be written"
  elseif not ok then
    message.news("the file was written, but an autocommand failed: " .. words)
  end
  return nil, changed
end

return M

-- Saves buffers, and is never caught in a question that Neovim would ask about it.
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local stamp = require("acp_nvim.buffers.stamp")
local swap = require("acp_nvim.buffers.swap")
local text = require("acp_nvim.buffers.text")
local tracking = require("acp_nvim.buffers.tracking")

local M = {}

local api = vim.api

---Neovim writes "?" for a character that the file's encoding lacks.
---@param bufnr integer
---@return boolean
local function can_be_encoded(bufnr)
  local encoding = text.encoding(bufnr)
  if encoding == "utf-8" then
    return true
  end
  local content = table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
  local there = vim.iconv(content, "utf-8", encoding)
  return there == nil or vim.iconv(there, encoding, "utf-8") == content
end

---To write a FIFO waits for its reader.
---@param path string
---@return string? problem
local function not_regular(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type ~= "file" and "it is not a regular file any more" or nil
end

---What is known to keep the buffer from being saved, before anything is tried.
---@param bufnr integer
---@return string? problem
function M.obstacle(bufnr)
  local path = lookup.real_path(bufnr)
  local own = vim.bo[bufnr].swapfile and vim.fn.swapname(bufnr) or ""
  local problem = not_regular(path)
  if problem then
    return problem
  elseif vim.uv.fs_stat(path) and not vim.uv.fs_access(path, "W") then
    return "the file may not be written"
  elseif own:sub(-4) ~= ".swp" then -- with that one, there was no other when the buffer was loaded
    return swap.foreign(path, own ~= "" and own or nil)
  end
end

---@param err any
---@return string without where in our code it came up
local function reason(err)
  local words = tostring(err):match("^[^\n]*"):gsub('^.*Autocommands for ".-": ', "")
  return (words:gsub("^.-(E%d+:)", "%1"))
end

---@type table<integer, string> stamps of the files of buffers that are being saved
local expected = {}

---Called when all other autocommands have run, which may take their time, and the file is written next.
---@param bufnr integer
---@return integer 1 when it is still the same
function M.may_write(bufnr)
  return stamp.of(lookup.real_path(bufnr)) == expected[bufnr] and 1 or 0
end

local CHANGED = "the file was changed meanwhile"
M.CHANGED = CHANGED
local LAST_LOOK = "if !v:lua.require'acp_nvim.buffers.disk'.may_write(str2nr(expand('<abuf>'))) | throw '%s' | endif"

---What formatters do to the line that the user is typing would not be undisturbed typing.
---@param bufnr integer
---@return string ignored events
local function untimely(bufnr)
  local is_typing = bufnr == api.nvim_get_current_buf() and api.nvim_get_mode().mode:match("^[iR]") ~= nil
  return is_typing and "BufWritePre" or ""
end

---@param bufnr integer
---@return boolean ok
---@return string words of what went wrong
local function write(bufnr)
  local ignored, more = vim.o.eventignore, untimely(bufnr)
  if more ~= "" then
    vim.opt.eventignore:append(more)
  end
  expected[bufnr] = stamp.of(lookup.real_path(bufnr))
  local id = api.nvim_create_autocmd("BufWritePre", { buffer = bufnr, command = LAST_LOOK:format(CHANGED) })
  vim.v.errmsg = ""
  local ok, err = pcall(api.nvim_buf_call, bufnr, function()
    vim.cmd("silent keepalt lockmarks write! ++p") -- with ! Neovim asks nothing
  end)
  pcall(api.nvim_del_autocmd, id)
  if more ~= "" then
    vim.o.eventignore = ignored
  end
  return ok, ok and vim.v.errmsg or reason(err)
end

---@param words string
---@return boolean Neovim's own errors of writing, not one of an autocommand
local function is_torn(words)
  return words:match("^E5%d%d:") ~= nil or words:match("^E667:") ~= nil
end

---@param bufnr integer
---@return boolean changed lines of the buffer are others since, of autocommands for example
---@return boolean ok
---@return string words
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

---@param bufnr integer
---@return string? problem nil when the file was written, M.CHANGED when somebody was quicker
---@return boolean? flag autocommands have made another text of the buffer; with a problem: the file is half written
function M.save(bufnr)
  if not can_be_encoded(bufnr) then
    return "the file's encoding lacks some of the characters"
  end
  local path, was_modified = lookup.real_path(bufnr), vim.bo[bufnr].modified
  local problem = not_regular(path)
  if problem then
    return problem
  end
  local before = stamp.of(path)
  local changed, ok, words = watched_write(bufnr)
  local is_same = stamp.of(path) == before
  if not api.nvim_buf_is_loaded(bufnr) then
    return is_same and "an autocommand removed the buffer" or nil
  elseif vim.bo[bufnr].modified and not ok then
    return words, not is_same and is_torn(words)
  elseif is_same and (vim.bo[bufnr].modified or not (ok or was_modified)) then
    return words ~= "" and words or "it could not be written"
  elseif not ok then
    message.news("the file was written, but an autocommand failed: " .. words)
  end
  return nil, changed
end

return M

-- Read-only buffers for the text of files that do not exist: deleted, or not created yet.
local named = require("acp_nvim.buffers.named")
local names = require("acp_nvim.names")
local own = require("acp_nvim.windows.own")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
local MADE_FOR = "acp_nvim_made_for" -- variable of a window: the buffer of this module that it was opened for
local CAME_FROM = "acp_nvim_came_from" -- variable of a window: the one that had the focus when it was opened

---@param path string of the file, which decides the syntax highlighting
---@return integer bufnr
function M.make(name, path)
  local bufnr = named.scratch(name .. path)
  vim.b[bufnr].acp_nvim_shadow = true
  local filetype = names.filetype(path)
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not language or not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype or "" -- 'filetype' would start language servers and other plugins
  end
  return bufnr
end

---@return boolean the buffer was made here
function M.is_of(bufnr)
  return vim.b[bufnr].acp_nvim_shadow == true
end

---Notes that a window was opened for a buffer. With the buffer it goes, too.
---@param win integer
---@param bufnr integer
---@param from? integer window that had the focus
function M.made(win, bufnr, from)
  vim.w[win][MADE_FOR] = M.is_of(bufnr) and bufnr or nil
  vim.w[win][CAME_FROM] = from or vim.w[win][CAME_FROM]
end

---Shows another buffer of this module in the window of one.
---@param win integer
---@param bufnr integer
function M.pass_on(win, bufnr)
  if vim.w[win][MADE_FOR] == api.nvim_win_get_buf(win) then
    M.made(win, bufnr)
  end
end

---@return integer? bufnr that the window had before; never one of the plugin
local function before(win)
  local other = api.nvim_win_call(win, names.alternate_buffer)
  local is_there = other > 0 and other ~= api.nvim_win_get_buf(win) and api.nvim_buf_is_loaded(other)
  return is_there and not vim.startswith(api.nvim_buf_get_name(other), "acp://") and other or nil
end

---Replaces the buffer in all its windows, which wipes it.
---@param file integer? buffer to show instead; nil: what each window has shown before
---@param closes boolean close windows that have no other buffer, else give them an empty one
function M.leave(bufnr, file, closes)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local is_made = vim.w[win][MADE_FOR] == bufnr
    local other = file or not is_made and before(win)
    local view = file and api.nvim_win_call(win, vim.fn.winsaveview)
    if other then
      switch.show(win, other)
      if view then
        api.nvim_win_call(win, function()
          vim.fn.winrestview(view)
        end)
      end
    elseif closes or is_made then
      own.close(win, true, vim.w[win][CAME_FROM])
    else
      api.nvim_win_call(win, vim.cmd.enew)
    end
  end
end

return M

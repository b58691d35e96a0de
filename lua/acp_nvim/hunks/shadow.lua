-- Read-only buffers for the text of files that do not exist: deleted, or not created yet.
local named = require("acp_nvim.buffers.named")
local names = require("acp_nvim.names")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api

---@param path string of the file, which decides the syntax highlighting
---@return integer bufnr
function M.make(name, path)
  local bufnr = named.scratch(name .. path)
  local filetype = names.filetype(path)
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not language or not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype or "" -- 'filetype' would start language servers and other plugins
  end
  return bufnr
end

---Replaces the buffer in all its windows, which wipes it.
---@param file integer? buffer to show instead; nil: each window's alternate buffer
---@param closes boolean close windows that have no other buffer, else give them an empty one
function M.leave(bufnr, file, closes)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local other = file or api.nvim_win_call(win, function()
      return names.alternate_buffer()
    end)
    if other > 0 and other ~= bufnr and api.nvim_buf_is_loaded(other) then
      switch.show(win, other)
    elseif not closes or not pcall(api.nvim_win_close, win, true) then
      api.nvim_win_call(win, vim.cmd.enew)
    end
  end
end

return M

-- Buffers with the text of files that are not there, deleted or not made yet: read-only, and no file of anybody.
local named = require("acp_nvim.buffers.named")

local M = {}

local api = vim.api

---@param name string
---@param path string of the file, for the colours of its text
---@return integer bufnr
function M.make(name, path)
  local bufnr = named.scratch(name .. path)
  local filetype = vim.filetype.match({ filename = path })
  local language = filetype and vim.treesitter.language.get_lang(filetype)
  if not language or not pcall(vim.treesitter.start, bufnr, language) then
    vim.bo[bufnr].syntax = filetype or "" -- not the filetype: nobody should work on what is no file
  end
  return bufnr
end

---Shows something else in all its windows, so that it is gone.
---@param bufnr integer
---@param file integer? buffer that has taken its place
---@param closes boolean else a window without another buffer gets an empty one
function M.leave(bufnr, file, closes)
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local other = file or api.nvim_win_call(win, function()
      return vim.fn.bufnr("#")
    end)
    if other > 0 and other ~= bufnr and api.nvim_buf_is_loaded(other) then
      api.nvim_win_set_buf(win, other)
    elseif not closes or not pcall(api.nvim_win_close, win, true) then
      api.nvim_win_call(win, vim.cmd.enew)
    end
  end
end

return M

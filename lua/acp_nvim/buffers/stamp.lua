-- Identifies states of files, and tells Neovim which state a buffer is based on.
local file_check = require("acp_nvim.buffers.file_check")
local handled = require("acp_nvim.buffers.handled")

local M = {}

local api = vim.api

---Returns a string that is equal for the same, unchanged file. The host computes it in the same way.
---@return string? stamp nil when there is no file
function M.of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%.0f:%.0f:%.0f:%d.%d"):format(stat.dev, stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

---Makes Neovim take the present file for the one that the buffer has read, so that writing it raises no warning. Neovim
---has no function for this, but does it after a write that an autocommand performs. This autocommand writes nothing. If it
---does not run, neither does Neovim write: a buffer that is not compared with its file has no other way to be written.
function M.settle(bufnr)
  if vim.bo[bufnr].buftype ~= "" or handled.is_written_by_others(bufnr) then
    return
  end
  local id = api.nvim_create_autocmd("BufWriteCmd", { buffer = bufnr, callback = function() end })
  file_check.with_autocommands(function()
    file_check.without({ bufnr }, function()
      api.nvim_buf_call(bufnr, function()
        vim.cmd("silent! keepalt lockmarks write!")
      end)
    end)
  end)
  api.nvim_del_autocmd(id)
end

return M

-- Which state of a file a buffer stands for: read from the disk, and told to Neovim when the buffer was brought up to it.
local M = {}

local api = vim.api

---Equal stamps mean the same file, unchanged; the host makes them in the same way.
---@param path string
---@return string? stamp nil when there is no such file
function M.of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and ("%.0f:%.0f:%.0f:%d.%d"):format(stat.dev, stat.ino, stat.size, stat.mtime.sec, stat.mtime.nsec)
end

---@param pattern string of an autocommand
---@param name string
---@return boolean
local function matches(pattern, name)
  local subject = pattern:find("/", 1, true) and name or vim.fs.basename(name)
  return vim.regex(vim.fn.glob2regpat(pattern)):match_str(subject) ~= nil
end

---@param bufnr integer
---@return boolean another plugin writes this buffer
local function is_written_by_others(bufnr)
  local name = api.nvim_buf_get_name(bufnr)
  for _, autocmd in ipairs(api.nvim_get_autocmds({ event = "BufWriteCmd" })) do
    if autocmd.buffer == bufnr then
      return true
    elseif not autocmd.buffer and matches(autocmd.pattern, name) then
      return true
    end
  end
  return false
end

---Neovim takes the file as it is now for what the buffer has read: no warning, no question when the buffer is written.
---There is no function for it; Neovim does it itself after a write that an autocommand has taken over, and this one
---writes nothing.
---@param bufnr integer
function M.settle(bufnr)
  if vim.bo[bufnr].buftype ~= "" or is_written_by_others(bufnr) then
    return
  end
  local id = api.nvim_create_autocmd("BufWriteCmd", { buffer = bufnr, callback = function() end })
  M.with_autocommands(function()
    api.nvim_buf_call(bufnr, function()
      vim.cmd("silent! keepalt lockmarks write!")
    end)
  end)
  api.nvim_del_autocmd(id)
end

---@param run fun() whose autocommands are fired although somebody wants to have all ignored
function M.with_autocommands(run)
  local ignored = vim.o.eventignore
  if ignored ~= "" then
    vim.o.eventignore = ""
  end
  pcall(run)
  if ignored ~= "" then
    vim.o.eventignore = ignored
  end
end

return M

-- Creates the plugin's buffers, or reuses buffers that were left with their names.
local sessions = require("acp_nvim.host.sessions")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.named", {})

---Returns a buffer of that name that :mksession or :bdelete left, unless a session owns it.
---@return integer? bufnr loaded
local function left(name)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_get_name(bufnr) == name and not sessions.of_buffer(bufnr) then
      api.nvim_clear_autocmds({ group = GROUP, buffer = bufnr })
      vim.bo[bufnr].buftype = "nofile"
      vim.bo[bufnr].swapfile = false
      vim.fn.bufload(bufnr)
      return bufnr
    end
  end
end

---@param words string what the buffer shows
---@return string name without a further slash: a tab line shortens each part but the last to a letter
function M.name(words)
  return "acp://" .. words:gsub("/", "∕")
end

---@param name string with a number added if another buffer has it
---@return integer bufnr
function M.new(name)
  local bufnr = api.nvim_create_buf(false, true)
  vim.b[bufnr].editorconfig = false -- it is for files, and would be loaded by the name
  if not pcall(api.nvim_buf_set_name, bufnr, name) then
    pcall(api.nvim_buf_set_name, bufnr, ("%s#%d"):format(name, bufnr))
  end
  return bufnr
end

---@type table<integer, string> buffer -> the name that it gets now
local to = {}

---Only for `rename`, which calls it without autocommands.
function M.set_name(bufnr)
  api.nvim_buf_set_name(bufnr, to[bufnr])
end

---@param bufnr integer of the plugin
---@param name string
function M.rename(bufnr, name)
  to[bufnr] = name
  vim.cmd(("silent noautocmd call v:lua.require'acp_nvim.buffers.named'.set_name(%d)"):format(bufnr))
  to[bufnr] = nil
end

---@return integer bufnr
function M.get(name)
  return left(name) or M.new(name)
end

---Sets a filetype without FileType autocommands: those run when a window shows the buffer, see `windows/own.lua`.
---@param filetype string
function M.set_filetype(bufnr, filetype)
  vim.cmd(("noautocmd call nvim_set_option_value('filetype', '%s', {'buf': %d})"):format(filetype, bufnr))
end

---@return integer bufnr read-only buffer that only `fill` changes; wiped out when no window shows it
function M.scratch(name)
  local bufnr = M.get(name)
  local options = { buftype = "nofile", bufhidden = "wipe", swapfile = false, undolevels = -1, modifiable = false }
  for option, value in pairs(options) do
    vim.bo[bufnr][option] = value
  end
  return bufnr
end

---@param bufnr integer of `scratch`
function M.fill(bufnr, lines)
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  vim.bo[bufnr].modifiable = false
end

---@param fill fun() called when the buffer was emptied to be read again, by :edit or after :bdelete
function M.on_read(bufnr, fill)
  api.nvim_clear_autocmds({ group = GROUP, buffer = bufnr })
  api.nvim_create_autocmd("BufReadCmd", { group = GROUP, buffer = bufnr, callback = fill })
end

return M

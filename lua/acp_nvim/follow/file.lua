-- Opens the files that the agent works on, if they are such that one can look at them.
local file_buffer = require("acp_nvim.file_buffer")
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.follow.file", {})
local UTF16 = { ["\255\254"] = true, ["\254\255"] = true }

---@type integer[] buffers that nobody has entered since they were opened here, the oldest first
local opened = {}

---@param path string
---@return boolean a text that is not too long to be shown in passing
local function is_text(path)
  local head = file_buffer.read(path, limits.follow_head_bytes, limits.follow_bytes)
  return head ~= nil and (UTF16[head:sub(1, 2)] or not head:find("\0", 1, true))
end

---@param bufnr integer
local function is_idle(bufnr)
  return api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modified and #vim.fn.win_findbuf(bufnr) == 0
end

---Buffers that nobody has looked into do not pile up.
local function unload_oldest()
  while #opened > limits.follow_buffers do
    local bufnr = table.remove(opened, 1)
    if api.nvim_buf_is_valid(bufnr) and not vim.bo[bufnr].buflisted and is_idle(bufnr) then
      pcall(api.nvim_buf_delete, bufnr, { unload = true })
    end
  end
end

---@param bufnr integer that the user has come to
local function keep(bufnr)
  for index, one in ipairs(opened) do
    if one == bufnr then
      table.remove(opened, index)
      vim.bo[bufnr].buflisted = true
      return
    end
  end
end

---@param path string
---@return integer? bufnr loaded; nil when there is nothing to be seen
function M.load(path)
  if not is_text(path) then
    return nil
  end
  local ok, bufnr = pcall(file_buffer.load, path, limits.follow_bytes)
  if not ok or not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  if not vim.bo[bufnr].buflisted then
    opened[#opened + 1] = bufnr
    unload_oldest()
  end
  return bufnr
end

api.nvim_create_autocmd("BufEnter", {
  group = GROUP,
  callback = function(event)
    keep(event.buf)
  end,
})

return M

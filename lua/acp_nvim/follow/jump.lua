-- Makes a window show a place where the agent is, the line lit for a moment; nothing else is changed by it. Of files that
-- nobody has opened it loads those that one can look at.
local file_buffer = require("acp_nvim.windows.file_buffer")
local windows = require("acp_nvim.windows.open")
local winbar = require("acp_nvim.review.winbar")

local M = {}

local api = vim.api
local FOLLOW_LIGHT_MS = 800 -- how long the line stays lit
local LIGHT = api.nvim_create_namespace("acp_nvim.follow.light")
local FOLLOW_BYTES = 256 * 1024 -- of a file that is opened to follow the agent: read and coloured within a frame
local FOLLOW_HEAD_BYTES = 8192 -- of a file, in which a NUL says that it is no text
-- That were opened to follow the agent and that nobody has entered: as many as one goes back to
local FOLLOW_BUFFERS = 20
local GROUP = api.nvim_create_augroup("acp_nvim.follow.file", {})
local UTF16 = { ["\255\254"] = true, ["\254\255"] = true }

---@type uv.uv_timer_t
local timer = assert(vim.uv.new_timer())
---@type integer? buffer with the line that is lit
local lit

local function dark()
  timer:stop()
  if lit and api.nvim_buf_is_valid(lit) then
    api.nvim_buf_clear_namespace(lit, LIGHT, 0, -1)
  end
  lit = nil
end

---@param bufnr integer
---@param row integer
local function light(bufnr, row)
  dark()
  api.nvim_buf_set_extmark(bufnr, LIGHT, row, 0, { line_hl_group = "AcpFollowLine", undo_restore = false })
  lit = bufnr
  timer:start(FOLLOW_LIGHT_MS, 0, vim.schedule_wrap(dark))
end

---One entry in the jump list for where the user was.
---@param win integer
function M.remember(win)
  api.nvim_win_call(win, function()
    vim.cmd("mark '")
  end)
end

---@param win integer
---@param line integer
local function go_to(win, line)
  api.nvim_win_call(win, function()
    if vim.fn.foldclosed(line) > 0 then
      vim.cmd(("silent! %dfoldopen!"):format(line))
    end
    local is_seen = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
    if not is_seen then
      vim.fn.winrestview({ topline = math.max(1, line - math.floor(api.nvim_win_get_height(win) / 2)) })
    end
    api.nvim_win_set_cursor(win, { line, 0 })
  end)
end

---@param win integer not the current one
---@param bufnr integer loaded
---@param line? integer
function M.show(win, bufnr, line)
  windows.show_unasked(win, bufnr)
  winbar.update()
  if line then
    line = math.max(1, math.min(line, api.nvim_buf_line_count(bufnr)))
    go_to(win, line)
    light(bufnr, line - 1)
  end
end

---@type integer[] buffers that nobody has entered since they were opened here, the oldest first
local opened = {}

---@param path string
---@return boolean a text that is not too long to be shown in passing
local function is_text(path)
  local head = file_buffer.read(path, FOLLOW_HEAD_BYTES, FOLLOW_BYTES)
  return head ~= nil and (UTF16[head:sub(1, 2)] or not head:find("\0", 1, true))
end

---@param bufnr integer
local function is_idle(bufnr)
  return api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modified and #vim.fn.win_findbuf(bufnr) == 0
end

---Buffers that nobody has looked into do not pile up.
local function unload_oldest()
  while #opened > FOLLOW_BUFFERS do
    local bufnr = table.remove(opened, 1)
    if api.nvim_buf_is_valid(bufnr) and not vim.bo[bufnr].buflisted and is_idle(bufnr) then
      pcall(api.nvim_buf_delete, bufnr, { unload = true })
    end
  end
end

---The user has come to a buffer.
---@param event vim.api.keyset.create_autocmd.callback_args
local function keep(event)
  for index, bufnr in ipairs(opened) do
    if bufnr == event.buf then
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
  local ok, bufnr = pcall(file_buffer.load, path, FOLLOW_BYTES)
  if not ok or not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  if not vim.bo[bufnr].buflisted then
    opened[#opened + 1] = bufnr
    unload_oldest()
  end
  return bufnr
end

api.nvim_create_autocmd("BufEnter", { group = GROUP, callback = keep })

return M

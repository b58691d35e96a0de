-- Makes a window show a place, the line lit for a moment; nothing else is changed by it.
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local LIGHT = api.nvim_create_namespace("acp_nvim.follow.light")

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
  timer:start(limits.follow_light_ms, 0, vim.schedule_wrap(dark))
end

---One entry in the jump list for where the user was.
---@param win integer
function M.remember(win)
  api.nvim_win_call(win, function()
    vim.cmd("mark '")
  end)
end

---Autocommands of windows are for users who go there.
---@param win integer
---@param bufnr integer
local function put(win, bufnr)
  vim.cmd(("noautocmd keepalt keepjumps call nvim_win_set_buf(%d, %d)"):format(win, bufnr))
  require("acp_nvim.review.winbar").update()
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
  if api.nvim_win_get_buf(win) ~= bufnr then
    put(win, bufnr)
  end
  if line then
    line = math.max(1, math.min(line, api.nvim_buf_line_count(bufnr)))
    go_to(win, line)
    light(bufnr, line - 1)
  end
end

return M

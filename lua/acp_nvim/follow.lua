-- Shows in a code window where the agent works; never takes the focus.
local code_window = require("acp_nvim.code_window")
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api
local LIGHT = api.nvim_create_namespace("acp_nvim.follow")

---@type boolean? what :AcpFollow said
local override
---@type table<integer, { bufnr: integer, line: integer }> window -> where following left it
local left_at = {}

---@return boolean
local function wanted()
  if override ~= nil then
    return override
  end
  local enabled = config.get().follow.enabled
  if enabled == "auto" then
    return sessions.of_buffer(api.nvim_get_current_buf()) ~= nil
  end
  return enabled
end

---@return boolean
local function mode_allows()
  local mode = api.nvim_get_mode()
  return not mode.blocking and mode.mode:match("^[niRvV\22st]") ~= nil and vim.fn.pumvisible() == 0
end

---@param path string
---@return integer? bufnr loaded
local function load(path)
  local stat = vim.uv.fs_stat(path)
  if not stat or stat.type ~= "file" or stat.size > limits.follow_bytes then
    return nil
  end
  return code_window.load(path)
end

---@param bufnr integer
---@param row integer
local function light(bufnr, row)
  api.nvim_buf_clear_namespace(bufnr, LIGHT, 0, -1)
  api.nvim_buf_set_extmark(bufnr, LIGHT, row, 0, { line_hl_group = "AcpFollowLine" })
  vim.defer_fn(function()
    if api.nvim_buf_is_valid(bufnr) then
      api.nvim_buf_clear_namespace(bufnr, LIGHT, 0, -1)
    end
  end, limits.follow_light_ms)
end

---One entry in the jump list for where the user was, not one for each place of the agent.
---@param win integer
local function mark_jump(win)
  local left = left_at[win]
  local line = api.nvim_win_get_cursor(win)[1]
  if not left or left.bufnr ~= api.nvim_win_get_buf(win) or left.line ~= line then
    api.nvim_win_call(win, function()
      vim.cmd("normal! m'")
    end)
  end
end

---@param win integer
---@param bufnr integer
---@param line integer
local function show(win, bufnr, line)
  mark_jump(win)
  if api.nvim_win_get_buf(win) ~= bufnr then
    api.nvim_win_set_buf(win, bufnr)
  end
  line = math.max(1, math.min(line, api.nvim_buf_line_count(bufnr)))
  api.nvim_win_call(win, function()
    local seen = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
    api.nvim_win_set_cursor(win, { line, 0 })
    if not seen then
      vim.cmd("normal! zvzz")
    end
  end)
  left_at[win] = { bufnr = bufnr, line = line }
  light(bufnr, line - 1)
end

---@param location acp.Location
function M.go(location)
  if not wanted() or not mode_allows() then
    return
  end
  local win = code_window.other()
  local bufnr = win and load(location.path)
  if win and bufnr and code_window.can_leave(win, bufnr) then
    local same = api.nvim_win_get_buf(win) == bufnr
    show(win, bufnr, location.line or (same and api.nvim_win_get_cursor(win)[1]) or 1)
  end
end

---Begins to notice which code window is used.
M.watch = code_window.watch

---@param to? boolean nil toggles
---@return boolean on
function M.set(to)
  if to == nil then
    local enabled = override
    if enabled == nil then
      enabled = config.get().follow.enabled ~= false
    end
    to = not enabled
  end
  override = to
  code_window.watch()
  return to
end

return M

-- Shows where each agent is, in every buffer that has the file; dimmed when its turn is over.
local config = require("acp_nvim.config")
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.sign")
local GROUP = api.nvim_create_augroup("acp_nvim.follow.sign", {})

---@class acp.AgentPlace
---@field path string real
---@field line? integer nil: not known
---@field is_over? boolean the turn is

---@type table<integer, acp.AgentPlace> by session
local places = {}

---@return string at most two cells
local function sign_text()
  local text = config.get().follow.sign:gsub("%c", "")
  while vim.fn.strdisplaywidth(text) > 2 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text
end

---@param bufnr integer
---@param key integer
---@param row integer
local function draw(bufnr, key, row)
  local text = sign_text()
  if text ~= "" then
    api.nvim_buf_set_extmark(bufnr, NS, math.max(0, math.min(row, api.nvim_buf_line_count(bufnr) - 1)), 0, {
      id = key,
      sign_text = text,
      sign_hl_group = places[key].is_over and "AcpAgentSignOver" or "AcpAgentSign",
      priority = 12, -- more than those of changes under review, less than those of debuggers
      undo_restore = false,
    })
  end
end

---@param key integer
---@param run fun(bufnr: integer, row: integer)
local function each_mark(key, run)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local at = api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_extmark_by_id(bufnr, NS, key, {}) or {}
    if at[1] then
      run(bufnr, at[1])
    end
  end
end

---@param key integer
local function remove(key)
  each_mark(key, function(bufnr)
    api.nvim_buf_del_extmark(bufnr, NS, key)
  end)
end

---@param event vim.api.keyset.create_autocmd.callback_args a file was read
local function show_in(event)
  local bufnr = event.buf
  for key, place in pairs(places) do
    if place.line and lookup.is_file(bufnr) and lookup.real_path(bufnr) == place.path then
      draw(bufnr, key, place.line - 1)
    end
  end
end

---The text is thrown away, to be read again: the marks go with it.
---@param event vim.api.keyset.create_autocmd.callback_args
local function keep_rows(event)
  for key, place in pairs(places) do
    local at = api.nvim_buf_get_extmark_by_id(event.buf, NS, key, {})
    place.line = at[1] and at[1] + 1 or place.line
  end
end

---@param key integer of the session
---@param location acp.FileLine
---@param is_over boolean no turn runs
function M.set(key, location, is_over)
  local path = lookup.real(location.path)
  local before = places[key]
  if before and before.path == path and not location.line then
    return -- it is in that file, as was known
  end
  remove(key)
  places[key] = { path = path, line = location.line, is_over = is_over }
  for _, bufnr in ipairs(location.line and lookup.file_buffers() or {}) do
    if lookup.real_path(bufnr) == path then
      draw(bufnr, key, location.line - 1)
    end
  end
end

---The turn is over: that is where the agent was last.
---@param key integer
function M.over(key)
  if places[key] then
    places[key].is_over = true
    each_mark(key, function(bufnr, row)
      draw(bufnr, key, row)
    end)
  end
end

---@param key integer
function M.clear(key)
  places[key] = nil
  remove(key)
end

---@return integer[] sessions whose agents are somewhere
function M.sessions()
  return vim.tbl_keys(places)
end

for _, bufnr in ipairs(api.nvim_list_bufs()) do -- left by modules that were loaded before these
  api.nvim_buf_clear_namespace(bufnr, NS, 0, -1)
end
api.nvim_create_autocmd({ "BufReadPost", "BufFilePost" }, { group = GROUP, callback = show_in })
api.nvim_create_autocmd("BufUnload", { group = GROUP, callback = keep_rows })

return M

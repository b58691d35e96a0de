-- Shows a sign where each agent works, in every buffer of that file; dims it when the turn ends.
local config = require("acp_nvim.config")
local lookup = require("acp_nvim.buffers.lookup")
local position = require("acp_nvim.kernel.position")

local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.sign")
local GROUP = api.nvim_create_augroup("acp_nvim.follow.sign", {})

---@class acp.AgentPlace
---@field path string real path
---@field line? integer nil: unknown
---@field is_over? boolean the turn has ended

---@type table<integer, acp.AgentPlace> by session key
local places = {}

---@return string at most two cells
local function sign_text()
  local text = config.get().follow.sign:gsub("%c", "")
  while vim.fn.strdisplaywidth(text) > 2 do
    text = vim.fn.strcharpart(text, 0, vim.fn.strchars(text) - 1)
  end
  return text
end

local function draw(bufnr, key, row)
  local text = sign_text()
  if text ~= "" then
    api.nvim_buf_set_extmark(bufnr, NS, position.in_buffer(bufnr, row + 1) - 1, 0, {
      id = key,
      sign_text = text,
      sign_hl_group = places[key].is_over and "AcpAgentSignOver" or "AcpAgentSign",
      priority = 12, -- above the signs of the review, below those of debuggers
      undo_restore = false,
    })
  end
end

---@param run fun(bufnr: integer, row: integer)
local function each_mark(key, run)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    local at = api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_extmark_by_id(bufnr, NS, key, {}) or {}
    if at[1] then
      run(bufnr, at[1])
    end
  end
end

local function remove(key)
  each_mark(key, function(bufnr)
    api.nvim_buf_del_extmark(bufnr, NS, key)
  end)
end

local function show_in(event)
  local bufnr = event.buf
  for key, place in pairs(places) do
    if place.line and lookup.is_file(bufnr) and lookup.real_path(bufnr) == place.path then
      draw(bufnr, key, place.line - 1)
    end
  end
end

---Saves the rows of the marks, which are deleted when the buffer is unloaded to be read again.
local function keep_rows(event)
  for key, place in pairs(places) do
    local at = api.nvim_buf_get_extmark_by_id(event.buf, NS, key, {})
    place.line = at[1] and at[1] + 1 or place.line
  end
end

---@param key integer of the session
---@param location acp.FileLine
---@param is_over boolean no turn is running
function M.set(key, location, is_over)
  local path = lookup.real(location.path)
  local before = places[key]
  if before and before.path == path and not location.line then
    return -- a location without a line says nothing new about the same file
  end
  remove(key)
  places[key] = { path = path, line = location.line, is_over = is_over }
  for _, bufnr in ipairs(location.line and lookup.file_buffers() or {}) do
    if lookup.real_path(bufnr) == path then
      draw(bufnr, key, location.line - 1)
    end
  end
end

---Dims the sign: the turn has ended.
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

---@return integer[] keys of the sessions with a known location
function M.sessions()
  return vim.tbl_keys(places)
end

for _, bufnr in ipairs(api.nvim_list_bufs()) do -- left by modules before a reload
  api.nvim_buf_clear_namespace(bufnr, NS, 0, -1)
end
api.nvim_create_autocmd({ "BufReadPost", "BufFilePost" }, { group = GROUP, callback = show_in })
api.nvim_create_autocmd("BufUnload", { group = GROUP, callback = keep_rows })

return M

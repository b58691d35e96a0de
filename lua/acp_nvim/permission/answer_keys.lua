-- Maps the keys that answer permission requests; a chat buffer has them only while a request waits there.
local blocks = require("acp_nvim.permission.request")
local config = require("acp_nvim.config")
local temporary_keymaps = require("acp_nvim.keys.temporary")
local message = require("acp_nvim.kernel.message")
local options = require("acp_nvim.permission.options")
local preview_view = require("acp_nvim.review.previews.view")
local previews = require("acp_nvim.review.previews")
local visibility = require("acp_nvim.permission.visibility")
local transcript = require("acp_nvim.transcript")

local M = {}

---Kinds of options that have a key of their own.
M.KINDS = { "allow_once", "allow_always", "reject_once", "reject_always" }

---@alias acp.Answer fun(id: integer, option_id: string)

---Returns the key of each option: the first option of a kind gets that kind's key.
---@return table<string, string> option_id -> key
function M.letters(request)
  local letters, taken = {}, {}
  for _, option in ipairs(request.options or {}) do
    if vim.list_contains(M.KINDS, option.kind) and not taken[option.kind] then
      taken[option.kind] = true
      letters[option.option_id] = config.keys(option.kind)[1]
    end
  end
  return letters
end

---@return string? option_id of the first option of that kind
---@return string? name
function M.first_of(request, kind)
  for _, option in ipairs(request.options or {}) do
    if option.kind == kind then
      return option.option_id, option.name
    end
  end
end

---Explains why a key that allows does nothing when the request can only be rejected.
function M.warn_reject_only(request)
  if request.left_out then
    message.news(blocks.rejects_only(request), vim.log.levels.WARN)
  end
end

local function find_option(request, option_id)
  for number, option in ipairs(request.options or {}) do
    if option.option_id == option_id then
      return option, number
    end
  end
end

---@return string? key that chooses the option
function M.key_of(request, option_id)
  local _, number = find_option(request, option_id)
  return M.letters(request)[option_id] or number and tostring(number)
end

---@return boolean whether the option rejects; false for unknown kinds
function M.rejects(request, option_id)
  local option = find_option(request, option_id)
  return option ~= nil and (option.kind == "reject_once" or option.kind == "reject_always")
end

---@return acp.Pending? pending the one under the cursor
---@return acp.Block? block under the cursor
---@return integer? offset of the cursor's row in the block
local function under_cursor(session, waiting)
  local block, offset = transcript.block_at(session, vim.api.nvim_win_get_cursor(0)[1] - 1)
  for _, pending in ipairs(waiting) do
    if block and block.id == pending.block then
      return pending, block, offset
    end
  end
  return nil, block, offset
end

---Returns the request that a key answers: the one under the cursor, else the oldest. When the oldest is off the screen, or
---the cursor is on a request that was just answered (a key pressed twice), moves the cursor there and returns nil, so that
---users answer only what they have seen. The only waiting request can be rejected without being on the screen.
---@param waiting acp.Pending[] oldest first
local function request_for_key(session, waiting, rejects)
  local pending, block = under_cursor(session, waiting)
  if pending then
    return pending.request
  end
  local oldest = transcript.block(session, waiting[1].block)
  local row = oldest and transcript.rows(session, oldest)
  local line = row and row + 1
  local is_visible = line and line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
  local is_clear = is_visible or rejects and #waiting == 1
  if is_clear and not (block and block.kind == "permission") then
    return waiting[1].request
  elseif line then
    visibility.expect_redraw()
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

local function answer_unless_ahead(request, option_id, answer)
  -- a key before it has moved the cursor, and nobody has seen yet where it is
  if M.rejects(request, option_id) or not visibility.is_redraw_expected() then
    answer(request.id, option_id)
  end
end

---Maps the keys of the kinds of options, and a number for each option.
---@param count integer of options
---@param handler fun(choose: (fun(request: acp.Request): string?), kind?: string): fun() returns what a key does
local function map_answers(bufnr, count, handler)
  for _, kind in ipairs(M.KINDS) do
    local run = handler(function(request)
      return M.first_of(request, kind)
    end, kind)
    for _, key in ipairs(config.keys(kind)) do
      temporary_keymaps.map(bufnr, "n", key, run, "acp: " .. kind:gsub("_", " "))
    end
  end
  for number = 1, count do
    local run = handler(function(request)
      return request.options[number] and request.options[number].option_id
    end)
    local waits = number * 10 <= count -- larger numbers begin with this one
    temporary_keymaps.map(bufnr, "n", tostring(number), run, ("acp: option %d"):format(number), waits)
  end
end

---Maps all keys that answer a request in a buffer that shows only this request.
---@param answers_with fun(choose: fun(request: acp.Request): string?): fun() returns what a key does
---@param option_here fun(): string? returns the option under the cursor
function M.map_all(bufnr, request, answers_with, option_here)
  map_answers(bufnr, #(request.options or {}), answers_with)
  for _, key in ipairs(config.keys("choose")) do
    temporary_keymaps.map(bufnr, "n", key, answers_with(option_here), "acp: choose this option")
  end
end

---Maps the key that previews the changes of the request under the cursor, else of the oldest request that has changes.
local function map_preview(session, waiting)
  local function first_with_preview()
    return vim.iter(waiting):find(function(pending)
      return #previews.of_request(pending.request.id) > 0
    end)
  end
  for _, key in ipairs(first_with_preview() and config.keys("preview") or {}) do
    temporary_keymaps.map(session.bufnr, "n", key, function()
      local pending = under_cursor(session, waiting) or first_with_preview()
      if pending then
        preview_view.open(pending.request.id)
      end
    end, "acp: preview")
  end
end

---Maps the keys for the requests that wait in a chat, or removes them when there are none.
---@param waiting acp.Pending[] of this session, oldest first
---@param answer acp.Answer
function M.refresh(session, waiting, answer)
  local bufnr = session.bufnr
  if not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  temporary_keymaps.unmap(bufnr)
  if #waiting == 0 then
    return
  end
  local most = 0
  for _, pending in ipairs(waiting) do
    most = math.max(most, #pending.request.options)
  end
  map_answers(bufnr, most, function(choose, kind)
    return function()
      local request = request_for_key(session, waiting, kind ~= nil and vim.startswith(kind, "reject"))
      local option_id = request and choose(request)
      if request and option_id then
        answer_unless_ahead(request, option_id, answer)
      elseif request and kind then
        M.warn_reject_only(request)
      end
    end
  end)
  map_preview(session, waiting)
  for _, key in ipairs(config.keys("choose")) do
    temporary_keymaps.map(bufnr, "n", key, function()
      local pending, block, offset = under_cursor(session, waiting)
      local column = vim.api.nvim_win_get_cursor(0)[2]
      local places = pending and block and block.rendered and block.rendered.options
      local option_id = options.at(places, offset --[[@as integer]], column)
      if pending and option_id then
        answer_unless_ahead(pending.request, option_id, answer)
      else
        temporary_keymaps.below(bufnr, "n", key)
      end
    end, "acp: choose this option")
  end
end

return M

-- The keys that answer permissions: in the chat buffer, only while a permission waits there.
local blocks = require("acp_nvim.chat.blocks.permission")
local config = require("acp_nvim.config")
local covering_keys = require("acp_nvim.temporary_keymaps")
local message = require("acp_nvim.message")
local preview_view = require("acp_nvim.review.preview_view")
local previews = require("acp_nvim.review.previews")
local sight = require("acp_nvim.permission.sight")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

---The kinds of answers that have a letter.
M.KINDS = { "allow_once", "allow_always", "reject_once", "reject_always" }

---@alias acp.Answer fun(id: integer, option_id: string)

---The letter of each option: the first option of a kind has that kind's.
---@param request acp.Request
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

---@param request acp.Request
---@param kind string
---@return string? option_id of the first option of that kind
---@return string? name
function M.first_of(request, kind)
  for _, option in ipairs(request.options or {}) do
    if option.kind == kind then
      return option.option_id, option.name
    end
  end
end

---Says why a key that allows does nothing.
---@param request acp.Request
function M.tell_left_out(request)
  if request.left_out then
    message.news(blocks.rejects_only(request), vim.log.levels.WARN)
  end
end

---@param request acp.Request
---@param option_id string
---@return string? key that chooses it
function M.key_of(request, option_id)
  local letter = M.letters(request)[option_id]
  for number, option in ipairs(letter and {} or request.options or {}) do
    if option.option_id == option_id then
      return tostring(number)
    end
  end
  return letter
end

---@param request acp.Request
---@param option_id string
---@return boolean the option says no; what a kind means that nobody here knows is not known
function M.rejects(request, option_id)
  for _, option in ipairs(request.options or {}) do
    if option.option_id == option_id then
      return option.kind == "reject_once" or option.kind == "reject_always"
    end
  end
  return false
end

---@param session acp.Session
---@param waiting acp.Pending[]
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

---The request that a key answers: the one under the cursor, else the oldest. Nobody answers what they have not seen: when
---that is out of sight, or the cursor is on one that was just answered (a key pressed twice), the cursor goes there instead.
---To reject the only one that waits it need not be in sight.
---@param session acp.Session
---@param waiting acp.Pending[] oldest first
---@param rejects boolean
---@return acp.Request?
local function meant(session, waiting, rejects)
  local pending, block = under_cursor(session, waiting)
  if pending then
    return pending.request
  end
  local row = transcript.row(session, waiting[1].block)
  local line = row and row + 1
  local in_sight = line and line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
  local is_sure = in_sight or rejects and #waiting == 1
  if is_sure and not (block and block.kind == "permission") then
    return waiting[1].request
  elseif line then
    sight.pressed()
    vim.api.nvim_win_set_cursor(0, { line, 0 })
  end
end

---@param request acp.Request
---@param option_id string
---@param answer acp.Answer
local function answer_unless_ahead(request, option_id, answer)
  -- a key before it has moved the cursor, and nobody has seen yet where it is
  if M.rejects(request, option_id) or not sight.is_ahead() then
    answer(request.id, option_id)
  end
end

---Maps the keys of the kinds of answers, and the numbers of options.
---@param bufnr integer
---@param count integer of options
---@param does fun(choose: (fun(request: acp.Request): string?), kind?: string): fun() what a key does
local function map_answers(bufnr, count, does)
  for _, kind in ipairs(M.KINDS) do
    local run = does(function(request)
      return M.first_of(request, kind)
    end, kind)
    for _, key in ipairs(config.keys(kind)) do
      covering_keys.map(bufnr, "n", key, run, "acp: " .. kind:gsub("_", " "))
    end
  end
  for number = 1, count do
    local run = does(function(request)
      return request.options[number] and request.options[number].option_id
    end)
    local waits = number * 10 <= count -- other numbers begin with this one
    covering_keys.map(bufnr, "n", tostring(number), run, ("acp: option %d"):format(number), waits)
  end
end

---Maps all keys that answer one request, where nothing else waits.
---@param bufnr integer
---@param request acp.Request
---@param answers_with fun(choose: fun(request: acp.Request): string?): fun() what a key does
---@param option_here fun(): string? option under the cursor
function M.map_all(bufnr, request, answers_with, option_here)
  map_answers(bufnr, #(request.options or {}), answers_with)
  for _, key in ipairs(config.keys("choose")) do
    covering_keys.map(bufnr, "n", key, answers_with(option_here), "acp: choose this option")
  end
end

---Maps the key that shows the change of a request in its files: of the one under the cursor, else of the oldest one, as
---far as there is something to be seen.
---@param session acp.Session
---@param waiting acp.Pending[]
local function map_preview(session, waiting)
  local first = vim.iter(waiting):find(function(pending)
    return #previews.of_request(pending.request.id) > 0
  end)
  for _, key in ipairs(first and config.keys("preview") or {}) do
    covering_keys.map(session.bufnr, "n", key, function()
      local pending = under_cursor(session, waiting)
      pending = pending
        or vim.iter(waiting):find(function(one)
          return #previews.of_request(one.request.id) > 0
        end)
      if pending then
        preview_view.open(pending.request.id)
      end
    end, "acp: preview")
  end
end

---Makes the keys fit what waits in this chat.
---@param session acp.Session
---@param waiting acp.Pending[] of this session, oldest first
---@param answer acp.Answer
function M.refresh(session, waiting, answer)
  local bufnr = session.bufnr
  if not bufnr or not vim.api.nvim_buf_is_loaded(bufnr) then
    return
  end
  covering_keys.unmap(bufnr)
  if #waiting == 0 then
    return
  end
  local most = 0
  for _, pending in ipairs(waiting) do
    most = math.max(most, #pending.request.options)
  end
  map_answers(bufnr, most, function(choose, kind)
    return function()
      local request = meant(session, waiting, kind ~= nil and vim.startswith(kind, "reject"))
      local option_id = request and choose(request)
      if request and option_id then
        answer_unless_ahead(request, option_id, answer)
      elseif request and kind then
        M.tell_left_out(request)
      end
    end
  end)
  map_preview(session, waiting)
  for _, key in ipairs(config.keys("choose")) do
    covering_keys.map(bufnr, "n", key, function()
      local pending, block, offset = under_cursor(session, waiting)
      local rows = pending and block and block.rendered and block.rendered.option_rows
      if pending and rows and rows[offset] then
        answer_unless_ahead(pending.request, rows[offset], answer)
      else
        covering_keys.below(bufnr, "n", key)
      end
    end, "acp: choose this option")
  end
end

return M

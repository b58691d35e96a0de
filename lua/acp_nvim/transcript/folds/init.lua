-- Creates folds for thoughts, tool calls and pinned plans when blocks and windows change.
--
-- Visible blocks get their folds at once, the others in small batches when no updates arrive. In a window whose 'foldlevel'
-- the user has changed (zM, zR), this option decides whether new folds are closed.
local manual = require("acp_nvim.transcript.folds.manual")
local sessions = require("acp_nvim.host.sessions")
local transcript = require("acp_nvim.transcript")

local M = {}

local api = vim.api
local FOLD_NS = 3e6 -- nanoseconds of one batch, after which control returns to the event loop
local FOLD_MS = 10 -- between two batches
local FOLD_REST_MS = 100 -- without a changed block before folds off the screen are created
local FOLD_ROWS = 100 -- searched for blocks before the time is checked: a millisecond
local FOLDS_AT_ONCE = 20 -- created for changed blocks before the time is checked
local GROUP = api.nvim_create_augroup("acp_nvim.folds", {})
local make_all, windows = manual.make_all, manual.windows

---@type table<integer, table<acp.Block, true>> buffer -> changed blocks off the screen
local waiting = {}
local is_scheduled = false
local changed_at = 0 -- when blocks changed last, in nanoseconds

local function is_folded(block)
  return block.kind == "thought" or block.kind == "tool_call" or block.kind == "plan"
end

local function places_in(session, first, last)
  local places = {}
  for block, begins, ends in transcript.blocks_in(session, math.max(first, 0), last) do
    if is_folded(block) then
      places[#places + 1] = { block = block, first = begins, last = ends }
    end
  end
  return places
end

---Returns the places that will be visible when the window has scrolled to the end of the chat.
local function places_at_end(session, win)
  local places, room = {}, api.nvim_win_get_height(win)
  for block, first, last in transcript.blocks_up(session) do
    local rows = last - first + 1
    if is_folded(block) then
      places[#places + 1] = { block = block, first = first, last = last }
      rows = manual.least_rows(session, win, block, rows)
    end
    room = room - rows - 1
    if room <= 0 then
      break
    end
  end
  return places
end

local function visible_places(session, win)
  local top, cursor = vim.fn.line("w0", win) - 1, api.nvim_win_get_cursor(win)[1] - 1
  return places_in(session, top, math.max(top + api.nvim_win_get_height(win), cursor))
end

---@type fun(ms: integer)
local schedule

---Creates folds above those that exist, until the time is over.
local function fill(session, win, until_ns)
  local state = windows[win]
  while state and state.above and vim.uv.hrtime() < until_ns do
    local first = state.above - FOLD_ROWS
    if not make_all(session, win, places_in(session, first, state.above)) then
      return false
    end
    state.above = first > 0 and first - 1 or nil
  end
  return not (state and state.above)
end

---@param blocks table<acp.Block, true> from which these places are removed
local function make_in(session, wins, places, blocks)
  for _, win in ipairs(wins) do
    if not make_all(session, win, places) then
      return false
    end
  end
  for _, place in ipairs(places) do
    blocks[place.block] = nil
  end
  return true
end

---Creates folds for changed blocks off the screen, until the time is over.
local function catch_up(session, wins, until_ns)
  local blocks, places = waiting[session.bufnr], {}
  for block in pairs(blocks) do
    local first, last = transcript.rows(session, block)
    if not first then
      blocks[block] = nil -- the chat was emptied meanwhile
    else
      places[#places + 1] = { block = block, first = first, last = last }
    end
    if #places >= FOLDS_AT_ONCE then
      if not make_in(session, wins, places, blocks) or vim.uv.hrtime() > until_ns then
        return false
      end
      places = {}
    end
  end
  return make_in(session, wins, places, blocks)
end

local function run_batch()
  is_scheduled = false
  local now = vim.uv.hrtime()
  if now - changed_at < FOLD_REST_MS * 1e6 then -- each batch redraws the window
    return schedule(FOLD_REST_MS)
  end
  for bufnr in pairs(waiting) do
    local session = sessions.of_buffer(bufnr)
    local wins = session and session.bufnr == bufnr and vim.fn.win_findbuf(bufnr) or {}
    local finished = #wins == 0 or catch_up(session, wins, now + FOLD_NS)
    for _, win in ipairs(wins) do
      finished = fill(session, win, now + FOLD_NS) and finished
    end
    if finished then
      waiting[bufnr] = nil
    end
  end
  if next(waiting) then
    schedule(FOLD_MS)
  end
end

function schedule(ms)
  if not is_scheduled then
    is_scheduled = true
    vim.defer_fn(run_batch, ms)
  end
end

---Creates folds for changed blocks: visible ones now, the others when no more updates arrive.
---@param following integer[] windows
local function refresh(session, blocks, following)
  local wins = vim.fn.win_findbuf(session.bufnr)
  for _, win in ipairs(wins) do
    local follows = vim.list_contains(following, win)
    local places = follows and places_at_end(session, win) or visible_places(session, win)
    if make_all(session, win, places) then
      windows[win].tick = follows and api.nvim_buf_get_changedtick(session.bufnr) or nil
      for _, place in ipairs(#wins == 1 and places or {}) do
        blocks[place.block] = nil
      end
    end
  end
  if #wins == 0 or not next(blocks) then
    return
  end
  local all = waiting[session.bufnr] or {}
  waiting[session.bufnr] = all
  for block in pairs(blocks) do
    all[block] = true
  end
  schedule(FOLD_REST_MS)
end

---@type acp.ChangesListener
local function blocks_changed(session, changed, following)
  local blocks = {}
  for block in pairs(changed) do
    if is_folded(block) then
      blocks[block] = true
    end
    local above = not block.is_known and block.above or nil
    block.is_known = true
    if above and above.kind == "thought" then -- it is complete now
      blocks[above] = true
    end
  end
  if next(blocks) then
    changed_at = vim.uv.hrtime()
    refresh(session, blocks, following)
  end
end

local function window_changed(win)
  local session = api.nvim_win_is_valid(win) and sessions.of_buffer(api.nvim_win_get_buf(win))
  if not session or session.bufnr ~= api.nvim_win_get_buf(win) then
    windows[win] = nil
    return
  end
  local known = windows[win]
  local at_end = api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(session.bufnr)
  if known and at_end and known.tick == api.nvim_buf_get_changedtick(session.bufnr) then
    return -- it scrolled to the end, where folds exist already
  end
  make_all(session, win, visible_places(session, win))
  if not known then
    waiting[session.bufnr] = waiting[session.bufnr] or {}
    schedule(FOLD_MS)
  end
end

---Starts folding chats.
function M.watch()
  local function on(event, callback)
    api.nvim_create_autocmd(event, { group = GROUP, callback = callback })
  end
  transcript.on_changes(blocks_changed)
  on("BufWinEnter", function()
    local win = api.nvim_get_current_win()
    if sessions.of_buffer(api.nvim_win_get_buf(win)) then
      windows[win] = nil
      window_changed(win)
    end
  end)
  on("WinNew", function() -- a split inherits the folds of its window
    local win, from = api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#"))
    local known = windows[from]
    if known and api.nvim_win_get_buf(from) == api.nvim_win_get_buf(win) and not windows[win] then
      windows[win] = { made = vim.tbl_extend("force", {}, known.made), above = known.above }
    end
  end)
  on("WinScrolled", function()
    for name in pairs(vim.v.event) do
      local win = tonumber(name)
      if win and windows[win] then
        window_changed(win)
      end
    end
  end)
  on("WinClosed", function(closed)
    windows[tonumber(closed.match) or 0] = nil
  end)
end

return M

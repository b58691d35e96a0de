-- Has folds made of thoughts and tool calls when blocks and windows change; a change costs what its block costs.
--
-- They are made for what is in sight at once, and for the rest in small parts when nothing comes in; Neovim keeps them
-- with their lines. In a window whose 'foldlevel' the user has changed (zM, zR) that says whether new ones are closed.
local making = require("acp_nvim.chat.folds.making")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local FOLD_NS = 3e6 -- that making folds out of sight may take before the editor has its turn again
local FOLD_MS = 10 -- between two turns of making folds
local FOLD_REST_MS = 100 -- without a new or changed block until then: what comes into sight has its folds at once
local FOLD_ROWS = 100 -- that are looked at in between, for folds to be made: a millisecond
local FOLDS_AT_ONCE = 20 -- that are made in between, of blocks that have changed
local GROUP = api.nvim_create_augroup("acp_nvim.folds", {})
local make_all, windows = making.make_all, making.windows

---@type table<integer, table<acp.Block, true>> by buffer: blocks that changed out of sight
local waiting = {}
local filling = false
local told_at = 0 -- when blocks changed last, in nanoseconds

---@param block acp.Block
---@return boolean
local function is_folded(block)
  return block.kind == "thought" or block.kind == "tool_call"
end

---@param session acp.Session
---@param first integer row
---@param last integer row
---@return acp.FoldPlace[]
local function places_in(session, first, last)
  local places = {}
  for block, begins, ends in transcript.blocks_in(session, math.max(first, 0), last) do
    if is_folded(block) then
      places[#places + 1] = { block = block, first = begins, last = ends }
    end
  end
  return places
end

---What will be in sight when the window has gone to the end of the chat.
---@param session acp.Session
---@param win integer
---@return acp.FoldPlace[]
local function places_at_end(session, win)
  local places, room = {}, api.nvim_win_get_height(win)
  for block, first, last in transcript.blocks_up(session) do
    local rows = last - first + 1
    if is_folded(block) then
      places[#places + 1] = { block = block, first = first, last = last }
      rows = making.least_rows(win, block, rows)
    end
    room = room - rows - 1
    if room <= 0 then
      break
    end
  end
  return places
end

---@param session acp.Session
---@param win integer
---@return acp.FoldPlace[]
local function places_in_sight(session, win)
  local top, cursor = vim.fn.line("w0", win) - 1, api.nvim_win_get_cursor(win)[1] - 1
  return places_in(session, top, math.max(top + api.nvim_win_get_height(win), cursor))
end

---@type fun(ms: integer)
local fill_soon

---Makes folds further up.
---@param session acp.Session
---@param win integer
---@param until_ns integer
---@return boolean finished
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

---@param session acp.Session
---@param wins integer[]
---@param places acp.FoldPlace[]
---@param blocks table<acp.Block, true> without those whose folds are made
---@return boolean done
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

---Makes folds of what has changed out of sight.
---@param session acp.Session
---@param wins integer[]
---@param until_ns integer
---@return boolean finished
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

local function fill_all()
  filling = false
  local now = vim.uv.hrtime()
  if now - told_at < FOLD_REST_MS * 1e6 then -- each turn would have the window drawn once more
    return fill_soon(FOLD_REST_MS)
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
    fill_soon(FOLD_MS)
  end
end

function fill_soon(ms)
  if not filling then
    filling = true
    vim.defer_fn(fill_all, ms)
  end
end

---What has changed in a chat: folds in sight are made now, the others when nothing comes in any more.
---@param session acp.Session
---@param blocks table<acp.Block, true>
---@param following integer[] windows
local function refresh(session, blocks, following)
  local wins = vim.fn.win_findbuf(session.bufnr)
  for _, win in ipairs(wins) do
    local follows = vim.list_contains(following, win)
    local places = follows and places_at_end(session, win) or places_in_sight(session, win)
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
  fill_soon(FOLD_REST_MS)
end

---@param session acp.Session
---@param changed table<acp.Block, boolean>
---@param following integer[] windows
local function told(session, changed, following)
  local blocks = {}
  for block in pairs(changed) do
    if is_folded(block) then
      blocks[block] = true
    end
    local above = not block.told_of and block.above or nil
    block.told_of = true
    if above and above.kind == "thought" then -- it does not grow any more
      blocks[above] = true
    end
  end
  if next(blocks) then
    told_at = vim.uv.hrtime()
    refresh(session, blocks, following)
  end
end

---@param win integer
local function seen(win)
  local session = api.nvim_win_is_valid(win) and sessions.of_buffer(api.nvim_win_get_buf(win))
  if not session or session.bufnr ~= api.nvim_win_get_buf(win) then
    windows[win] = nil
    return
  end
  local known = windows[win]
  local at_end = api.nvim_win_get_cursor(win)[1] == api.nvim_buf_line_count(session.bufnr)
  if known and at_end and known.tick == api.nvim_buf_get_changedtick(session.bufnr) then
    return -- it went to the end, where folds were made before
  end
  make_all(session, win, places_in_sight(session, win))
  if not known then
    waiting[session.bufnr] = waiting[session.bufnr] or {}
    fill_soon(FOLD_MS)
  end
end

---Begins to fold chats.
function M.watch()
  transcript.on_changes(told)
  api.nvim_create_autocmd("BufWinEnter", {
    group = GROUP,
    callback = function()
      local win = api.nvim_get_current_win()
      if sessions.of_buffer(api.nvim_win_get_buf(win)) then
        windows[win] = nil
        seen(win)
      end
    end,
  })
  api.nvim_create_autocmd("WinNew", {
    group = GROUP,
    callback = function() -- a window that was split off another one has its folds, as they are
      local win, from = api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#"))
      local known = windows[from]
      if known and api.nvim_win_get_buf(from) == api.nvim_win_get_buf(win) and not windows[win] then
        windows[win] = { made = vim.tbl_extend("force", {}, known.made), above = known.above }
      end
    end,
  })
  api.nvim_create_autocmd("WinScrolled", {
    group = GROUP,
    callback = function()
      for name in pairs(vim.v.event) do
        local win = tonumber(name)
        if win and windows[win] then
          seen(win)
        end
      end
    end,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = GROUP,
    callback = function(closed)
      windows[tonumber(closed.match) or 0] = nil
    end,
  })
end

return M

-- Has folds made of thoughts and tool calls when blocks and windows change; a change costs what its block costs.
--
-- They are made for what is in sight at once, and for the rest in small parts; Neovim keeps them with their lines. In
-- a window whose 'foldlevel' the user has changed (zM, zR) that says whether new ones are closed.
local limits = require("acp_nvim.limits")
local making = require("acp_nvim.chat.fold_making")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.folds", {})
local make_all, windows = making.make_all, making.windows

---@type table<integer, table<acp.Block, true>> by buffer: blocks that changed out of sight
local waiting = {}
local filling = false

---@param session acp.Session
---@param first integer row
---@param last integer row
---@param changed? table<acp.Block, true> only these
---@return acp.FoldPlace[]
local function places_in(session, first, last, changed)
  local places = {}
  for block, begins, ends in transcript.blocks_in(session, math.max(first, 0), last) do
    if (block.kind == "thought" or block.kind == "tool_call") and (not changed or changed[block]) then
      places[#places + 1] = { block = block, first = begins, last = ends }
    end
  end
  return places
end

---@param win integer
---@return integer first row in sight
---@return integer last row, at least
local function sight(win)
  local info = vim.fn.getwininfo(win)[1]
  return info.topline - 1, math.max(info.botline, info.topline + info.height) - 1
end

---@param session acp.Session
---@param win integer
local function make_visible(session, win)
  local first, last = sight(win)
  make_all(session, win, places_in(session, first, last))
end

local fill_soon

---Makes folds further up, for a few milliseconds.
---@param session acp.Session
---@param win integer
---@return boolean finished
local function fill(session, win)
  local state = windows[win]
  local until_ns = vim.uv.hrtime() + limits.fold_ns
  while state and state.above and vim.uv.hrtime() < until_ns do
    local first = state.above - limits.fold_rows
    if not make_all(session, win, places_in(session, first, state.above)) then
      return false
    end
    state.above = first > 0 and first - 1 or nil
  end
  return not (state and state.above)
end

---@param session acp.Session
---@param win integer
---@return boolean finished
local function catch_up(session, win)
  local changed, places = waiting[session.bufnr], {}
  for block in pairs(changed or {}) do
    local row = transcript.row(session, block.id)
    if row and transcript.block(session, block.id) == block then
      vim.list_extend(places, places_in(session, row, row, { [block] = true }))
    end
    if #places >= limits.fold_rows then
      break
    end
  end
  return make_all(session, win, places)
end

local function fill_all()
  filling = false
  local again = false
  for bufnr in pairs(waiting) do
    local session = sessions.of_buffer(bufnr)
    for _, win in ipairs(session and session.bufnr == bufnr and vim.fn.win_findbuf(bufnr) or {}) do
      local caught_up = catch_up(session, win)
      again = not (fill(session, win) and caught_up) or again
    end
    if not again then
      waiting[bufnr] = nil
    end
  end
  if again then
    fill_soon()
  end
end

function fill_soon()
  if not filling then
    filling = true
    vim.defer_fn(fill_all, limits.fold_ms)
  end
end

---@param session acp.Session
---@param block acp.Block
---@param first integer row
---@param last integer row
local function changed(session, block, first, last)
  local places = {}
  if not block.told_of and first > 1 then -- what is above it does not grow any more
    block.told_of = true
    places = places_in(session, first - 2, first - 2)
  end
  if block.kind == "thought" or block.kind == "tool_call" then
    places[#places + 1] = { block = block, first = first, last = last }
  end
  if #places == 0 then
    return
  end
  for _, win in ipairs(vim.fn.win_findbuf(session.bufnr)) do
    local top, bottom = sight(win)
    local in_sight = places[1].first <= bottom and last >= top
    if not (in_sight and make_all(session, win, places)) then
      waiting[session.bufnr] = waiting[session.bufnr] or {}
      for _, place in ipairs(places) do
        waiting[session.bufnr][place.block] = true
      end
      fill_soon()
    end
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
  make_visible(session, win)
  if not known then
    waiting[session.bufnr] = waiting[session.bufnr] or {}
    fill_soon()
  end
end

---A window that was split off another one has its folds, as they are.
local function split_off()
  local win, from = api.nvim_get_current_win(), vim.fn.win_getid(vim.fn.winnr("#"))
  local known = windows[from]
  if known and api.nvim_win_get_buf(from) == api.nvim_win_get_buf(win) and not windows[win] then
    windows[win] = { made = vim.tbl_extend("force", {}, known.made), above = known.above }
  end
end

---Begins to fold chats.
function M.watch()
  transcript.on_change(changed)
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
  api.nvim_create_autocmd("WinNew", { group = GROUP, callback = split_off })
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

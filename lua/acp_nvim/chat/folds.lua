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

---Makes folds further up.
---@param session acp.Session
---@param win integer
---@param until_ns integer
---@return boolean finished
local function fill(session, win, until_ns)
  local state = windows[win]
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
---@param blocks table<acp.Block, true> some of these
---@return acp.FoldPlace[]
local function next_places(session, blocks)
  local places, looked_at = {}, 0
  for block in pairs(blocks) do
    looked_at = looked_at + 1
    local row = transcript.block(session, block.id) == block and transcript.row(session, block.id)
    vim.list_extend(places, row and places_in(session, row, row, { [block] = true }) or {})
    if not row then
      blocks[block] = nil -- the chat was emptied meanwhile
    elseif looked_at >= limits.folds_at_once then
      break
    end
  end
  return places
end

---Makes folds of what has changed out of sight.
---@param session acp.Session
---@param wins integer[]
---@param until_ns integer
---@return boolean finished
local function catch_up(session, wins, until_ns)
  local blocks = waiting[session.bufnr]
  while next(blocks) and vim.uv.hrtime() < until_ns do
    local places = next_places(session, blocks)
    for _, win in ipairs(wins) do
      if not make_all(session, win, places) then
        return false
      end
    end
    for _, place in ipairs(places) do
      blocks[place.block] = nil
    end
  end
  return next(blocks) == nil
end

local function fill_all()
  filling = false
  local until_ns = vim.uv.hrtime() + limits.fold_ns
  for bufnr in pairs(waiting) do
    local session = sessions.of_buffer(bufnr)
    local wins = session and session.bufnr == bufnr and vim.fn.win_findbuf(bufnr) or {}
    local finished = #wins == 0 or catch_up(session, wins, until_ns)
    for _, win in ipairs(wins) do
      finished = fill(session, win, until_ns) and finished
    end
    if finished then
      waiting[bufnr] = nil
    end
  end
  if next(waiting) then
    fill_soon()
  end
end

function fill_soon()
  if not filling then
    filling = true
    vim.defer_fn(fill_all, limits.fold_ms)
  end
end

---What has changed in a chat: folds in sight are made now, the others later.
---@param session acp.Session
---@param blocks table<acp.Block, true>
local function refresh(session, blocks)
  local wins = vim.fn.win_findbuf(session.bufnr)
  for _, win in ipairs(wins) do
    local top, bottom = sight(win)
    local places = places_in(session, top, bottom, blocks)
    if make_all(session, win, places) and #wins == 1 then
      for _, place in ipairs(places) do
        blocks[place.block] = nil
      end
    end
  end
  if #wins > 0 and next(blocks) then
    waiting[session.bufnr] = vim.tbl_extend("force", waiting[session.bufnr] or {}, blocks)
    fill_soon()
  end
end

---@param session acp.Session
---@param changed table<acp.Block, boolean>
local function told(session, changed)
  local blocks = {}
  for block in pairs(changed) do
    if block.kind == "thought" or block.kind == "tool_call" then
      blocks[block] = true
    end
    local first = not block.told_of and transcript.row(session, block.id) or 0
    local above = first > 1 and transcript.block_at(session, first - 2)
    block.told_of = true
    if above and above.kind == "thought" then -- it does not grow any more
      blocks[above] = true
    end
  end
  if next(blocks) then
    refresh(session, blocks)
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

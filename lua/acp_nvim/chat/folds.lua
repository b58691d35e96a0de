-- Makes folds of thoughts and tool calls: Neovim's own, by hand, so that a change costs what its block costs.
--
-- They are made for what is in sight at once, and for the rest in small parts; Neovim keeps them with their lines. In
-- a window whose 'foldlevel' the user has changed (zM, zR) that says whether new ones are closed.
local config = require("acp_nvim.config")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.folds", {})
local UNTOUCHED = 2 -- 'foldlevel' of a window where neither zM nor zR was typed: they make it 0 and 1
local OVER = { completed = true, failed = true, cancelled = true, rejected = true, unfinished = true }
local OPTIONS = {
  foldenable = true,
  foldlevel = UNTOUCHED,
  foldmethod = "manual",
  foldminlines = 0,
  foldtext = 'v:lua.require("acp_nvim.chat.folds").text()',
}

---@class acp.FoldedWindow
---@field made table<acp.Block, integer> how many lines its fold had when it was made
---@field above? integer row from which on, upwards, folds are still to be made

---@type table<integer, acp.FoldedWindow>
local windows = {}
---@type table<integer, table<acp.Block, true>> by buffer: blocks that changed out of sight
local waiting = {}
local filling = false

---@param session acp.Session
---@param block acp.Block
---@param first integer row
---@param last integer row
---@return boolean
local function is_foldable(session, block, first, last)
  if block.kind == "thought" then -- not while it grows
    return last < api.nvim_buf_line_count(session.bufnr) - 1 or session.status.state ~= "running"
  end
  return block.kind == "tool_call" and last > first
end

---@param block acp.Block
---@param bufnr integer
---@param first integer row
---@param last integer row
---@return boolean
local function begins_closed(block, bufnr, first, last)
  local ui = config.get().ui
  if block.kind == "thought" then
    local bytes = api.nvim_buf_get_offset(bufnr, last + 1) - api.nvim_buf_get_offset(bufnr, first)
    return ui.fold_thoughts and (last - first >= limits.thought_lines or bytes > limits.thought_bytes)
  end
  local call = block.call
  if ui.fold_tool_calls == "long" then
    local went_well = call and OVER[call.status] and call.status ~= "failed"
    return went_well == true and last - first >= limits.call_lines
  end
  return ui.fold_tool_calls == true
end

---Nothing closes under the eyes of somebody who reads there; at its end one follows the text.
---@param win integer
---@param first integer row
---@param last integer row
---@return boolean
local function is_read(win, first, last)
  local row = api.nvim_win_get_cursor(win)[1] - 1
  return row >= first and row < last
end

---@return boolean commands of Normal mode may be used
local function is_calm()
  local mode = api.nvim_get_mode()
  return not mode.blocking and (mode.mode == "n" or mode.mode == "i")
end

---Removes what is left of a fold; in the window that it is in.
---@param first integer row
---@param last integer row
local function remove(first, last)
  local view = vim.fn.winsaveview()
  for _, row in ipairs({ first, last }) do
    if vim.fn.foldlevel(row + 1) > 0 then
      vim.fn.cursor(row + 1, 1)
      vim.cmd("silent! normal! zD")
    end
  end
  vim.fn.winrestview(view)
end

---@class acp.FoldPlace
---@field block acp.Block
---@field first integer row
---@field last integer row

---Makes the fold of one block, or brings it up to the block's lines; in the window that it is in.
---@param session acp.Session
---@param win integer
---@param place acp.FoldPlace
---@return boolean done
local function make(session, win, place)
  local made, block, first, last = windows[win].made, place.block, place.first, place.last
  local levels = { vim.fn.foldlevel(first + 1), vim.fn.foldlevel(last + 1) }
  local wanted = is_foldable(session, block, first, last)
  if made[block] and wanted and levels[1] == 1 and levels[2] == 1 then
    return true
  end
  local was_closed
  if made[block] and levels[1] + levels[2] > 0 then
    was_closed = vim.fn.foldclosed((levels[1] > 0 and first or last) + 1) > 0
  end
  if levels[1] + levels[2] > 0 then
    if not is_calm() then
      return false
    end
    remove(first, last)
  end
  made[block] = wanted and last - first + 1 or nil
  if wanted then
    vim.cmd(("%d,%dfold"):format(first + 1, last + 1))
    local level = vim.wo[win].foldlevel
    local closed = was_closed
    if closed == nil and level == UNTOUCHED then
      closed = begins_closed(block, session.bufnr, first, last) and not is_read(win, first, last)
    elseif closed == nil then
      closed = level == 0
    end
    if not closed then
      vim.cmd(("%dfoldopen"):format(first + 1))
    end
  end
  return true
end

---@param win integer
---@return boolean ready false while another mode keeps old folds from being removed
local function prepare(win)
  if windows[win] then
    return true
  elseif not is_calm() then
    return false
  end
  for option, value in pairs(OPTIONS) do
    vim.wo[win][0][option] = value
  end
  vim.cmd("silent! normal! zE") -- what the buffer had in a window before is of other lines
  windows[win] = { made = {}, above = api.nvim_buf_line_count(api.nvim_win_get_buf(win)) - 1 }
  return true
end

---@param session acp.Session
---@param win integer
---@param places acp.FoldPlace[]
---@return boolean done
local function make_all(session, win, places)
  return api.nvim_win_call(win, function()
    local done = prepare(win)
    for _, place in ipairs(places) do
      done = done and make(session, win, place)
    end
    return done
  end)
end

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

---@param text string
---@param room integer cells
---@return string
local function shortened(text, room)
  text = text:sub(1, 4 * math.max(room, 1))
  while vim.fn.strdisplaywidth(text) > room and text ~= "" do
    text = vim.fn.strcharpart(text, 0, vim.fn.strcharlen(text) - math.max(1, vim.fn.strdisplaywidth(text) - room))
  end
  return text
end

---@param count integer
---@return string
local function lines_words(count)
  return ("  %d line%s"):format(count, count == 1 and "" or "s")
end

---What stands in the place of a closed fold, for 'foldtext'.
---@return string[][]|string
function M.text()
  local session = sessions.of_buffer(api.nvim_get_current_buf())
  local block = session and transcript.block_at(session, vim.v.foldstart - 1)
  local count = lines_words(vim.v.foldend - vim.v.foldstart + 1)
  local room = api.nvim_win_get_width(0) - #count - 2
  if block and block.kind == "tool_call" and block.head then
    local chunks = vim.list_extend({}, block.head.before)
    local marks = vim.iter(block.head.before):fold(0, function(sum, chunk)
      return sum + vim.fn.strdisplaywidth(chunk[1])
    end)
    local behind = vim.iter(block.head.after):fold(0, function(sum, chunk)
      return sum + vim.fn.strdisplaywidth(chunk[1])
    end)
    table.insert(chunks, { shortened(block.head.title, math.max(room - marks - behind, 10)), "AcpToolTitle" })
    vim.list_extend(chunks, block.head.after)
    table.insert(chunks, { count, "AcpToolDetail" })
    return chunks
  elseif block and block.kind == "thought" then
    local line = api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldstart, false)[1] or ""
    return { { "▸ ", "AcpToolDetail" }, { shortened(line, room - 2) .. " …", "AcpThought" }, { count, "AcpToolDetail" } }
  end
  return vim.fn.foldtext()
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

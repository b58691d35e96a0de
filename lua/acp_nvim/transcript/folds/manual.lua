-- Creates and updates manual folds of blocks in a window, and builds the text of closed folds.
local config = require("acp_nvim.config")
local plans = require("acp_nvim.transcript.plans")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")
local transcript = require("acp_nvim.transcript")

local M = {}

local api = vim.api
local foldlevel = vim.fn.foldlevel
local THOUGHT_LINES = 3 -- of a thought that stays open: closing it would save no room
local THOUGHT_BYTES = 240 -- of a thought that stays open: three lines of 80 columns
local CALL_LINES = 30 -- of a tool call that stays open: most of a screen
local UNTOUCHED = 2 -- 'foldlevel' of a window where the user has not typed zM or zR, which set it to 0 or 1
local OPTIONS = {
  foldenable = true,
  foldlevel = UNTOUCHED,
  foldmethod = "manual",
  foldminlines = 0,
  foldtext = "v:lua.require'acp_nvim.transcript.folds.manual'.text()",
}

---A `place` in this file is a table { block: acp.Block, first: integer row, last: integer row }.
---@class acp.FoldedWindow
---@field made table<acp.Block, true> blocks with a fold
---@field above? integer folds of this row and those above it are still to be created
---@field tick? integer the buffer's `changedtick` when folds at its end were created

---@type table<integer, acp.FoldedWindow>
M.windows = {}
local windows = M.windows

---@return boolean the plan is shown above the prompt, too
local function is_pinned(session, block)
  return block.kind == "plan" and session.plans.active[block.id] ~= nil and plans.is_pinned(session)
end

local function is_foldable(session, block, first, last)
  if block.kind == "thought" then -- once it is complete
    return last < api.nvim_buf_line_count(session.bufnr) - 1 or not states.is_working(session.status.state)
  end
  return last > first and (block.kind == "tool_call" or is_pinned(session, block))
end

---Whether Normal mode commands can be executed.
local function can_run_commands()
  local mode = api.nvim_get_mode()
  return not mode.blocking and (mode.mode == "n" or mode.mode == "i")
end

---Removes the folds at two rows of the current window.
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

---@return integer number of screen rows that it takes at least
function M.least_rows(session, win, block, lines)
  local level = api.nvim_get_option_value("foldlevel", { win = win })
  if level ~= UNTOUCHED then
    return level == 0 and 1 or lines
  elseif block.kind == "thought" or is_pinned(session, block) then
    return 1
  elseif block.kind == "plan" then
    return lines
  end
  local closes = config.get().ui.fold_tool_calls
  return (closes == true or closes and lines > CALL_LINES) and 1 or lines
end

---Whether a new fold is to be closed.
---@param level integer the window's 'foldlevel'
local function is_closed(bufnr, win, place, level)
  if level ~= UNTOUCHED then
    return level == 0
  end
  local row, first, last = api.nvim_win_get_cursor(win)[1] - 1, place.first, place.last
  if row >= first and row < last then
    return false -- the user reads there; in the last row the cursor follows the text
  end
  local ui = config.get().ui
  if place.block.kind == "plan" then
    return true
  elseif place.block.kind == "thought" then
    local bytes = api.nvim_buf_get_offset(bufnr, last + 1) - api.nvim_buf_get_offset(bufnr, first)
    return ui.fold_thoughts and (last - first >= THOUGHT_LINES or bytes > THOUGHT_BYTES)
  elseif ui.fold_tool_calls == "long" then
    return place.block.succeeded == true and last - first >= CALL_LINES
  end
  return ui.fold_tool_calls == true
end

---Creates or updates the fold of one block in the current window.
---@param level integer the window's 'foldlevel'
---@param commands string[] gets the commands to run; executing all of them at once is much faster
local function make(session, win, place, level, commands)
  local made, block, first, last = windows[win].made, place.block, place.first, place.last
  local levels = { foldlevel(first + 1), foldlevel(last + 1) }
  local wanted = is_foldable(session, block, first, last)
  if made[block] and wanted and levels[1] == 1 and levels[2] == 1 then
    return true
  end
  local closed
  if levels[1] + levels[2] > 0 then
    if not can_run_commands() then
      return false
    elseif made[block] then
      closed = vim.fn.foldclosed((levels[1] > 0 and first or last) + 1) > 0
    end
    remove(first, last)
  end
  made[block] = wanted or nil
  if wanted then
    if closed == nil then
      closed = is_closed(session.bufnr, win, place, level)
    end
    commands[#commands + 1] = ("%d,%dfold"):format(first + 1, last + 1)
    commands[#commands + 1] = not closed and ("%dfoldopen"):format(first + 1) or nil
  end
  return true
end

---@return boolean ready false while the mode does not allow removing old folds
local function prepare(win)
  if windows[win] then
    return true
  elseif not can_run_commands() then
    return false
  end
  for option, value in pairs(OPTIONS) do
    vim.wo[win][0][option] = value
  end
  vim.cmd("silent! normal! zE") -- folds from an earlier window of the buffer cover other lines
  windows[win] = { made = {}, above = api.nvim_buf_line_count(api.nvim_win_get_buf(win)) - 1 }
  return true
end

---@return boolean done
function M.make_all(session, win, places)
  if #places == 0 and windows[win] then
    return true
  end
  return api.nvim_win_call(win, function()
    local done, commands = prepare(win), {}
    local level = api.nvim_get_option_value("foldlevel", { win = win })
    for _, place in ipairs(places) do
      done = done and make(session, win, place, level, commands)
    end
    if #commands > 0 then
      vim.cmd(table.concat(commands, "|"))
    end
    return done
  end)
end

---@param room integer cells
local function shortened(text, room)
  return vim.fn.printf("%.*S", math.max(room, 0), text)
end

---@return string[][]|nil chunks nil when no block begins at the fold
local function chunks_of_fold()
  local session = sessions.of_buffer(api.nvim_get_current_buf())
  local block = session and transcript.block_at(session, vim.v.foldstart - 1)
  local lines = vim.v.foldend - vim.v.foldstart + 1
  local count = ("  %d line%s"):format(lines, lines == 1 and "" or "s")
  local room = api.nvim_win_get_width(0) - #count - 2
  if block and block.kind == "tool_call" and block.head then
    local chunks = vim.list_extend({}, block.head.before)
    for _, chunk in ipairs(vim.list_extend(vim.list_slice(block.head.before), block.head.after)) do
      room = room - vim.fn.strdisplaywidth(chunk[1])
    end
    table.insert(chunks, { shortened(block.head.title, math.max(room, 10)), "AcpToolTitle" })
    vim.list_extend(chunks, block.head.after)
    table.insert(chunks, { count, "AcpToolDetail" })
    return chunks
  end
  local line = api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldstart, false)[1] or ""
  if block and block.kind == "plan" then
    return { { shortened(line, room), "AcpAgentHeader" }, { count, "AcpToolDetail" } }
  elseif block and block.kind == "thought" then
    return {
      { "▸ ", "AcpToolDetail" },
      { shortened(line, room - 2) .. " …", "AcpThought" },
      { count, "AcpToolDetail" },
    }
  end
end

---Returns the text of a closed fold, for 'foldtext'. The group AcpFold below each chunk, up to the edge of the window,
---hides the Folded highlight; 'winhighlight' could do so too, but makes each redraw slower.
---@return table[]|string
function M.text()
  local chunks = chunks_of_fold()
  if not chunks then
    return vim.fn.foldtext()
  end
  for index, chunk in ipairs(chunks) do
    chunks[index] = { chunk[1], { "AcpFold", chunk[2] } }
  end
  chunks[#chunks + 1] = { (" "):rep(api.nvim_win_get_width(0)), "AcpFold" }
  return chunks
end

return M

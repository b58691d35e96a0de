-- Makes the folds of blocks in a window, keeps them in step with their lines, and says what stands in the place of a
-- closed one. They are Neovim's own, made by hand.
local config = require("acp_nvim.config")
local sessions = require("acp_nvim.sessions")
local states = require("acp_nvim.states")
local transcript = require("acp_nvim.chat.transcript")

local M = {}

local api = vim.api
local foldlevel = vim.fn.foldlevel
local THOUGHT_LINES = 3 -- of a thought that stays open: closed it would take as much room
local THOUGHT_BYTES = 240 -- of a thought that stays open: three lines of 80 columns
local CALL_LINES = 30 -- of a tool call that stays open: most of a screen
local UNTOUCHED = 2 -- 'foldlevel' of a window where neither zM nor zR was typed: they make it 0 and 1
local OPTIONS = {
  foldenable = true,
  foldlevel = UNTOUCHED,
  foldmethod = "manual",
  foldminlines = 0,
  foldtext = "v:lua.require'acp_nvim.chat.folds.making'.text()",
}

---@class acp.FoldedWindow
---@field made table<acp.Block, integer> how many lines its fold had when it was made
---@field above? integer row from which on, upwards, folds are still to be made
---@field tick? integer the buffer's `changedtick` when folds were made at its end

---@type table<integer, acp.FoldedWindow>
M.windows = {}
local windows = M.windows

---@param session acp.Session
---@param block acp.Block
---@param first integer row
---@param last integer row
---@return boolean
local function is_foldable(session, block, first, last)
  if block.kind == "thought" then -- not while it grows
    return last < api.nvim_buf_line_count(session.bufnr) - 1 or not states.is_working(session.status.state)
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
    return ui.fold_thoughts and (last - first >= THOUGHT_LINES or bytes > THOUGHT_BYTES)
  end
  if ui.fold_tool_calls == "long" then
    return block.went_well == true and last - first >= CALL_LINES
  end
  return ui.fold_tool_calls == true
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

---@param win integer
---@param block acp.Block
---@param lines integer
---@return integer rows on the screen that it takes at least
function M.least_rows(win, block, lines)
  local level = api.nvim_get_option_value("foldlevel", { win = win })
  if level ~= UNTOUCHED then
    return level == 0 and 1 or lines
  elseif block.kind == "thought" then
    return 1
  end
  local closes = config.get().ui.fold_tool_calls
  return (closes == true or closes and lines > CALL_LINES) and 1 or lines
end

---@class acp.FoldPlace
---@field block acp.Block
---@field first integer row
---@field last integer row

---@param session acp.Session
---@param win integer
---@param place acp.FoldPlace
---@param level integer the window's 'foldlevel'
---@return boolean the new fold is closed
local function is_closed(session, win, place, level)
  if level ~= UNTOUCHED then
    return level == 0
  end
  -- nothing closes under the eyes of somebody who reads there; at its end one follows the text
  local row = api.nvim_win_get_cursor(win)[1] - 1
  local is_read = row >= place.first and row < place.last
  return not is_read and begins_closed(place.block, session.bufnr, place.first, place.last)
end

---Makes the fold of one block, or brings it up to the block's lines; in the window that it is in.
---@param session acp.Session
---@param win integer
---@param place acp.FoldPlace
---@param level integer the window's 'foldlevel'
---@param commands string[] what is to be done then; one command for all takes a fraction of the time
---@return boolean done
local function make(session, win, place, level, commands)
  local made, block, first, last = windows[win].made, place.block, place.first, place.last
  local levels = { foldlevel(first + 1), foldlevel(last + 1) }
  local wanted = is_foldable(session, block, first, last)
  if made[block] and wanted and levels[1] == 1 and levels[2] == 1 then
    return true
  end
  local closed
  if levels[1] + levels[2] > 0 then
    if not is_calm() then
      return false
    elseif made[block] then
      closed = vim.fn.foldclosed((levels[1] > 0 and first or last) + 1) > 0
    end
    remove(first, last)
  end
  made[block] = wanted and last - first + 1 or nil
  if wanted then
    if closed == nil then
      closed = is_closed(session, win, place, level)
    end
    commands[#commands + 1] = ("%d,%dfold"):format(first + 1, last + 1)
    commands[#commands + 1] = not closed and ("%dfoldopen"):format(first + 1) or nil
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

---@return string[][]|nil chunks nil when no block begins there
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
  elseif block and block.kind == "thought" then
    local line = api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldstart, false)[1] or ""
    return {
      { "▸ ", "AcpToolDetail" },
      { shortened(line, room - 2) .. " …", "AcpThought" },
      { count, "AcpToolDetail" },
    }
  end
end

---What stands in the place of a closed fold, for 'foldtext'. The chat looks the same there as elsewhere: a group below
---each piece, to the edge of the window, says so; 'winhighlight' would say it as well, but costs much at each redraw.
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

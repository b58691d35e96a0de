-- Opens chat and prompt in splits or in a separate tab page.
local config = require("acp_nvim.config")
local edge = require("acp_nvim.windows.edge")
local sessions = require("acp_nvim.host.sessions")
local size = require("acp_nvim.windows.size")
local sizes = require("acp_nvim.chat.windows.sizes")
local stack = require("acp_nvim.chat.windows.stack")
local switch = require("acp_nvim.windows.switch")

local M = {}

local api = vim.api
M.LEAST_CHAT = 9 -- lines of the chat that no longer prompt and no plan take: its 'winbar', and eight of text
local PARTS = { width = 0.4, height = 0.5 } -- share of the screen if the options set no size

---@type table<integer, table> window -> its last `measure`
local chats = {}

---@param wanted number lines or columns, or a share of all if below 1
function M.size(wanted, all, least, most)
  local exact = wanted < 1 and math.floor(wanted * all) or math.floor(wanted)
  return math.max(1, math.min(math.max(exact, least), most))
end

---@return integer cells that the chat should have
---@return integer least with which it opens
local function size_of(position)
  local axis, ui = sizes.axis(position), config.get().ui
  local all, least = vim.o.columns, 40
  if axis == "height" then
    all = vim.o.lines
    least = ui.height and 8 or M.LEAST_CHAT + math.floor(ui.prompt_height) + 1 -- with the line between them
  end
  local most = math.floor(all * 2 / 3) -- leave a third of a small screen to the code
  local kept = sizes.kept(position, all)
  local cells = kept and M.size(kept, all, 1, all - 2) or M.size(ui[axis] or PARTS[axis], all, least, most)
  return cells, math.min(cells, least, most)
end

---@return acp.Edge
local function edge_of(position)
  local cells, least = size_of(position)
  return { axis = sizes.axis(position), cells = cells, least = least }
end

---@return integer count of windows in the current tab page besides those of the chat
local function other_windows()
  return #vim.tbl_filter(function(win)
    local is_ours = sessions.of_buffer(api.nvim_win_get_buf(win)) ~= nil or vim.w[win].acp_nvim_part ~= nil
    return not is_ours and not stack.floats(win)
  end, api.nvim_tabpage_list_wins(0))
end

local function measure(win, position)
  local cells = api.nvim_win_get_width(win)
  if position == "bottom" then
    local now = stack.current()
    cells = api.nvim_win_get_height(win)
    for _, other in pairs(now and now.chat == win and { now.pin or false, now.prompt or false } or {}) do
      cells = cells + (other and api.nvim_win_get_height(other) + 1 or 0)
    end
  end
  local windows = vim.tbl_filter(function(other)
    return not stack.floats(other)
  end, api.nvim_tabpage_list_wins(0))
  return { position = position, cells = cells, columns = vim.o.columns, lines = vim.o.lines, windows = #windows }
end

---Stores a size that the user has changed; changes caused by opening or closing windows are ignored.
---@return integer[] prompts whose height the user may have changed
---@return boolean is_moved a chat has another size because of other windows
function M.resized()
  local prompts, is_moved = {}, false
  for win, before in pairs(chats) do
    if not api.nvim_win_is_valid(win) or not sessions.of_buffer(api.nvim_win_get_buf(win)) then
      chats[win] = nil -- a session file may have taken the window for another buffer
    elseif api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      local now = measure(win, before.position)
      local same = now.columns == before.columns and now.lines == before.lines and now.windows == before.windows
      local all = sizes.axis(before.position) == "height" and now.lines or now.columns
      if same and now.cells ~= before.cells and now.cells < all - 2 then
        sizes.keep(before.position, now.cells, all)
      end
      prompts[#prompts + 1] = same and (stack.current() or {}).prompt or nil
      is_moved = is_moved or not same
      now.given = before.given
      now.others = same and now.cells ~= before.cells and other_windows() or before.others
      chats[win] = now
    end
  end
  return prompts, is_moved
end

---Gives a chat its width again after other windows that had taken from it were closed, or the screen was small.
---@param chat integer
---@return integer? cells that chat, plans and prompt had in height
function M.restore(chat)
  local before = chats[chat]
  local others = before and other_windows() or 0
  if not before or others == 0 or others > before.others then
    return nil
  end
  local cells = size_of(before.position)
  if before.given and before.given.wanted == cells then
    cells = before.given.cells -- what was left by the windows beside it
  end
  if before.position == "bottom" then
    return api.nvim_win_get_width(chat) == vim.o.columns and cells or nil
  elseif api.nvim_win_get_width(chat) ~= cells then
    size.set_width(chat, cells)
  end
end

---Measures the chats after their windows were laid out.
function M.settled()
  for win, before in pairs(chats) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      chats[win] = vim.tbl_extend("force", before, measure(win, before.position))
    end
  end
end

---@return boolean the chat opens beside the code; else in a tab page of its own
function M.has_room(position)
  return position ~= "tab" and (position == "float" or edge.has_room(edge_of(position)))
end

---@return integer? win
function M.open_tab(bufnr)
  return stack.opened(bufnr, function()
    switch.open(bufnr, true)
  end)
end

---@return integer? win nil when there is no room
---@return "winfixwidth"|"winfixheight"|nil fixed
function M.open_chat(bufnr, position)
  local shape = { split = position == "bottom" and "below" or position, win = -1 }
  local wanted = edge_of(position)
  local win = edge.open(wanted, function(cells)
    shape[wanted.axis] = cells
    return stack.opened(bufnr, function()
      api.nvim_open_win(bufnr, false, shape)
    end)
  end)
  if not win then
    return M.open_tab(bufnr), nil
  end
  chats[win] = measure(win, position)
  chats[win].others = other_windows()
  chats[win].given = { wanted = wanted.cells, cells = chats[win].cells }
  return win, position == "bottom" and "winfixheight" or "winfixwidth"
end

---@return integer? win below the chat
function M.open_prompt(bufnr, chat)
  local wanted = math.floor(config.get().ui.prompt_height)
  local height = math.max(1, math.min(wanted, api.nvim_win_get_height(chat) - 3))
  local fixed = vim.wo[chat].winfixheight
  vim.wo[chat].winfixheight = false -- take the lines from the chat, not from the code
  local win = stack.opened(bufnr, function()
    api.nvim_open_win(bufnr, false, { split = "below", win = chat, height = height })
  end)
  vim.wo[chat].winfixheight = fixed
  return win
end

return M

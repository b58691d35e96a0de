-- Opens chat and prompt in splits or in a separate tab page.
local config = require("acp_nvim.config")
local sizes = require("acp_nvim.chat.windows.sizes")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local PARTS = { width = 0.4, height = 0.5 } -- share of the screen if the options set no size

---@type table<integer, table> window -> its last `measure`
local chats = {}

---@param wanted number lines or columns, or a share of all if below 1
function M.size(wanted, all, least, most)
  local exact = wanted < 1 and math.floor(wanted * all) or math.floor(wanted)
  return math.max(1, math.min(math.max(exact, least), most))
end

---@return integer cells
local function size_of(position)
  local axis = sizes.axis(position)
  local all, least = vim.o.columns, 40
  if axis == "height" then
    all, least = vim.o.lines, 8
  end
  local most = math.floor(all * 2 / 3) -- leave a third of a small screen to the code
  local kept = sizes.kept(position, all)
  return kept and M.size(kept, all, 1, all - 2) or M.size(config.get().ui[axis] or PARTS[axis], all, least, most)
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
function M.resized()
  local prompts = {}
  for win, before in pairs(chats) do
    if not api.nvim_win_is_valid(win) then
      chats[win] = nil
    elseif api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      local now = measure(win, before.position)
      local same = now.columns == before.columns and now.lines == before.lines and now.windows == before.windows
      local all = sizes.axis(before.position) == "height" and now.lines or now.columns
      if same and now.cells ~= before.cells and now.cells < all - 2 then
        sizes.keep(before.position, now.cells, all)
      end
      prompts[#prompts + 1] = same and (stack.current() or {}).prompt or nil
      chats[win] = now
    end
  end
  return prompts
end

---Measures the chats after their windows were laid out.
function M.settled()
  for win, before in pairs(chats) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      chats[win] = measure(win, before.position)
    end
  end
end

---@return integer? win
function M.open_tab(bufnr)
  return stack.opened(bufnr, function()
    vim.cmd(("keepalt tab sbuffer %d"):format(bufnr))
  end)
end

---@return integer? win nil when there is no room
---@return "winfixwidth"|"winfixheight"|nil fixed
function M.open_chat(bufnr, position)
  local shape = { split = position == "bottom" and "below" or position, win = -1 }
  shape[sizes.axis(position)] = size_of(position)
  local win = stack.opened(bufnr, function()
    api.nvim_open_win(bufnr, false, shape)
  end)
  if not win then -- no room for a split
    return M.open_tab(bufnr), nil
  end
  chats[win] = measure(win, position)
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

-- Opens chat and prompt beside, above or below the code, or in a tab page of their own.
local config = require("acp_nvim.config")
local sizes = require("acp_nvim.chat.windows.sizes")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local PARTS = { width = 0.4, height = 0.5 } -- of the screen, where the options say nothing

---@class acp.Opened how large a chat was when we looked last, and what was around it
---@field position string
---@field cells integer
---@field columns integer
---@field lines integer
---@field windows integer

---@type table<integer, acp.Opened> by window
local chats = {}

---@param wanted number lines or columns, or a part of all
---@param all integer
---@param least integer
---@param most integer
---@return integer
function M.size(wanted, all, least, most)
  local exact = wanted < 1 and math.floor(wanted * all) or math.floor(wanted)
  return math.max(1, math.min(math.max(exact, least), most))
end

---@param position string
---@return integer cells
local function size_of(position)
  local ui = config.get().ui
  local all, least, wanted = vim.o.columns, 40, ui.width
  if position == "bottom" then
    all, least, wanted = vim.o.lines, 8, ui.height
  end
  local most = math.floor(all * 2 / 3) -- leave a third to the code where the screen is small
  local kept = sizes.kept(position, all)
  return kept and M.size(kept, all, 1, all - 2) or M.size(wanted or PARTS[sizes.axis(position)], all, least, most)
end

---@param win integer
---@param position string
---@return acp.Opened
local function look(win, position)
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

---What the user makes of the size is for the next time; what happens because other windows come and go is not.
---@return integer[] prompts whose lines the user may have changed
function M.resized()
  local prompts = {}
  for win, before in pairs(chats) do
    if not api.nvim_win_is_valid(win) then
      chats[win] = nil
    elseif api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      local now = look(win, before.position)
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

---The windows of the chat are as they should be now.
function M.settled()
  for win, before in pairs(chats) do
    if api.nvim_win_is_valid(win) and api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      chats[win] = look(win, before.position)
    end
  end
end

---@param bufnr integer
---@return integer? win
function M.open_tab(bufnr)
  return stack.opened(bufnr, function()
    vim.cmd(("keepalt tab sbuffer %d"):format(bufnr))
  end)
end

---@param bufnr integer
---@param position string
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
  chats[win] = look(win, position)
  return win, position == "bottom" and "winfixheight" or "winfixwidth"
end

---@param bufnr integer
---@param chat integer
---@return integer? win below the chat
function M.open_prompt(bufnr, chat)
  local wanted = math.floor(config.get().ui.prompt_height)
  local height = math.max(1, math.min(wanted, api.nvim_win_get_height(chat) - 3))
  local fixed = vim.wo[chat].winfixheight
  vim.wo[chat].winfixheight = false -- its lines come from the chat, not from the code
  local win = stack.opened(bufnr, function()
    api.nvim_open_win(bufnr, false, { split = "below", win = chat, height = height })
  end)
  vim.wo[chat].winfixheight = fixed
  return win
end

return M

-- Says above the chat who is there, what it does, and what waits: as much as there is room for.
local cells = require("acp_nvim.chat.cells")
local config = require("acp_nvim.config")
local plans = require("acp_nvim.chat.plans")
local sessions = require("acp_nvim.sessions")
local spinner = require("acp_nvim.chat.winbar.spinner")
local states = require("acp_nvim.states")
local status_parts = require("acp_nvim.chat.winbar.status_parts")

local M = {}

local api = vim.api
local BAR = "%{%v:lua.require'acp_nvim.chat.winbar'.bar()%}"
local BETWEEN = " · "
local BETWEEN_CELLS = 3
local LEAST = 12 -- cells of a text that is cut: with fewer nobody reads it

---In which order they are shown.
local ORDER = "activity elapsed title worktree plan permissions questions queue review others mode model context cost"
---@type table<string, integer>
local PLACES = {}
for name in ORDER:gmatch("%a+") do
  PLACES[name] = vim.tbl_count(PLACES) + 1
end

---@type table<integer, integer> window -> buffer that it showed when it got its bar
local given = {}

---@type table<integer, table<integer, string>> buffer -> width -> text: Neovim asks whenever a cursor moves
local made = {}

---@param text string
---@return string
local function literal(text)
  return (text:gsub("%%", "%%%%"))
end

---@class acp.ChosenPart
---@field part acp.StatusPart
---@field text string

---@param parts acp.StatusPart[] the most important first
---@param room integer cells
---@return acp.ChosenPart[] those that there is room for, at their shortest
---@return integer room that is left
local function chosen(parts, room)
  local out = {}
  for _, part in ipairs(parts) do
    local text = part.short or part.cut and cells.cut(part.long, LEAST) or part.long
    local wants = api.nvim_strwidth(text) + (#out == 0 and 1 or BETWEEN_CELLS)
    if wants <= room then
      table.insert(out, { part = part, text = text })
      room = room - wants
    end
  end
  return out, room
end

---Says as much of each as there is room for: all counts first, then what may be cut anywhere.
---@param list acp.ChosenPart[]
---@param room integer cells
local function lengthened(list, room)
  for _, cut in ipairs({ false, true }) do
    for _, one in ipairs(list) do
      local has = api.nvim_strwidth(one.text)
      if (one.part.cut or false) == cut then
        local text = cut and cells.cut(one.part.long, has + room) or one.part.long
        local more = api.nvim_strwidth(text) - has
        if more <= room then
          one.text, room = text, room - more
        end
      end
    end
  end
end

---@param session acp.Session
---@param width integer cells
---@return string for 'winbar'
function M.text(session, width)
  local symbol, group = status_parts.symbol(session.status, true)
  local name = cells.cut(cells.plain(session.status.agent or session.agent or "agent"), math.max(width - 4, 1))
  local list, room = chosen(status_parts.list(session), width - api.nvim_strwidth(symbol .. name) - 3)
  lengthened(list, room)
  table.sort(list, function(a, b)
    return PLACES[a.part.name] < PLACES[b.part.name]
  end)
  local texts = vim.tbl_map(function(one)
    local text, group = literal(one.text), one.part.group
    return group and ("%%#%s#%s%%*"):format(group, text) or text
  end, list)
  return (" %%#%s#%s%%* %s %s"):format(group, symbol, literal(name), table.concat(texts, BETWEEN))
end

---@param session acp.Session
---@param width integer cells
---@return string
function M.prompt_text(session, width)
  local text = " Prompt"
  for _, item in ipairs(session.context) do
    text = text .. " + " .. cells.plain(item.name)
  end
  return literal(cells.cut(text, math.max(width - 1, 1))) .. "%<" -- without an item Neovim leaves the blank out
end

---Only for 'winbar'.
---@return string
function M.bar()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf() -- those that the bar is of
  local session = sessions.of_buffer(bufnr)
  if not session then
    return ""
  end
  local width = api.nvim_win_get_width(win)
  local texts = made[bufnr] or {}
  made[bufnr] = texts
  if not texts[width] then
    local text = bufnr == session.prompt_bufnr and M.prompt_text or M.text
    local ok, words = pcall(text, session, width)
    texts[width] = ok and words or " " .. literal(cells.plain(session.agent))
  end
  return texts[width]
end

---@param win integer
---@param value string
---@return boolean
local function set(win, value)
  return (pcall(api.nvim_set_option_value, "winbar", value, { win = win, scope = "local" }))
end

---Gives a window its bar, once: whoever puts another one there keeps it.
---@param win integer
---@param bufnr integer
local function give(win, bufnr)
  local own = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  if not config.get().ui.winbar then
    given[win] = nil
    if own == BAR then
      set(win, "")
    end
  elseif given[win] ~= bufnr and api.nvim_win_get_height(win) > 1 and (own == BAR or set(win, BAR)) then
    given[win] = bufnr
  end
end

---@param wins integer[]
local function redraw(wins)
  for _, win in ipairs(wins) do
    made[api.nvim_win_get_buf(win)] = nil
  end
  for _, win in ipairs(wins) do
    if not pcall(api.nvim__redraw, { win = win, winbar = true }) then
      vim.cmd("redrawstatus!")
      return
    end
  end
end

---@return integer[] of the current tab, with the chats of running turns
local function running()
  local wins, ui = {}, config.get().ui
  for _, win in ipairs(ui.winbar and ui.spinner and api.nvim_tabpage_list_wins(0) or {}) do
    local bufnr = api.nvim_win_get_buf(win)
    local session = sessions.of_buffer(bufnr)
    if session and bufnr == session.bufnr and states.is_working(session.status.state) then
      wins[#wins + 1] = win
    end
  end
  return wins
end

---Shows that a turn runs where somebody sees it now.
function M.turn()
  if #running() > 0 then
    spinner.run(function()
      local wins = running()
      redraw(wins)
      return #wins > 0
    end)
  end
end

---A buffer brings the bar of its last window along, and a window of one line has no room for it.
api.nvim_create_autocmd("WinClosed", {
  group = api.nvim_create_augroup("acp_nvim.winbar", {}),
  callback = function(event)
    local win = tonumber(event.match)
    if win and given[win] then
      given[win] = nil
      set(win, "")
    end
  end,
})

---@param session acp.Session
function M.update(session)
  for _, bufnr in pairs({ session.bufnr or false, session.prompt_bufnr or false }) do
    local wins = bufnr and vim.fn.win_findbuf(bufnr) or {}
    made[bufnr] = nil
    for _, win in ipairs(wins) do
      give(win, bufnr)
    end
    redraw(wins)
  end
  M.turn()
end

---Brings the bars of all chats up to date.
function M.update_all()
  for _, session in ipairs(sessions.all()) do
    M.update(session)
  end
end

plans.on_change(M.update)
config.on_change(M.update_all)

return M

-- Shows the agent, its activity and what waits for the user in the 'winbar' of the chat, as far as there is room.
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local hints = require("acp_nvim.chat.winbar.hints")
local plans = require("acp_nvim.transcript.plans")
local progress = require("acp_nvim.progress.review")
local sessions = require("acp_nvim.host.sessions")
local spinner = require("acp_nvim.chat.winbar.spinner")
local states = require("acp_nvim.host.states")
local status_parts = require("acp_nvim.chat.winbar.status_parts")

local M = {}

local api = vim.api
local BAR = "%{%v:lua.require'acp_nvim.chat.winbar'.bar()%}"
local BETWEEN = " · "
local BETWEEN_CELLS = 3
local LEAST = 12 -- cells of a text that is cut: a shorter one is of no use

---Display order of the parts.
local ORDER =
  "activity elapsed progress title worktree plan permissions questions queue review others mode model context cost tokens"
---@type table<string, integer>
local PLACES = {}
for name in ORDER:gmatch("%a+") do
  PLACES[name] = vim.tbl_count(PLACES) + 1
end

---@type table<integer, integer> window -> buffer that it showed when its bar was set
local has_bar = {}

---@type table<integer, table<integer, string>> buffer -> width -> text: Neovim evaluates it at each cursor move
local cache = {}

local function literal(text)
  return (text:gsub("%%", "%%%%"))
end

---@param parts acp.StatusPart[] the most important first
---@param room integer cells
---@return { part: acp.StatusPart, text: string }[] those that fit, at their shortest
---@return integer room cells left
local function choose(parts, room)
  local out = {}
  for _, part in ipairs(parts) do
    local text = part.short or part.cut and cells.cut(part.long, LEAST) or part.long
    local needed = api.nvim_strwidth(text) + (#out == 0 and 1 or BETWEEN_CELLS)
    if needed <= room then
      table.insert(out, { part = part, text = text })
      room = room - needed
    end
  end
  return out, room
end

---Lengthens the parts as far as there is room: first those that are not cut.
---@param room integer cells
local function lengthen(list, room)
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

---@param width integer cells
---@return string for 'winbar'
function M.text(session, width)
  local symbol, group = status_parts.symbol(session.status, true)
  local name = cells.cut(cells.plain(session.status.agent or session.agent or "agent"), math.max(width - 4, 1))
  local list, room = choose(status_parts.list(session), width - api.nvim_strwidth(symbol .. name) - 3)
  lengthen(list, room)
  table.sort(list, function(a, b)
    return PLACES[a.part.name] < PLACES[b.part.name]
  end)
  local texts = vim.tbl_map(function(one)
    local text, group = literal(one.text), one.part.group
    return group and ("%%#%s#%s%%*"):format(group, text) or text
  end, list)
  return (" %%#%s#%s%%* %s %s"):format(group, symbol, literal(name), table.concat(texts, BETWEEN))
end

---@param width integer cells
---@param win integer of the prompt
local function prompt_text(session, width, win)
  local long, short = hints.answer(session, win)
  if long then
    local words = (" ? %s"):format(api.nvim_strwidth(long) + 3 < width and long or short)
    return ("%%#AcpPermission#%s%%*"):format(literal(cells.cut(words, math.max(width - 1, 1))))
  end
  local text = " Prompt"
  for _, item in ipairs(session.context) do
    text = text .. " + " .. cells.plain(item.name)
  end
  if session.decisions then
    text = text .. " + your review: " .. session.decisions
  end
  local sends = ("%s%s sends"):format(BETWEEN, hints.send(hints.is_typing(session.prompt_bufnr)))
  if api.nvim_strwidth(text .. sends) < width then
    text = text .. sends
  end
  return literal(cells.cut(text, math.max(width - 1, 1))) .. "%<" -- without an item Neovim drops the leading blank
end

---Evaluated by 'winbar'.
function M.bar()
  local win, bufnr = api.nvim_get_current_win(), api.nvim_get_current_buf() -- the bar's own window and buffer
  local session = sessions.of_buffer(bufnr)
  if not session then
    return ""
  end
  local width = api.nvim_win_get_width(win)
  local texts = cache[bufnr] or {}
  cache[bufnr] = texts
  if not texts[width] then
    local text = bufnr == session.prompt_bufnr and prompt_text or M.text
    local ok, words = pcall(text, session, width, win)
    texts[width] = ok and words or " " .. literal(cells.plain(session.agent))
  end
  return texts[width]
end

local function set(win, value)
  return (pcall(api.nvim_set_option_value, "winbar", value, { win = win, scope = "local" }))
end

---Sets the bar of a window once; a value that the user sets later is kept.
local function set_bar(win, bufnr)
  local own = api.nvim_get_option_value("winbar", { win = win, scope = "local" })
  if not config.get().ui.winbar then
    has_bar[win] = nil
    if own == BAR then
      set(win, "")
    end
  elseif has_bar[win] ~= bufnr and api.nvim_win_get_height(win) > 1 and (own == BAR or set(win, BAR)) then
    has_bar[win] = bufnr
  end
end

local function redraw(wins)
  for _, win in ipairs(wins) do
    cache[api.nvim_win_get_buf(win)] = nil
  end
  for _, win in ipairs(wins) do
    if not pcall(api.nvim__redraw, { win = win, winbar = true }) then
      vim.cmd("redrawstatus!")
      return
    end
  end
end

---@return integer[] windows of the current tab page with chats of running turns
local function running_windows()
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

---Animates the bars of running turns in the current tab page.
function M.turn()
  if #running_windows() > 0 then
    spinner.run(function()
      local wins = running_windows()
      redraw(wins)
      return #wins > 0
    end)
  end
end

local GROUP = api.nvim_create_augroup("acp_nvim.winbar", {})

-- A buffer would copy the bar of its last window to a new one, where it may not fit
api.nvim_create_autocmd("WinClosed", {
  group = GROUP,
  callback = function(event)
    local win = tonumber(event.match)
    if win and has_bar[win] then
      has_bar[win] = nil
      set(win, "")
    end
  end,
})

---Updates the bars of chat and prompt.
function M.update(session)
  for _, bufnr in pairs({ session.bufnr or false, session.prompt_bufnr or false }) do
    local wins = bufnr and vim.fn.win_findbuf(bufnr) or {}
    cache[bufnr] = nil
    for _, win in ipairs(wins) do
      set_bar(win, bufnr)
    end
    redraw(wins)
  end
  M.turn()
end

api.nvim_create_autocmd({ "WinEnter", "WinLeave" }, {
  group = GROUP,
  desc = "Say which keys answer from the window with the focus",
  callback = function(event)
    local session = sessions.of_buffer(event.buf)
    if session and (session.status.pending_permissions or 0) > 0 then
      vim.schedule(function()
        M.update(session)
      end)
    end
  end,
})

---Updates the bars of all chats.
function M.update_all()
  for _, session in ipairs(sessions.all()) do
    M.update(session)
  end
end

plans.on_change(M.update)
config.on_change(M.update_all)
progress.on_change(M.update_all)
sessions.on_activity(M.update)

return M

-- Shows the permission requests that no chat of the tab page shows, in one float that never takes the focus.
local answer_keys = require("acp_nvim.permission.answer_keys")
local block = require("acp_nvim.permission.request")
local command_line = require("acp_nvim.kernel.command_line")
local config = require("acp_nvim.config")
local following = require("acp_nvim.transcript.following")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.kernel.log")
local options = require("acp_nvim.permission.options")
local permission = require("acp_nvim.permission")
local preview_view = require("acp_nvim.review.previews.view")
local previews = require("acp_nvim.review.previews")
local sessions = require("acp_nvim.host.sessions")
local temporary_keymaps = require("acp_nvim.keys.temporary")
local typed_ahead = require("acp_nvim.keys.typed_ahead")
local visibility = require("acp_nvim.permission.visibility")
local window = require("acp_nvim.permission.window")
local windows = require("acp_nvim.chat.windows")

local M = {}

local api = vim.api

---@class acp.FloatState
---@field id integer of the request that is shown
---@field since integer when it was shown first, in nanoseconds
---@field shift integer rows above its text
---@field options acp.OptionPlace[]

---@type acp.FloatState?
local shown
local dismissed = 0 -- the newest request that waited when the user closed the float
local is_due = false
local reported = false

local PLUGS = { { "<Plug>(AcpAllow)", "allow" }, { "<Plug>(AcpReject)", "reject" } }

---@return acp.Pending[] that no chat of this tab page shows, oldest first
local function unseen()
  if not config.get().permissions.float then
    return {}
  end
  local list = vim.tbl_filter(function(one)
    local session = sessions.get(one.session)
    return not (session and windows.visible(session))
  end, permission.waiting())
  return #list > 0 and list[#list].request.id > dismissed and list or {}
end

---@return string names of the keys and the command that answer from any window
local function answers()
  local words = {}
  for _, plug in ipairs(PLUGS) do
    local map = vim.iter(api.nvim_get_keymap("n")):find(function(one)
      return one.rhs == plug[1]
    end)
    words[#words + 1] = map and ("%s %s"):format(vim.fn.keytrans(map.lhsraw), plug[2]) or nil
  end
  words[#words + 1] = ":AcpPermissions"
  return table.concat(words, " · ")
end

---@return boolean the float has the focus
local function is_inside()
  return window.window() ~= nil and api.nvim_get_current_win() == window.window()
end

---@param one acp.Pending
---@param more integer requests that wait besides
---@return acp.FloatText
---@return acp.OptionPlace[]
---@return integer rows above its text
local function text_of(one, more)
  local session = sessions.get(one.session) or { status = {} }
  local rendered = block.render(one.request, {
    letters = answer_keys.letters(one.request),
    has_no_keys = not is_inside(),
    cwd = session.cwd,
    files = #previews.of_request(one.request.id),
    width = window.columns(),
  })
  local title = ("%s asks"):format(sessions.name(session))
  title = more > 0 and ("%s · %d more wait%s"):format(title, more, more == 1 and "s" or "") or title
  local text = { lines = rendered.lines, highlights = rendered.highlights, title = title, answers = answers() }
  local places, lines, bodies = rendered.options or {}, {}, {}
  visibility.add_lines(lines, bodies, rendered)
  visibility.show(one.request.id, "float", lines, bodies)
  if window.has_border() then
    return text, places, 0
  end
  -- a first line takes the place of the title and the footer
  local long, short = ("%s · %s"):format(text.title, text.answers), (":AcpPermissions (%d)"):format(more + 1)
  table.insert(text.lines, 1, vim.fn.strdisplaywidth(long) <= vim.o.columns and long or short)
  for _, highlight in ipairs(text.highlights) do
    highlight.row = highlight.row + 1
  end
  table.insert(text.highlights, { row = 0, from = 0, to = -1, group = "AcpPermission" })
  for _, place in ipairs(places) do
    place.row = place.row + 1
  end
  return text, places, 1
end

---@return acp.Pending? request in the float, while it waits
function M.shown()
  local one = shown and window.window() and permission.get(shown.id)
  return one and not one.answered and one or nil
end

---@return boolean the request has been in the float long enough for the user to notice it
function M.is_settled()
  return shown ~= nil and vim.uv.hrtime() - shown.since >= limits.answer_pause_ms * 1e6
end

---@return boolean all of the request has been on the screen
function M.is_whole()
  return shown ~= nil and visibility.is_whole(shown.id)
end

---@param choose fun(request: acp.Request): string? an option's id
---@return fun() for a key
local function answers_with(choose)
  return function()
    local one = M.shown()
    local option_id = one and M.is_settled() and choose(one.request)
    if one and option_id then
      permission.press(one.request.id, option_id)
    elseif one then
      answer_keys.warn_reject_only(one.request)
    end
  end
end

local function map_keys(bufnr, request)
  temporary_keymaps.unmap(bufnr)
  answer_keys.map_all(bufnr, request, answers_with, function()
    local at = api.nvim_win_get_cursor(0)
    return shown and options.at(shown.options, at[1] - 1, at[2])
  end)
  for _, key in ipairs(#previews.of_request(request.id) > 0 and config.keys("preview") or {}) do
    temporary_keymaps.map(bufnr, "n", key, function()
      if M.shown() then
        local win = api.nvim_get_current_win()
        vim.cmd.wincmd("p")
        if not preview_view.open(request.id) and api.nvim_win_is_valid(win) then
          api.nvim_set_current_win(win)
        end
      end
    end, "acp: preview")
  end
  for _, key in ipairs(config.keys("close")) do
    temporary_keymaps.map(bufnr, "n", key, function()
      vim.cmd.wincmd("p")
    end, "acp: back")
  end
end

---Shows the oldest waiting request, or closes the float. If it holds the focus when the request is withdrawn, it stays:
---keys that are being typed must not reach another window. Call it with `:noautocmd`.
function M.draw()
  local list = unseen()
  local win = window.window()
  if #list == 0 and is_inside() and shown and not permission.get(shown.id) then
    local key = config.keys("close")[1]
    local words = { "This request is over. Nothing is sent." }
    return window.show({ lines = words, highlights = {}, title = "Over", answers = key and key .. " back" or "" })
  elseif win and (#list == 0 or api.nvim_win_get_tabpage(win) ~= api.nvim_get_current_tabpage()) then
    typed_ahead.closing(window.close)
  end
  if #list == 0 then
    shown = nil
    return
  end
  local request = list[1].request
  local text, places, shift = text_of(list[1], #list - 1)
  window.show(text)
  local since = shown and shown.id == request.id and shown.since or vim.uv.hrtime()
  shown = { id = request.id, since = since, shift = shift, options = places }
  map_keys(window.buffer() --[[@as integer]], request)
end

local function update()
  is_due = false
  if not window.window() and #unseen() == 0 then
    shown = nil
    return
  end
  local ok, err = pcall(vim.cmd, "noautocmd call v:lua.require'acp_nvim.permission.float'.draw()")
  if ok then
    return following.draw_under_command_line()
  elseif tostring(err):find("E565", 1, true) then -- textlock: no window may be opened or closed now
    is_due = true
    vim.defer_fn(update, limits.textlock_retry_ms)
  elseif not command_line.has_focus() and not reported then
    reported = true
    log.write("the float with permissions could not be shown: " .. tostring(err))
  end
end

---Schedules one update of the float for all changes of the requests, the windows and the options.
function M.refresh()
  if not is_due then
    is_due = true
    vim.schedule(update)
  end
end

---Moves the focus into the float, where the keys of the chat answer.
---@return boolean done
function M.focus()
  local win = M.shown() and window.window()
  if win then
    api.nvim_set_current_win(win)
  end
  return win ~= nil
end

---@return boolean a request is in the float, or will be
function M.shows(id)
  return vim.iter(unseen()):any(function(one)
    return one.request.id == id
  end)
end

---Forgets that the float was closed: a new host numbers its requests from 1 again.
function M.forget()
  dismissed = 0
end

---Keeps the float up to date from now on.
function M.watch()
  visibility.locate_with({
    has = function(bufnr)
      return shown ~= nil and window.buffer() == bufnr
    end,
    each = function(_, first, last, add)
      for row = first, last do
        add(shown.id, "float", row, row - shown.shift + 1)
      end
    end,
  })
  permission.on_change(M.refresh)
  config.on_change(M.refresh)
  local group = api.nvim_create_augroup("acp_nvim.permission", {})
  api.nvim_create_autocmd({ "TabEnter", "BufEnter", "BufWinEnter", "VimResized", "CmdwinLeave" }, {
    group = group,
    callback = M.refresh,
  })
  api.nvim_create_autocmd("WinClosed", {
    group = group,
    callback = function(event)
      if shown and tonumber(event.match) == window.window() then
        local list = permission.waiting()
        dismissed = #list > 0 and list[#list].request.id or dismissed
      end
      M.refresh()
    end,
  })
  api.nvim_create_autocmd({ "CursorMoved", "CursorMovedI" }, {
    group = group,
    callback = function()
      if shown and not is_inside() then
        pcall(window.step_aside)
      end
    end,
  })
end

return M

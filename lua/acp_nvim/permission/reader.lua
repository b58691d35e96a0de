-- Shows the whole of a request in a float, page by page, when the user wants to allow what was not on the screen yet.
local answer_keys = require("acp_nvim.permission.answer_keys")
local block = require("acp_nvim.permission.request")
local config = require("acp_nvim.config")
local decoration = require("acp_nvim.render.decoration")
local limits = require("acp_nvim.limits")
local sessions = require("acp_nvim.host.sessions")
local options = require("acp_nvim.permission.options")
local own = require("acp_nvim.windows.own")
local temporary_keymaps = require("acp_nvim.keys.temporary")
local typed_ahead = require("acp_nvim.keys.typed_ahead")
local visibility = require("acp_nvim.permission.visibility")
local window = require("acp_nvim.permission.window")
local wrapped = require("acp_nvim.permission.wrapped")

local M = {}

local api = vim.api
local READER_COLUMNS = 120 -- at most: longer lines are hard to read
local ZINDEX = 46 -- above the float with permissions

---@class acp.Reader
---@field one acp.Pending
---@field answer acp.Answer
---@field win integer
---@field bufnr integer
---@field from integer window that had the focus before
---@field options acp.OptionPlace[]
---@field key? string that was pressed to allow
---@field border? string text of its border
---@field is_over? boolean the request needs no answer any more

---@type acp.Reader?
local open
local pressed_at = 0 -- when a key that allows was pressed last in the reader, in nanoseconds
local presses = 0

---@return acp.Reader? nil when its window is closed
local function reader()
  if open and not (api.nvim_win_is_valid(open.win) and api.nvim_win_get_buf(open.win) == open.bufnr) then
    open = nil
  end
  return open
end

---@param now acp.Reader
---@return integer rows of text in its window
local function height_of(now)
  return vim.fn.getwininfo(now.win)[1].height -- without its 'winbar'
end

---@param now acp.Reader
---@return string title the position in the request, and the keys that do not allow
---@return string words what the key that allows does
local function border_of(now)
  local request, height = now.one.request, height_of(now)
  local page = math.max(1, math.ceil(vim.fn.line("w$", now.win) / height))
  local pages = math.max(1, math.ceil(api.nvim_buf_line_count(now.bufnr) / height))
  local agent = (sessions.get(now.one.session) or {}).agent or "the agent"
  local close = config.keys("close")[1]
  local back = close and (" · %s back"):format(close) or ""
  if now.is_over then
    return (" %s asked%s "):format(agent, back), " This request is over. Nothing is sent. "
  end
  local reject = answer_keys.first_of(request, "reject_once") and config.keys("reject_once")[1]
  local others = (reject and (" · %s reject"):format(reject) or "") .. back
  local title = (" %s asks · %d/%d%s "):format(agent, page, pages, others)
  local key = now.key or "the key"
  local before, after = " All of it has been on the screen: ", ("press %s to allow "):format(key)
  if not visibility.is_whole(request.id) then
    before = " Not all of it has been on the screen: "
    after = ("press %s again to see the rest (%d/%d) "):format(key, math.min(page + 1, pages), pages)
  end
  local fits = vim.fn.strdisplaywidth(before .. after) <= api.nvim_win_get_width(now.win)
  return title, (fits and before or " ") .. after
end

---Shows the position in the request and the keys, in the border or in 'winbar'.
local function describe()
  local now = reader()
  if not now then
    return
  end
  local title, words = border_of(now)
  if now.border == title .. words then
    return -- each change makes Neovim draw the window again
  end
  now.border = title .. words
  local shape = api.nvim_win_get_config(now.win)
  if shape.border and shape.border ~= "none" then
    shape.title, shape.footer = { { title, "AcpPermission" } }, { { words, "AcpPermission" } }
    shape.footer_pos = "left"
    api.nvim_win_set_config(now.win, shape)
  else
    vim.wo[now.win][0].winbar = (words:gsub("%%", "%%%%"))
  end
end

---Fills the buffer for a window of the size that the screen allows.
---@param now acp.Reader
---@return table config for nvim_open_win
local function fill(now)
  local first, last = window.room()
  local bordered = window.has_border()
  local edge = bordered and 2 or 0
  local width = math.max(1, math.min(vim.o.columns - edge, READER_COLUMNS))
  local session = sessions.get(now.one.session) or {}
  local request = now.one.request
  local letters = answer_keys.letters(request)
  local rendered = block.render(request, { letters = letters, cwd = session.cwd, whole = true, width = width })
  local lines, highlights, places = wrapped(rendered, width)
  now.options = places
  decoration.fill(now.bufnr, lines, highlights)
  local seen, bodies = {}, {}
  visibility.add_lines(seen, bodies, { lines = lines, options = places })
  visibility.show(request.id, "reader", seen, bodies)
  return {
    relative = "editor",
    row = first,
    col = math.floor((vim.o.columns - width - edge) / 2),
    width = width,
    height = math.min(math.max(1, last - first - edge), #lines),
    border = bordered and "rounded" or "none",
    style = "minimal",
    zindex = ZINDEX,
  }
end

---Scrolls to the first line that was not on the screen yet.
---@param now acp.Reader
local function scroll_to_unseen(now)
  local row = visibility.first_missing(now.one.request.id, "reader") or 1
  local top = math.max(1, math.min(row, api.nvim_buf_line_count(now.bufnr) - height_of(now) + 1))
  visibility.expect_redraw()
  api.nvim_win_call(now.win, function()
    vim.fn.winrestview({ topline = top, lnum = top, col = 0, leftcol = 0, skipcol = 0 })
  end)
  describe()
end

---Calls `act` after a pause in which no key was pressed. A key that is held down repeats, and then does nothing.
---@param act fun()
local function unless_repeated(act)
  local now = vim.uv.hrtime()
  local is_repeated = now - pressed_at < limits.seen_ms * 1e6
  presses, pressed_at = presses + 1, now
  local mine = presses
  if not is_repeated then
    vim.defer_fn(function()
      if presses == mine then
        act()
      end
    end, limits.seen_ms)
  end
end

---@param choose fun(request: acp.Request): string? an option's id
---@return fun() for a key
local function answers_with(choose)
  return function()
    local now = reader()
    local request = now and not now.is_over and now.one.request
    local option_id = request and choose(request)
    if not now or not request or not option_id then
      return
    elseif answer_keys.rejects(request, option_id) then
      return now.answer(request.id, option_id)
    elseif not visibility.is_redraw_expected() then
      unless_repeated(function()
        if reader() == now then
          now.answer(request.id, option_id)
        end
      end)
    end
  end
end

---@param now acp.Reader
local function map_keys(now)
  temporary_keymaps.unmap(now.bufnr)
  answer_keys.map_all(now.bufnr, now.one.request, answers_with, function()
    local at = api.nvim_win_get_cursor(0)
    return options.at(now.options, at[1] - 1, at[2])
  end)
  for _, key in ipairs(config.keys("close")) do
    temporary_keymaps.map(now.bufnr, "n", key, M.close, "acp: back")
  end
end

---@param now acp.Reader
local function fit(now)
  api.nvim_win_set_config(now.win, fill(now))
  scroll_to_unseen(now)
end

---Shows a request from its beginning; when it is shown already, its first line that was not on the screen yet.
---@param one acp.Pending
---@param answer acp.Answer called by its keys
---@param option_id string that the user wants to choose
function M.show(one, answer, option_id)
  local now = reader()
  local is_here = now and now.one == one and api.nvim_win_get_tabpage(now.win) == api.nvim_get_current_tabpage()
  if not is_here then
    M.close()
    local bufnr, from = api.nvim_create_buf(false, true), api.nvim_get_current_win()
    vim.bo[bufnr].bufhidden = "wipe"
    vim.bo[bufnr].undolevels = -1
    local key = answer_keys.key_of(one.request, option_id)
    now = { one = one, answer = answer, bufnr = bufnr, from = from, options = {}, key = key, win = from }
    now.win = api.nvim_open_win(bufnr, true, fill(now))
    open = now -- only now: without its window it counts as closed
    own.set_options(now.win, { linebreak = false, scrolloff = 0 }) -- its lines are as wide as it
    map_keys(now)
  end
  ---@cast now acp.Reader
  api.nvim_set_current_win(now.win)
  vim.cmd.stopinsert() -- the keys are mapped in Normal mode
  scroll_to_unseen(now)
end

---Draws a request again, if it is shown.
---@param one acp.Pending
function M.refresh(one)
  local now = reader()
  if now and now.one.request.id == one.request.id and now.one ~= one then
    now.one, now.is_over = one, nil
    fit(now)
    map_keys(now)
  end
end

---Closes the window, and gives the focus back.
function M.close()
  local now = reader()
  open = nil
  if now then
    local is_current = api.nvim_get_current_win() == now.win
    pcall(api.nvim_win_close, now.win, true)
    if is_current and api.nvim_win_is_valid(now.from) then
      api.nvim_set_current_win(now.from)
    end
  end
end

---Closes the window of a request that is closed. If the user is there and has not answered, it stays without an answer: the
---keys that they are typing must not reach their file, or another request.
---@param id integer
---@param is_answered? boolean by the user
function M.over(id, is_answered)
  local now = reader()
  if not now or now.one.request.id ~= id then
    return
  elseif is_answered or api.nvim_get_current_win() ~= now.win then
    return typed_ahead.closing(M.close)
  end
  now.is_over = true
  describe()
end

---Describes it now, and once more when the lines that are on the screen count as seen. A timer that was started in a busy
---moment is early, and is started again.
local function describe_until_seen()
  local seen_at = vim.uv.hrtime() + limits.seen_ms * 1e6
  local function look()
    describe()
    local left = seen_at - vim.uv.hrtime()
    if left > 0 and reader() then
      vim.defer_fn(look, math.ceil(left / 1e6))
    end
  end
  look()
end

visibility.locate_with({
  has = function(bufnr)
    local now = reader()
    return now ~= nil and now.bufnr == bufnr
  end,
  each = function(_, first, last, add)
    for row = first, open and last or -1 do
      add(open.one.request.id, "reader", row, row + 1)
    end
  end,
  on_seen = function()
    if reader() then
      describe_until_seen()
    end
  end,
})

api.nvim_create_autocmd({ "VimResized", "WinScrolled", "WinEnter" }, {
  group = api.nvim_create_augroup("acp_nvim.permission.reader", {}),
  callback = function(event)
    local now = reader()
    if now and event.event == "WinEnter" then
      if now.is_over and api.nvim_get_current_win() ~= now.win then
        vim.schedule(M.close)
      end
    elseif now and event.event == "VimResized" and not now.is_over then
      fit(now)
    elseif now then
      describe()
    end
  end,
})

return M

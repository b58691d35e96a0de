-- Opens, finds and closes the windows of a chat and its prompt.
local config = require("acp_nvim.config")
local sessions = require("acp_nvim.sessions")
local winbar = require("acp_nvim.chat.winbar")

local M = {}

local api = vim.api
local LOOK = {
  breakindent = true,
  colorcolumn = "",
  conceallevel = 0,
  cursorline = false,
  fillchars = "eob: ",
  foldcolumn = "0",
  foldenable = false,
  linebreak = true,
  list = false,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  spell = false,
  statuscolumn = "",
  wrap = true,
}

---@param win integer
---@param fixed "winfixwidth"|"winfixheight"|nil
local function dress(win, fixed)
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
  if fixed then
    vim.wo[win][0][fixed] = true
  end
end

---@param accept fun(session: acp.Session, bufnr: integer): boolean
---@return integer? win of the current tab
local function find(accept)
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local bufnr = api.nvim_win_get_buf(win)
    local session = sessions.of_buffer(bufnr)
    if session and accept(session, bufnr) then
      return win
    end
  end
end

---@param wanted number lines or columns, or a part of all
---@param all integer
---@param least integer
---@return integer
local function size(wanted, all, least)
  local exact = wanted < 1 and math.floor(wanted * all) or math.floor(wanted)
  -- leave a third to the code where the screen is small
  return math.max(1, math.min(math.max(exact, least), math.floor(all * 2 / 3)))
end

---@param bufnr integer
---@return integer win
local function open_tab(bufnr)
  vim.cmd(("keepalt tab sbuffer %d"):format(bufnr))
  return api.nvim_get_current_win()
end

---@param bufnr integer
---@return integer win
---@return "winfixwidth"|"winfixheight"|nil fixed
local function open_chat(bufnr)
  local ui = config.get().ui
  if ui.position == "tab" then
    return open_tab(bufnr), nil
  end
  local shape = { split = ui.position == "bottom" and "below" or ui.position, win = -1 }
  if ui.position == "bottom" then
    shape.height = size(ui.height, vim.o.lines, 8)
  else
    shape.width = size(ui.width, vim.o.columns, 40)
  end
  local ok, win = pcall(api.nvim_open_win, bufnr, false, shape)
  if not ok then -- no room for a split
    return open_tab(bufnr), nil
  end
  return win, ui.position == "bottom" and "winfixheight" or "winfixwidth"
end

---The prompt goes with its chat.
---@param chat integer
---@param prompt integer
local function close_together(chat, prompt)
  api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(chat),
    once = true,
    callback = vim.schedule_wrap(function()
      local session = api.nvim_win_is_valid(prompt) and sessions.of_buffer(api.nvim_win_get_buf(prompt))
      local tab = session and api.nvim_win_get_tabpage(prompt)
      if tab and #api.nvim_tabpage_list_wins(tab) > 1 then
        pcall(api.nvim_win_close, prompt, false)
      end
    end),
  })
end

---@param session acp.Session
---@return integer win of the current tab, with the chat in it
local function ensure_chat(session)
  local win = find(function(_, bufnr)
    return bufnr == session.bufnr
  end)
  if win then
    return win
  end
  win = find(function(other, bufnr)
    return bufnr == other.bufnr
  end)
  local fixed
  if win then
    fixed = vim.wo[win].winfixwidth and "winfixwidth" or vim.wo[win].winfixheight and "winfixheight" or nil
    api.nvim_win_set_buf(win, session.bufnr)
  else
    win, fixed = open_chat(session.bufnr)
  end
  dress(win, fixed)
  api.nvim_win_set_cursor(win, { api.nvim_buf_line_count(session.bufnr), vim.v.maxcol })
  return win
end

---@param session acp.Session
---@param chat integer
---@return integer win
local function ensure_prompt(session, chat)
  local win = find(function(_, bufnr)
    return bufnr == session.prompt_bufnr
  end)
  if win then
    return win
  end
  win = find(function(other, bufnr)
    return bufnr == other.prompt_bufnr
  end)
  if win then
    api.nvim_win_set_buf(win, session.prompt_bufnr)
  else
    local height = math.max(1, math.min(config.get().ui.prompt_height, api.nvim_win_get_height(chat) - 3))
    win = api.nvim_open_win(session.prompt_bufnr, false, { split = "below", win = chat, height = height })
    close_together(chat, win)
  end
  dress(win, "winfixheight")
  return win
end

---Shows chat and prompt in the current tab; the focus stays where it is.
---@param session acp.Session with both buffers
---@return integer prompt window
function M.open(session)
  local before = api.nvim_get_current_win()
  local tab = api.nvim_get_current_tabpage()
  local prompt = ensure_prompt(session, ensure_chat(session))
  if api.nvim_get_current_tabpage() == tab then
    api.nvim_set_current_win(before)
  end
  winbar.update(session)
  return prompt
end

---@param session acp.Session
---@return boolean the chat is seen in the current tab
function M.visible(session)
  return find(function(_, bufnr)
    return bufnr == session.bufnr
  end) ~= nil
end

---@param session acp.Session
function M.focus_prompt(session)
  api.nvim_set_current_win(M.open(session))
end

---Closes chat and prompt in the current tab; the session goes on.
---@param session acp.Session
function M.close(session)
  for _, bufnr in ipairs({ session.prompt_bufnr, session.bufnr }) do
    local win = find(function(_, candidate)
      return candidate == bufnr
    end)
    if win and not pcall(api.nvim_win_close, win, false) then
      api.nvim_win_call(win, vim.cmd.enew) -- the last window of all
    end
  end
end

return M

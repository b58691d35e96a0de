-- Shows chat, plans and prompt in floating windows with one border around them.
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local splits = require("acp_nvim.chat.windows.splits")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local ZINDEX = 30 -- below other floating windows
local PART = 0.8 -- share of the screen if the options set no size
local LEAST_LINES, LEAST_COLUMNS = 8, 12 -- minimal size of the screen for a border

---Returns the area inside the border.
local function place()
  local tabs = vim.o.showtabline == 2 or (vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1)
  local top = tabs and 1 or 0
  local rows = math.max(1, vim.o.lines - top - vim.o.cmdheight - (vim.o.laststatus > 0 and 1 or 0))
  local columns = vim.o.columns
  local border = rows >= LEAST_LINES and columns >= LEAST_COLUMNS
  local edge = border and 2 or 0
  local ui = config.get().ui
  local width = splits.size(ui.width or PART, columns, 40, columns - edge)
  local height = splits.size(ui.height or PART, rows, 12, rows - edge)
  return {
    row = top + math.floor((rows - height - edge) / 2) + edge / 2,
    col = math.floor((columns - width - edge) / 2) + edge / 2,
    width = width,
    height = height,
    border = border,
  }
end

---@param above integer lines of the area above the window
---@return table for nvim_open_win
local function inner(at, above, height)
  return {
    relative = "editor",
    row = at.row + above,
    col = at.col,
    width = at.width,
    height = math.max(1, height),
    border = "none",
    zindex = ZINDEX + 1,
  }
end

---@return table for nvim_open_win
local function outer(at, session)
  local style = vim.o.winborder
  local title = cells.cut(cells.plain(session.agent or "agent"), math.max(at.width - 4, 1))
  return {
    relative = "editor",
    row = at.row - 1,
    col = at.col - 1,
    width = at.width,
    height = at.height,
    border = (style == "" or style == "none") and "rounded" or style,
    title = { { " " .. title .. " ", "FloatTitle" } },
    style = "minimal",
    focusable = false,
    zindex = ZINDEX,
  }
end

local function draw_border(at, session)
  local win = stack.part("frame")
  if not at.border then
    if win then
      api.nvim_win_close(win, true)
    end
  elseif win then
    api.nvim_win_set_config(win, outer(at, session))
  else
    local bufnr = api.nvim_create_buf(false, true)
    vim.bo[bufnr].bufhidden = "wipe"
    win = api.nvim_open_win(bufnr, false, vim.tbl_extend("force", outer(at, session), { noautocmd = true }))
    vim.wo[win].winfixbuf = true
    stack.mark(win, "frame")
  end
end

---@return integer? win with the chat
function M.open_chat(session)
  local at = place()
  draw_border(at, session)
  local bufnr = session.bufnr --[[@as integer]]
  return stack.opened(bufnr, function()
    api.nvim_open_win(bufnr, false, inner(at, 0, at.height - 1))
  end)
end

---@return integer? win
function M.open_prompt(bufnr)
  local at = place()
  local height = math.max(1, math.floor(at.height / 2)) -- its 'winbar' may need the room
  return stack.opened(bufnr, function()
    api.nvim_open_win(bufnr, false, inner(at, at.height - height, height))
  end)
end

---@return integer lines inside the border
function M.height()
  return place().height
end

---Sets the heights of all windows; the chat gets the rest.
---@param prompt integer lines
---@param pin integer lines of the plans; 0: none
---@param open_pin fun(shape: table): integer
function M.layout(now, prompt, pin, open_pin)
  local at = place()
  draw_border(at, now.session)
  local chat = math.max(1, at.height - prompt - pin)
  api.nvim_win_set_config(now.chat, inner(at, 0, chat))
  if pin > 0 then
    local shape = vim.tbl_extend("force", inner(at, chat, pin), { focusable = false })
    if now.pin then
      api.nvim_win_set_config(now.pin, shape)
    else
      now.pin = open_pin(shape)
    end
  end
  if now.prompt then
    api.nvim_win_set_config(now.prompt, inner(at, chat + pin, prompt))
  end
end

---@param bufnr integer of a chat or a prompt
local function move_focus(bufnr, direction)
  local now = stack.current()
  local win = api.nvim_get_current_win()
  local to = now and stack.floats(win) and (direction == "j" and now.prompt or now.chat)
  if to and api.nvim_win_get_buf(win) == bufnr then
    api.nvim_set_current_win(to)
  else
    vim.cmd.wincmd({ direction, count = vim.v.count1 })
  end
end

---Maps keys between chat and prompt, since Neovim's own do not move between floating windows.
function M.map(bufnr)
  for direction, keys in pairs({ j = { "j", "<C-j>", "<Down>" }, k = { "k", "<C-k>", "<Up>" } }) do
    for _, key in ipairs(keys) do
      vim.keymap.set("n", "<C-w>" .. key, function()
        move_focus(bufnr, direction)
      end, { buffer = bufnr, desc = "acp: go to the chat or its prompt" })
    end
  end
end

return M

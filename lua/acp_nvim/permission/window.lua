-- The window of the float with waiting permissions: opens, moves and closes it, unseen by autocommands and by the focus.
local dress = require("acp_nvim.chat.transcript.dress")
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local FLOAT_COLUMNS = 80 -- of the float with waiting permissions: lines that can still be read
local ZINDEX = 45 -- below the floats that the user opens, and below menus
local LEAST_ROWS = 8 -- with which there is room for a border
local LOOK = {
  breakindent = false,
  conceallevel = 0,
  cursorbind = false,
  diff = false,
  foldenable = false,
  linebreak = false,
  list = false,
  scrollbind = false,
  sidescrolloff = 0,
  scrolloff = 0,
  smoothscroll = true,
  spell = false,
  winblend = 0,
  winfixbuf = true,
  winhighlight = "",
  wrap = true,
}

---@class acp.FloatText
---@field lines string[]
---@field highlights acp.Highlight[]
---@field title string who asks, how many wait
---@field answers string how it is answered

---@type integer?
local win
---@type integer?
local bufnr
---@type { row: integer, height: integer, width: integer, bottom: integer }? where it is, in cells of the screen
local place

---@return integer? while it is open
function M.window()
  return win and api.nvim_win_is_valid(win) and win or nil
end

---@return integer? bufnr
function M.buffer()
  return bufnr and api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---@return integer first row of the screen where it may be
---@return integer last row after the last
function M.room()
  local tabs = vim.o.showtabline == 2 or vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1
  local status = vim.o.laststatus > 0
  return tabs and 1 or 0, vim.o.lines - vim.o.cmdheight - (status and 1 or 0)
end

---@return boolean there is room for a border, which says who asks and how it is answered
function M.has_border()
  local first, last = M.room()
  return last - first >= LEAST_ROWS and vim.o.columns >= 24
end

---@param text acp.FloatText
local function fill(text)
  if not M.buffer() then
    bufnr = api.nvim_create_buf(false, true)
    vim.bo[bufnr].bufhidden = "hide"
    vim.bo[bufnr].undolevels = -1
  end
  dress.fill(bufnr, text.lines, text.highlights)
end

---@param text acp.FloatText
---@param bordered boolean
---@return integer columns of its text
local function width_of(text, bordered)
  local most = math.max(1, math.min(vim.o.columns - (bordered and 2 or 0), FLOAT_COLUMNS))
  local wanted = math.max(vim.fn.strdisplaywidth(text.title) + 2, vim.fn.strdisplaywidth(text.answers) + 20)
  for _, line in ipairs(text.lines) do
    wanted = math.max(wanted, vim.fn.strdisplaywidth(line:sub(1, limits.line_bytes)))
  end
  return math.min(wanted, most)
end

---@param config table
local function open(config)
  if M.window() then
    return api.nvim_win_set_config(win, config)
  end
  win = api.nvim_open_win(bufnr, false, vim.tbl_extend("error", config, { noautocmd = true }))
  for option, value in pairs(LOOK) do
    vim.wo[win][0][option] = value
  end
end

---@param first integer row
---@param last integer row after the last
---@param height integer with the border
---@param width integer with the border
---@return boolean the text that is typed would be below it
local function covers_cursor(first, last, height, width)
  local current = api.nvim_get_current_win()
  if current == win or last - first < 2 * height then
    return false
  end
  local at = vim.fn.screenpos(current, vim.fn.line("."), vim.fn.col("."))
  return at.row > first and at.row <= first + height + 1 and at.col > vim.o.columns - width - 2
end

---@param first integer
---@param last integer
---@param height integer
---@param width integer
---@return table anchor
local function anchor(first, last, height, width)
  if covers_cursor(first, last, height, width) then
    return { relative = "editor", anchor = "SE", row = last, col = vim.o.columns }
  end
  return { relative = "editor", anchor = "NE", row = first, col = vim.o.columns }
end

---@param text acp.FloatText
---@param hidden integer rows of the text that there is no room for
---@return table chunks at the bottom
local function footer(text, hidden)
  local more = hidden > 0 and (" … %d more rows ·"):format(hidden) or ""
  return { { ("%s %s "):format(more, text.answers), "AcpToolDetail" } }
end

---Shows this text, at the top right, or at the bottom right where the user works at the top.
---@param text acp.FloatText
function M.show(text)
  local first, last = M.room()
  local bordered = M.has_border()
  fill(text)
  local width = width_of(text, bordered)
  local config = { relative = "editor", anchor = "NE", row = first, col = vim.o.columns, width = width, height = 1 }
  config.style, config.focusable, config.zindex = "minimal", true, ZINDEX
  config.border = bordered and "rounded" or "none"
  if not M.window() then
    open(config)
  end
  config.height = 1
  api.nvim_win_set_config(win, { width = width })
  local needed = api.nvim_win_text_height(win, {}).all
  local border = bordered and 2 or 0
  config.height = math.max(1, math.min(needed, last - first - border, math.max(2, math.floor((last - first) * 2 / 3))))
  if bordered then
    config.title = { { (" %s "):format(text.title), "AcpPermission" } }
    config.footer = footer(text, needed - config.height)
    config.footer_pos = "right"
  end
  place = { first = first, last = last, height = config.height + border, width = width + border }
  open(vim.tbl_extend("force", config, anchor(first, last, place.height, place.width)))
  if api.nvim_get_current_win() ~= win then
    api.nvim_win_set_cursor(win, { 1, 0 })
  end
end

---The cursor has moved: the float goes out of its way.
function M.step_aside()
  if not M.window() or not place or api.nvim_get_current_win() == win then
    return
  end
  local wanted = anchor(place.first, place.last, place.height, place.width)
  if api.nvim_win_get_config(win).anchor ~= wanted.anchor then
    api.nvim_win_set_config(win, wanted)
  end
end

function M.close()
  if M.window() then
    api.nvim_win_close(win, true)
  end
  win = nil
end

return M

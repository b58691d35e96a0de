-- Opens, moves and closes the window of the float with permissions, without autocommands or a change of focus.
local decoration = require("acp_nvim.render.decoration")
local limits = require("acp_nvim.limits")
local own = require("acp_nvim.windows.own")

local M = {}

local api = vim.api
local FLOAT_COLUMNS = 80 -- at most: longer lines are hard to read
local ZINDEX = 45 -- below the floats that the user opens, and below menus
local LEAST_ROWS = 8 -- of the screen, for a border
local OPTIONS = { conceallevel = 0, scrolloff = 0, sidescrolloff = 0, smoothscroll = true, winblend = 0 }

---@class acp.FloatText
---@field lines string[]
---@field highlights acp.Highlight[]
---@field title string names the agent, and how many requests wait
---@field answers string names the keys that answer

---@type integer?
local win
---@type integer?
local bufnr
---@type { first: integer, last: integer, height: integer, width: integer }? the room for the float, and its size
local place

---@return integer? win while it is open
function M.window()
  return win and api.nvim_win_is_valid(win) and win or nil
end

---@return integer? bufnr
function M.buffer()
  return bufnr and api.nvim_buf_is_loaded(bufnr) and bufnr or nil
end

---@return integer first row of the screen where a float may be
---@return integer last row after the last
function M.room()
  local tabs = vim.o.showtabline == 2 or vim.o.showtabline == 1 and #api.nvim_list_tabpages() > 1
  local status = vim.o.laststatus > 0
  return tabs and 1 or 0, vim.o.lines - vim.o.cmdheight - (status and 1 or 0)
end

---@return boolean there is room for a border with a title and a footer
function M.has_border()
  local first, last = M.room()
  return last - first >= LEAST_ROWS and vim.o.columns >= 24
end

---@return integer columns that its text may have at most
function M.columns()
  return math.max(1, math.min(vim.o.columns - (M.has_border() and 2 or 0), FLOAT_COLUMNS))
end

---@param config table
local function open(config)
  if M.window() then
    return api.nvim_win_set_config(win, config)
  end
  win = api.nvim_open_win(bufnr, false, vim.tbl_extend("error", config, { noautocmd = true }))
  own.set_options(win, OPTIONS)
end

---@return table anchor at the top right, or at the bottom right where the float would cover the cursor
local function anchor()
  local current = api.nvim_get_current_win()
  local first, last, height, width = place.first, place.last, place.height, place.width
  local top = { relative = "editor", anchor = "NE", row = first, col = vim.o.columns }
  if current == win or last - first < 2 * height then
    return top
  end
  local at = vim.fn.screenpos(current, vim.fn.line("."), vim.fn.col("."))
  if at.row > first and at.row <= first + height + 1 and at.col > vim.o.columns - width - 2 then
    return { relative = "editor", anchor = "SE", row = last, col = vim.o.columns }
  end
  return top
end

---Shows a text at the right of the screen, away from the cursor.
---@param text acp.FloatText
function M.show(text)
  local first, last = M.room()
  local bordered = M.has_border()
  local border = bordered and 2 or 0
  if not M.buffer() then
    bufnr = api.nvim_create_buf(false, true)
    vim.bo[bufnr].bufhidden = "hide"
    vim.bo[bufnr].undolevels = -1
  end
  decoration.fill(bufnr, text.lines, text.highlights)
  local width = math.max(vim.fn.strdisplaywidth(text.title) + 2, vim.fn.strdisplaywidth(text.answers) + 20)
  for _, line in ipairs(text.lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line:sub(1, limits.line_bytes)))
  end
  width = math.min(width, M.columns())
  local config = { relative = "editor", anchor = "NE", row = first, col = vim.o.columns, width = width, height = 1 }
  config.style, config.focusable, config.zindex = "minimal", true, ZINDEX
  config.border = bordered and "rounded" or "none"
  if not M.window() then
    open(config)
  end
  api.nvim_win_set_config(win, { width = width })
  local needed = api.nvim_win_text_height(win, {}).all
  config.height = math.max(1, math.min(needed, last - first - border, math.max(2, math.floor((last - first) * 2 / 3))))
  if bordered then
    local hidden = needed - config.height
    local more = hidden > 0 and (" … %d more rows ·"):format(hidden) or ""
    config.title = { { (" %s "):format(text.title), "AcpPermission" } }
    config.footer = { { ("%s %s "):format(more, text.answers), "AcpToolDetail" } }
    config.footer_pos = "right"
  end
  place = { first = first, last = last, height = config.height + border, width = width + border }
  open(vim.tbl_extend("force", config, anchor()))
  if api.nvim_get_current_win() ~= win then
    api.nvim_win_set_cursor(win, { 1, 0 })
  end
end

---Moves the float out of the way of the cursor.
function M.step_aside()
  if not M.window() or not place or api.nvim_get_current_win() == win then
    return
  end
  local wanted = anchor()
  if api.nvim_win_get_config(win).anchor ~= wanted.anchor then
    api.nvim_win_set_config(win, wanted)
  end
end

---Closes the float.
function M.close()
  if M.window() then
    api.nvim_win_close(win, true)
  end
  win = nil
end

return M

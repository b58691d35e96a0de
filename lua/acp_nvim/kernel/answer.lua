-- Shows an answer of several lines in full, in a float above the command line that goes with the next key.
local limits = require("acp_nvim.limits")

local M = {}

local api, uv = vim.api, vim.uv
local NAMESPACE = api.nvim_create_namespace("acp_nvim.answer")
local GROUP = api.nvim_create_augroup("acp_nvim.answer", {})
local ZINDEX = 200 -- above all other windows: the user has just asked for it
local ROWS_LEFT = 3 -- of the screen for what is below: the answer is about that

---@type { win: integer, bufnr: integer, since: integer }? since: ms of uv.now, of the last text
local shown

local function close()
  local one = shown
  shown = nil
  vim.on_key(nil, NAMESPACE)
  api.nvim_clear_autocmds({ group = GROUP })
  if one and api.nvim_win_is_valid(one.win) then
    pcall(api.nvim_win_close, one.win, true)
  end
end

---@param height integer rows of text
---@param is_cut? boolean more than these rows
---@return vim.api.keyset.win_config
local function config(height, is_cut)
  return {
    relative = "editor",
    anchor = "SW",
    row = vim.o.lines - vim.o.cmdheight,
    col = 0,
    width = vim.o.columns,
    height = height,
    border = { "", "─", "", "", "", "", "", "" },
    title = is_cut and " acp_nvim … :messages " or " acp_nvim ",
    focusable = false,
    zindex = ZINDEX,
  }
end

---Gives the window the rows that its text needs, as far as the screen has them.
local function fit(win)
  local room = math.max(vim.o.lines - vim.o.cmdheight - 1 - ROWS_LEFT, 1)
  api.nvim_win_set_config(win, config(room)) -- wide as it will be: the height depends on that
  local needed = api.nvim_win_text_height(win, {}).all
  api.nvim_win_set_config(win, config(math.min(needed, room), needed > room))
end

---@param lines string[]
---@param group? string highlight group
local function append(bufnr, lines, group)
  local is_first = api.nvim_buf_line_count(bufnr) == 1 and api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] == ""
  local from = is_first and 0 or api.nvim_buf_line_count(bufnr)
  api.nvim_buf_set_lines(bufnr, from, -1, true, lines)
  if group then
    api.nvim_buf_set_extmark(bufnr, NAMESPACE, from, 0, { end_row = from + #lines, hl_group = group })
  end
end

local function open()
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  local given = config(1)
  given.style, given.noautocmd = "minimal", true
  local win = api.nvim_open_win(bufnr, false, given)
  for option, value in pairs({ wrap = true, linebreak = true, breakindent = true, winblend = 0 }) do
    api.nvim_set_option_value(option, value, { win = win, scope = "local" })
  end
  shown = { win = win, bufnr = bufnr, since = 0 }
  vim.on_key(function(_, typed)
    if typed ~= "" and shown and uv.now() - shown.since >= limits.seen_ms then -- else typed before it was there
      vim.schedule(close)
    end
  end, NAMESPACE)
  api.nvim_create_autocmd("VimResized", {
    group = GROUP,
    callback = function()
      fit(win)
    end,
  })
end

---Shows a text until the next key that is typed after it; what is shown already stays above it.
---@param text string
---@param group? string highlight group
---@return boolean ok nothing prevents windows from opening now
function M.show(text, group)
  if shown and not api.nvim_win_is_valid(shown.win) then
    close()
  end
  if not shown and not pcall(open) then
    return false
  end
  append(shown.bufnr, vim.split(text, "\n", { plain = true }), group)
  fit(shown.win)
  uv.update_time()
  shown.since = uv.now()
  return true
end

return M

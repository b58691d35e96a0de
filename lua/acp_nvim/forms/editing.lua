-- Edits the text of one field in a small window over the form. Each change is reported at once.
local config = require("acp_nvim.config")
local keymaps = require("acp_nvim.keys")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")
local size = require("acp_nvim.windows.size")

local M = {}

local api = vim.api
local MOST = 8 -- lines of the window

---@class acp.FieldEdit
---@field title string
---@field text string
---@field win integer of the form
---@field row integer 0-based, of the value
---@field on_change fun(text: string)
---@field on_close fun(to_next: boolean) called when it is closed, with whether to move to the next field

---@type integer? window
local open

---@return boolean the window has the focus
function M.has_focus()
  return open ~= nil and api.nvim_win_is_valid(open) and api.nvim_get_current_win() == open
end

local function text_of(bufnr)
  return table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
end

---@param close fun(to_next: boolean)
local function map_keys(bufnr, close)
  local function map(modes, keys, run)
    for _, key in ipairs(keys) do
      keymaps.map_key(bufnr, modes, key, run, "done with this field")
    end
  end
  local function done()
    close(true)
  end
  map("i", { "<CR>" }, function()
    if vim.fn.pumvisible() == 1 then
      return api.nvim_feedkeys(vim.keycode("<C-y>"), "n", false)
    end
    done()
  end)
  map("n", { "<CR>" }, done)
  map({ "n", "i" }, config.keys("form_review"), done)
  map("n", config.keys("form_next"), done)
  map("n", { "<Esc>", unpack(config.keys("close")) }, function()
    close(false)
  end)
end

---@return integer lines
local function height_of(bufnr)
  return math.min(api.nvim_buf_line_count(bufnr), MOST)
end

---@return integer win
local function window_for(edit, bufnr)
  local win = api.nvim_open_win(bufnr, true, {
    relative = "win",
    win = edit.win,
    bufpos = { edit.row, 0 },
    row = -1,
    col = 3,
    width = math.max(10, api.nvim_win_get_width(edit.win) - 8),
    height = height_of(bufnr),
    style = "minimal",
    border = "rounded",
    title = (" %s "):format(edit.title),
    footer = " Enter: done · Ctrl-J: a new line ",
    footer_pos = "right",
    zindex = 60,
  })
  own.set_options(win, {})
  return win
end

---@param close fun(to_next: boolean)
local function watch(bufnr, win, edit, close)
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP", "BufWriteCmd" }, {
    buffer = bufnr,
    callback = function()
      edit.on_change(text_of(bufnr))
      vim.bo[bufnr].modified = false -- :q loses nothing
      if api.nvim_win_is_valid(win) then
        size.set_height(win, height_of(bufnr))
      end
    end,
  })
  api.nvim_create_autocmd({ "BufWinLeave", "WinLeave" }, {
    buffer = bufnr,
    callback = function()
      edit.on_change(text_of(bufnr))
      vim.schedule(function()
        close(false)
      end)
    end,
  })
end

---Opens the window, in Insert mode.
function M.open(edit)
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].buftype = "acwrite" -- for :w and ZZ
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].swapfile = false
  pcall(api.nvim_buf_set_name, bufnr, named.name(("form field %d"):format(bufnr)))
  api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(edit.text, "\n", { plain = true }))
  vim.bo[bufnr].modified = false
  local win = window_for(edit, bufnr)
  local is_open = true
  local function close(to_next)
    if not is_open then
      return
    end
    is_open, open = false, nil
    if api.nvim_buf_is_valid(bufnr) then
      edit.on_change(text_of(bufnr))
    end
    if to_next or api.nvim_get_current_win() == win then
      vim.cmd.stopinsert()
    end
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
    edit.on_close(to_next)
  end
  open = win
  own.set_filetype(win, "acp_form_text")
  map_keys(bufnr, close)
  watch(bufnr, win, edit, close)
  vim.cmd("startinsert!")
end

return M

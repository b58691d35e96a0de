-- A small window over a form in which the text of one field is typed; every change of it counts at once.
local config = require("acp_nvim.config")

local M = {}

local api = vim.api
local FILETYPE = "acp_form_text"
local MOST = 8 -- lines that it has at first

---@class acp.FieldEdit
---@field title string
---@field text string
---@field win integer of the form
---@field row integer 0-based, of the value
---@field on_change fun(text: string)
---@field on_close fun(goes_on: boolean) it is closed; the user goes on with the next field

---@type integer? its window
local open

---@return boolean the user is typing in it
function M.has_focus()
  return open ~= nil and api.nvim_win_is_valid(open) and api.nvim_get_current_win() == open
end

---@param bufnr integer
---@return string
local function text_of(bufnr)
  return table.concat(api.nvim_buf_get_lines(bufnr, 0, -1, true), "\n")
end

---@param bufnr integer
---@param close fun(goes_on: boolean)
local function map(bufnr, close)
  local function on(modes, keys, run)
    for _, key in ipairs(keys) do
      vim.keymap.set(modes, key, run, { buffer = bufnr, nowait = true, desc = "acp: done with this field" })
    end
  end
  local function done()
    close(true)
  end
  local function back()
    close(false)
  end
  on("i", { "<CR>" }, function()
    if vim.fn.pumvisible() == 1 then
      return api.nvim_feedkeys(vim.keycode("<C-y>"), "n", false)
    end
    done()
  end)
  on("n", { "<CR>" }, done)
  on({ "n", "i" }, config.keys("form_review"), done)
  on("n", config.keys("form_next"), done)
  on("n", { "<Esc>", unpack(config.keys("close")) }, back)
end

---@param edit acp.FieldEdit
---@return integer bufnr
local function buffer_with(edit)
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].buftype = "acwrite" -- :w and ZZ are as good as any other way to be done
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].swapfile = false
  pcall(api.nvim_buf_set_name, bufnr, ("acp://form/field %d"):format(bufnr))
  api.nvim_buf_set_lines(bufnr, 0, -1, true, vim.split(edit.text, "\n", { plain = true }))
  vim.bo[bufnr].modified = false
  return bufnr
end

---@param bufnr integer
---@return integer lines
local function height_of(bufnr)
  return math.min(api.nvim_buf_line_count(bufnr), MOST)
end

---@param edit acp.FieldEdit
---@param bufnr integer
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
  vim.wo[win][0].wrap, vim.wo[win][0].winfixbuf = true, true
  return win
end

---@param bufnr integer
---@param win integer
---@param edit acp.FieldEdit
---@param close fun(goes_on: boolean)
local function watch(bufnr, win, edit, close)
  api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP", "BufWriteCmd" }, {
    buffer = bufnr,
    callback = function()
      edit.on_change(text_of(bufnr))
      vim.bo[bufnr].modified = false -- :q loses nothing
      if api.nvim_win_is_valid(win) then
        api.nvim_win_set_height(win, height_of(bufnr))
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

---@param edit acp.FieldEdit
function M.open(edit)
  local bufnr = buffer_with(edit)
  local win = window_for(edit, bufnr)
  local is_open = true
  local function close(goes_on)
    if not is_open then
      return
    end
    is_open, open = false, nil
    if api.nvim_buf_is_valid(bufnr) then
      edit.on_change(text_of(bufnr))
    end
    if goes_on or api.nvim_get_current_win() == win then
      vim.cmd.stopinsert()
    end
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
    edit.on_close(goes_on)
  end
  open = win
  vim.bo[bufnr].filetype = FILETYPE
  map(bufnr, close)
  watch(bufnr, win, edit, close)
  vim.cmd("startinsert!")
end

return M

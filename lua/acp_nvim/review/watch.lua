-- Keeps what is seen of the review in step with the buffers, the windows and the cursor, while there is anything to review.
local colours = require("acp_nvim.review.colours")
local edits = require("acp_nvim.review.edits")
local files = require("acp_nvim.review.files")
local highlights = require("acp_nvim.highlights")
local hint = require("acp_nvim.review.hint")
local marks = require("acp_nvim.review.marks")
local sight = require("acp_nvim.review.sight")
local top = require("acp_nvim.review.top")
local winbar = require("acp_nvim.review.winbar")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.review", {})
local watching = false

---@param events string|string[]
---@param run fun(event: vim.api.keyset.create_autocmd.callback_args)
---@param pattern? string|string[]
local function on(events, run, pattern)
  api.nvim_create_autocmd(events, { group = GROUP, callback = run, pattern = pattern })
end

---@param undress? boolean
---@return fun()
local function refresh_all(undress)
  return function()
    for _, bufnr in ipairs(marks.buffers()) do
      marks.refresh(bufnr, undress)
      top.refresh(bufnr)
    end
  end
end

---@param event vim.api.keyset.create_autocmd.callback_args
local function on_syntax(event)
  if marks.has(event.buf) then
    vim.schedule(function()
      if marks.has(event.buf) then
        marks.refresh(event.buf, true)
      end
    end)
  end
end

local function watch_buffers()
  on({ "BufReadPost", "BufNewFile", "BufWinEnter", "BufFilePost" }, function(event)
    files.opened(event.buf)
  end)
  on({ "InsertLeave", "BufLeave" }, function(event)
    edits.flush(event.buf)
  end)
  on({ "FileType", "Syntax" }, on_syntax)
  on("OptionSet", refresh_all(), { "tabstop", "diff" })
end

local function watch_windows()
  on("CursorMoved", function()
    hint.update()
    top.cursor_moved()
  end)
  on("ModeChanged", hint.update)
  on("WinScrolled", function()
    top.scrolled(vim.v.event)
  end)
  on({ "WinEnter", "BufWinEnter", "BufFilePost" }, function()
    winbar.update()
    hint.update()
  end)
  on("OptionSet", winbar.update, "winbar")
  on({ "VimResized", "WinResized" }, refresh_all())
  on("ColorScheme", colours.define)
end

local function watch()
  watching = true
  highlights.define()
  colours.define()
  sight.watch()
  watch_buffers()
  watch_windows()
end

local function unwatch()
  watching = false
  api.nvim_clear_autocmds({ group = GROUP })
  sight.unwatch()
end

local is_due = false

---Once for all that a batch of events tells.
local function update()
  is_due = false
  winbar.update()
  hint.update()
  for _, bufnr in ipairs(marks.buffers()) do
    top.refresh(bufnr)
  end
  if watching and #marks.buffers() == 0 and not files.has_any() then
    unwatch()
  end
end

files.on_change(function()
  if not watching then
    watch()
  end
  if not is_due then
    is_due = true
    vim.schedule(update)
  end
end)

M.told = files.told

return M

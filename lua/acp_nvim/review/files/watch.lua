-- Updates the hunks, the keys, the hint and 'winbar' of the review after changes of buffers, windows and the cursor.
local actions = require("acp_nvim.review.files.actions")
local edits = require("acp_nvim.buffers.edits")
local files = require("acp_nvim.review.files")
local hint = require("acp_nvim.review.files.hint")
local hunk_keys = require("acp_nvim.review.hunks.keys")
local lookup = require("acp_nvim.buffers.lookup")
local open = require("acp_nvim.review.files.open")
local top = require("acp_nvim.review.hunks.top")
local view = require("acp_nvim.review.files.view")
local watch = require("acp_nvim.review.hunks.watch")
local winbar = require("acp_nvim.review.files.winbar")

local M = {}

local is_due = false
---@type table<string, true> paths whose buffers may need other keys
local changed = {}

---@type acp.HunkKey[]
local KEYS = vim.list_extend({
  -- stylua: ignore
  { action = "review_next", modes = { "n", "x" }, run = function() open.step(false) end },
  -- stylua: ignore
  { action = "review_previous", modes = { "n", "x" }, run = function() open.step(true) end },
  { action = "review_mine", modes = { "n", "x" }, run = actions.on_selection("mine") },
  { action = "review_theirs", modes = { "n", "x" }, run = actions.on_selection("theirs") },
  { action = "review_both", modes = { "n", "x" }, run = actions.on_selection("both") },
}, actions.keys)

---Maps or unmaps the keys in the buffers of changed files, once for a batch.
function M.refresh_keys()
  local paths = changed
  changed = {}
  if next(paths) == nil then
    return
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    if paths[lookup.real_path(bufnr)] then
      hunk_keys.give(bufnr, "review", files.of_buffer(bufnr) and KEYS or nil)
    end
  end
end

---@param on fun(events: string|string[], run: fun(event: vim.api.keyset.create_autocmd.callback_args), pattern?: string[])
local function notice(on)
  on({ "BufReadPost", "BufNewFile", "BufWinEnter", "BufFilePost" }, function(event)
    if event.event == "BufWinEnter" and files.of_buffer(event.buf) then
      hunk_keys.give(event.buf, "review", KEYS) -- before the first key that is typed there
    end
    files.opened(event.buf)
  end)
  on({ "InsertLeave", "BufLeave" }, function(event)
    edits.flush(event.buf)
  end)
  on({ "CursorMoved", "ModeChanged" }, hint.update)
  on({ "WinEnter", "BufWinEnter", "BufFilePost" }, function()
    winbar.update()
    hint.update()
  end)
  on("OptionSet", winbar.update, { "winbar" })
end

files.on_change(function(path)
  changed[path] = true
  watch.start(view, notice, hint.text)
  if not is_due then
    is_due = true
    vim.schedule(function() -- once for all changes of a batch
      is_due = false
      M.refresh_keys() -- for changes outside of batches
      winbar.update()
      hint.update()
      top.refresh_all(view)
      if next(view.buffers) == nil and not files.has_any() then
        watch.stop(view)
      end
    end)
  end
end)

return M

-- Keeps views in step with windows, options and colour schemes, each while it has any hunks.
local colours = require("acp_nvim.hunks.colours")
local highlights = require("acp_nvim.highlights")
local sight = require("acp_nvim.hunks.sight")
local top = require("acp_nvim.hunks.top")

local M = {}

local api = vim.api

---@type table<acp.HunkView, integer> view -> its group of autocommands
local groups = {}

---@param view acp.HunkView
local function refresh_all(view)
  for bufnr in pairs(view.buffers) do
    view:refresh(bufnr)
    top.refresh(bufnr)
  end
end

---@param view acp.HunkView
---@param bufnr integer whose syntax is another one
local function undress(view, bufnr)
  vim.schedule(function() -- the buffer has its new colours after that
    if view.buffers[bufnr] then
      view:refresh(bufnr, true)
    end
  end)
end

---@param view acp.HunkView
---@param on fun(events: string|string[], run: fun(event: vim.api.keyset.create_autocmd.callback_args), pattern?: string[])
local function watch(view, on)
  on("WinScrolled", function()
    top.scrolled(vim.v.event)
  end)
  on("CursorMoved", top.cursor_moved)
  on("ColorScheme", colours.define)
  on({ "FileType", "Syntax" }, function(event)
    if view.buffers[event.buf] then
      undress(view, event.buf)
    end
  end)
  on("OptionSet", function()
    refresh_all(view)
  end, { "tabstop", "diff" })
  on({ "VimResized", "WinResized" }, function()
    refresh_all(view)
  end)
end

---Begins, unless it has begun.
---@param view acp.HunkView
---@param more fun(on: fun(events: string|string[], run: fun(event: vim.api.keyset.create_autocmd.callback_args), pattern?: string[]))
---what else its source wants to notice; `on` makes autocommands
---@param hint? acp.LineHint
function M.start(view, more, hint)
  if groups[view] then
    return
  end
  local group = api.nvim_create_augroup("acp_nvim." .. view.source.name, {})
  groups[view] = group
  highlights.define()
  colours.define()
  sight.watch(view, hint)
  ---@param events string|string[]
  ---@param run fun(event: vim.api.keyset.create_autocmd.callback_args)
  ---@param pattern? string[]
  local function on(events, run, pattern)
    api.nvim_create_autocmd(events, { group = group, callback = run, pattern = pattern })
  end
  watch(view, on)
  more(on)
end

---@param view acp.HunkView
function M.stop(view)
  if groups[view] then
    api.nvim_clear_autocmds({ group = groups[view] })
    groups[view] = nil
    sight.unwatch(view)
  end
end

return M

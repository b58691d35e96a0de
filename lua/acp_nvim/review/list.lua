-- The list of the files under review: a buffer of its own that follows what changes, and closes itself at the end.
local Lines = require("acp_nvim.chat.blocks.lines")
local code_window = require("acp_nvim.code_window")
local config = require("acp_nvim.config")
local entry = require("acp_nvim.review.entry")
local files = require("acp_nvim.review.files")
local highlights = require("acp_nvim.highlights")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local open = require("acp_nvim.review.open")
local quickfix = require("acp_nvim.review.quickfix")
local targets = require("acp_nvim.review.targets")

local M = {}

local api = vim.api
local COLOURS = api.nvim_create_namespace("acp_nvim.review_list")
local LOOK = {
  cursorline = true,
  foldenable = false,
  list = false,
  number = false,
  relativenumber = false,
  signcolumn = "no",
  spell = false,
  winfixheight = true,
  wrap = false,
}

---@type integer? the buffer
local list
---@type string[] line -> path
local paths = {}
local refreshing = false

---@param review acp.Review
---@return acp.Piece[]
local function counted(review)
  local hunks, conflicts = review.hunks and #review.hunks or 0, tonumber(review.conflicts) or 0
  local pieces = {}
  if hunks > 0 then
    table.insert(pieces, { "  " .. entry.plural(hunks, "hunk"), "AcpToolDetail" })
  end
  if conflicts > 0 then
    table.insert(pieces, { "  " .. entry.plural(conflicts, "conflict"), "AcpNoticeWarn" })
  end
  return pieces
end

---@param all acp.Review[]
---@return acp.Rendered
local function rendered(all)
  local cwd = vim.uv.fs_realpath(vim.fn.getcwd()) or vim.fn.getcwd()
  local width = 0
  for _, review in ipairs(all) do
    width = math.max(width, vim.fn.strdisplaywidth(entry.name(review, cwd)))
  end
  local out = Lines.new()
  for _, review in ipairs(all) do
    local pieces = entry.pieces(review, cwd, math.min(width, limits.list_columns))
    out:add(vim.list_extend(pieces, counted(review)))
  end
  return out:rendered()
end

---@param bufnr integer
---@param what acp.Rendered
local function draw(bufnr, what)
  vim.bo[bufnr].modifiable = true
  api.nvim_buf_set_lines(bufnr, 0, -1, true, what.lines)
  vim.bo[bufnr].modifiable = false
  api.nvim_buf_clear_namespace(bufnr, COLOURS, 0, -1)
  for _, one in ipairs(what.highlights) do
    api.nvim_buf_set_extmark(bufnr, COLOURS, one.row, one.from, { end_col = one.to, hl_group = one.group })
  end
end

---@param first integer row
---@param last integer row
---@return string[]
local function paths_at(first, last)
  return vim.list_slice(paths, first + 1, last + 1)
end

local function close()
  for _, win in ipairs(list and vim.fn.win_findbuf(list) or {}) do
    if not pcall(api.nvim_win_close, win, false) then
      api.nvim_win_call(win, vim.cmd.enew) -- the last window of all
    end
  end
end

---Shows the files as they are now; the cursors stay on theirs.
---@param bufnr integer
local function fill(bufnr)
  local at = {}
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    at[win] = paths[api.nvim_win_get_cursor(win)[1]]
  end
  local all = files.all()
  paths = vim.tbl_map(function(review)
    return review.path
  end, all)
  draw(bufnr, rendered(all))
  for win, path in pairs(at) do
    local line = vim.fn.index(paths, path) + 1
    if line > 0 then
      api.nvim_win_set_cursor(win, { line, 0 })
    end
  end
end

local function refresh()
  refreshing = false
  if not list or not api.nvim_buf_is_valid(list) then
    return
  elseif #files.all() == 0 then
    close()
    message.info("nothing is left to review")
  else
    fill(list)
  end
end

---@param bufnr integer
local function map_keys(bufnr)
  ---@param action string
  ---@param desc string
  ---@param run fun()
  local function map(action, desc, run)
    for _, key in ipairs(config.keys(action)) do
      vim.keymap.set("n", key, run, { buffer = bufnr, nowait = true, desc = "acp: " .. desc })
    end
  end
  map("open", "open this file", function()
    open.file(paths[api.nvim_win_get_cursor(0)[1]])
  end)
  map("close", "close the list", close)
  map("review_quickfix", "all hunks as a quickfix list", function()
    close()
    quickfix.open()
  end)
end

---@return integer bufnr
local function make()
  local bufnr = named.get("acp://review")
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].filetype = "acp_review"
  map_keys(bufnr)
  targets.set(bufnr, paths_at)
  return bufnr
end

---@param bufnr integer
local function show(bufnr)
  local height = math.min(math.max(#paths, 3), math.floor(vim.o.lines / 3))
  if pcall(api.nvim_open_win, bufnr, true, { split = "below", win = -1 }) then
    api.nvim_win_set_height(0, height) -- 'equalalways' has made it another one
  else
    vim.cmd(("tab sbuffer %d"):format(bufnr)) -- no room for a split
  end
  for option, value in pairs(LOOK) do
    vim.wo[0][0][option] = value
  end
end

---Opens the list of all files under review, or goes to it.
function M.open()
  highlights.define()
  code_window.watch()
  local shown = list and api.nvim_buf_is_valid(list) and vim.fn.win_findbuf(list) or {}
  for _, win in ipairs(shown) do
    if api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      return api.nvim_set_current_win(win)
    end
  end
  local here = files.of_buffer(api.nvim_get_current_buf())
  list = #shown > 0 and list or make()
  fill(list)
  show(list)
  if here then
    api.nvim_win_set_cursor(0, { vim.fn.index(paths, here.path) + 1, 0 })
  end
end

---Follows what changes from now on.
function M.watch()
  files.on_change(function()
    if list and not refreshing then
      refreshing = true
      vim.schedule(refresh) -- once for all that a batch changes
    end
  end)
end

return M

-- The list of the files under review: a buffer of its own that follows what changes, and closes itself at the end.
local code_window = require("acp_nvim.code_window")
local config = require("acp_nvim.config")
local files = require("acp_nvim.review.files")
local highlights = require("acp_nvim.highlights")
local list_rows = require("acp_nvim.review.list_rows")
local message = require("acp_nvim.message")
local named = require("acp_nvim.buffers.named")
local open = require("acp_nvim.review.open")
local quickfix = require("acp_nvim.review.quickfix")
local targets = require("acp_nvim.review.targets")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.review_list", {})
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
---@type acp.ListRow[] line -> what it stands for
local rows = {}
local unfolded = false -- the agent's own records are shown one by one
local refreshing = false

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
  local found = {}
  for index = first + 1, math.min(last + 1, #rows) do
    local path = rows[index].path
    if path and path ~= found[#found] then
      table.insert(found, path)
    end
  end
  return found
end

---@param path? string
---@return integer? line of that file; where it is folded, of its heading
local function line_of(path)
  local review = path and files.get(path)
  for line, row in ipairs(review and rows or {}) do
    if row.path == path or (row.folds and not unfolded and review.by == "state") then
      return line
    end
  end
end

local function close()
  for _, win in ipairs(list and vim.fn.win_findbuf(list) or {}) do
    if not pcall(api.nvim_win_close, win, false) then
      api.nvim_win_call(win, vim.cmd.enew) -- the last window of all
    end
  end
end

---@param bufnr integer
---@return integer cells of its narrowest window
local function width_of(bufnr)
  local width = vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    width = math.min(width, api.nvim_win_get_width(win))
  end
  return width
end

---Shows the files as they are now; the cursors stay on theirs.
---@param bufnr integer
local function fill(bufnr)
  local at = {}
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local row = rows[api.nvim_win_get_cursor(win)[1]]
    at[win] = row and row.path
  end
  local rendered
  rendered, rows = list_rows.of(files.all(), width_of(bufnr), unfolded)
  draw(bufnr, rendered)
  for win, path in pairs(at) do
    local line = line_of(path)
    if line then
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

local function toggle()
  unfolded = not unfolded
  fill(list)
end

local function open_here()
  local row = rows[api.nvim_win_get_cursor(0)[1]]
  if row.folds then
    toggle()
  elseif row.path then
    open.file(row.path)
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
  map("open", "open this file", open_here)
  vim.keymap.set("n", "za", toggle, { buffer = bufnr, desc = "acp: show or hide the agent's own records" })
  map("close", "close the list", close)
  map("review_quickfix", "all hunks as a quickfix list", function()
    close()
    quickfix.open()
  end)
end

---@return integer bufnr
local function make()
  local bufnr = named.get("acp://review")
  unfolded = false
  vim.bo[bufnr].bufhidden = "wipe"
  vim.bo[bufnr].buftype = "nofile"
  vim.bo[bufnr].swapfile = false
  vim.bo[bufnr].undolevels = -1
  vim.bo[bufnr].filetype = "acp_review"
  map_keys(bufnr)
  targets.set(bufnr, paths_at)
  api.nvim_create_autocmd("WinResized", {
    group = GROUP,
    callback = function()
      if list == bufnr and api.nvim_buf_is_valid(bufnr) then
        fill(bufnr)
      end
      return list ~= bufnr or not api.nvim_buf_is_valid(bufnr)
    end,
  })
  return bufnr
end

---@param bufnr integer
local function show(bufnr)
  local height = math.min(math.max(#rows, 3), math.floor(vim.o.lines / 3))
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
  local first = vim.iter(rows):find(function(row)
    return row.path ~= nil
  end)
  local path = here and here.path or first and first.path
  api.nvim_win_set_cursor(0, { line_of(path) or 1, 0 })
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

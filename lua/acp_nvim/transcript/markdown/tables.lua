-- Shows tables in columns that fit the window, with wrapped cells, when their text or the window changes.
require("acp_nvim.transcript.markdown.interpreted")()

local block_rows = require("acp_nvim.render.block_rows")
local budget = require("acp_nvim.transcript.markdown.parse_budget")
local log = require("acp_nvim.kernel.log")
local search = require("acp_nvim.transcript.markdown.table_search")
local table_marks = require("acp_nvim.transcript.markdown.table_marks")

local M = {}

local api = vim.api
local REST = 20 -- until the next layout, in multiples of the time that the last one took

---@type table<integer, acp.Transcript> by buffer
local by_buffer = {}
---@type table<acp.Transcript, true> with tables that may have to be laid out again
local due = {}
---@type table<integer, true> buffers with a table at the end of a text that arrives
local growing = {}
local rests_until = 0 -- in nanoseconds

---@return integer[] windows of the current tab page that show the buffer
---@return integer? width of the narrowest; nil: one of them shows all text as written
local function windows_of(bufnr)
  local wins, width = {}, nil
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    if api.nvim_win_get_buf(win) == bufnr then
      if vim.wo[win].conceallevel == 0 or not vim.wo[win].wrap then
        return { win }, nil
      end
      wins[#wins + 1] = win
      width = math.min(width or math.huge, table_marks.text_width(win))
    end
  end
  return wins, width
end

---Keeps the cursor of a window in view, and the end of the chat at its bottom, when lines have got another height: Neovim does
---this for no window but the current one, and remembers how high lines were.
local function keep_in_view(bufnr, win)
  local is_other, cursor = win ~= api.nvim_get_current_win(), api.nvim_win_get_cursor(win)
  local is_at_end = cursor[1] == api.nvim_buf_line_count(bufnr)
  if is_other or (is_at_end and api.nvim_get_mode().mode == "n") then
    api.nvim_win_call(win, function()
      vim.fn.winrestview(vim.empty_dict())
      if is_at_end then
        vim.cmd("keepjumps normal! zb")
      end
    end)
    api.nvim_win_set_cursor(win, cursor)
  end
end

---@param transcript acp.Transcript
---@param width integer
---@return boolean is_growing a table is at the end of a text that arrives
local function draw_near(transcript, win, width)
  local bufnr, height, is_growing, has_changed = transcript.bufnr, api.nvim_win_get_height(win), false, false
  local top = math.max(vim.fn.line("w0", win) - 1 - height, 0)
  local bottom = vim.fn.line("w$", win) - 1 + 2 * height
  local seen = {} ---@type table<integer, true> first rows of tables
  for block, begins, ends in block_rows.between(transcript, top, bottom) do
    local is_open = block.index == #transcript.order and not budget.is_quiet()
    is_growing = is_growing or (is_open and block.cut ~= nil and block.cut.table)
    local first, last = math.max(top, begins), math.min(bottom, ends)
    for _, found in ipairs(block.cut and search.find(bufnr, block, begins, ends, first, last, is_open) or {}) do
      seen[found.first] = true
      has_changed = table_marks.draw(bufnr, win, width, found) or has_changed
    end
  end
  table_marks.keep(bufnr, top, bottom, seen)
  if has_changed then
    keep_in_view(bufnr, win)
  end
  return is_growing
end

---Lays out the tables in and near the visible part of a chat for the width of its window.
local function update(transcript)
  local bufnr = transcript.bufnr
  local wins, width = windows_of(bufnr)
  if #wins == 0 then
    return -- it is done when the tab page is entered
  elseif not width then
    return table_marks.clear(bufnr)
  end
  for _, win in ipairs(wins) do
    if draw_near(transcript, win, width) and not growing[bufnr] then
      growing[bufnr] = true
      budget.wait("quiet", function()
        growing[bufnr] = nil
        M.update(transcript)
      end)
    end
  end
  table_marks.cursor_moved()
end

local function run()
  local now = vim.uv.hrtime()
  if now < rests_until then
    return vim.defer_fn(run, math.ceil((rests_until - now) / 1e6))
  end
  local transcripts = due
  due = {}
  for transcript in pairs(transcripts) do
    if api.nvim_buf_is_loaded(transcript.bufnr) and by_buffer[transcript.bufnr] == transcript then
      local ok, err = pcall(update, transcript)
      if not ok then
        log.write("tables are shown as written: " .. tostring(err))
      end
    end
  end
  rests_until = vim.uv.hrtime() + REST * (vim.uv.hrtime() - now)
end

---Lays out the tables in and near the visible part of a chat soon, once for all changes.
---@param transcript acp.Transcript
function M.update(transcript)
  local is_scheduled = next(due) ~= nil
  due[transcript] = true
  if not is_scheduled then
    vim.schedule(run)
  end
end

---Notes that a text has grown.
---@param lines string[] appended to its text
---@param has_bar boolean it may be a table
function M.grows(transcript, lines, has_bar)
  for index = 1, has_bar and 0 or #lines > 1 and #lines or 0 do
    has_bar = has_bar or lines[index]:find("|", 1, true) ~= nil
  end
  if has_bar then
    M.update(transcript)
  end
end

function M.attach(transcript)
  by_buffer[transcript.bufnr] = transcript
end

function M.detach(bufnr)
  by_buffer[bufnr], growing[bufnr] = nil, nil
  table_marks.forget(bufnr)
end

local group = api.nvim_create_augroup("acp_nvim.tables", {})
api.nvim_create_autocmd({ "CursorMoved", "WinEnter", "WinLeave" }, {
  group = group,
  callback = table_marks.cursor_moved,
})
api.nvim_create_autocmd({ "WinScrolled", "BufWinEnter", "TabEnter", "WinNew" }, { -- scrolled or resized
  group = group,
  callback = function()
    for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
      local transcript = by_buffer[api.nvim_win_get_buf(win)]
      if transcript then
        M.update(transcript)
      end
    end
  end,
})
api.nvim_create_autocmd("OptionSet", {
  group = group,
  pattern = { "conceallevel", "wrap", "linebreak", "number", "signcolumn" },
  callback = function()
    local transcript = by_buffer[api.nvim_get_current_buf()]
    if transcript then
      M.update(transcript)
    end
  end,
})

return M

-- The list of the files under review: a buffer that is updated with each change, and closed when no file is left.
local Lines = require("acp_nvim.render.lines")
local actions = require("acp_nvim.review.files.actions")
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local edge = require("acp_nvim.windows.edge")
local entry = require("acp_nvim.render.file_changes")
local files = require("acp_nvim.review.files")
local highlights = require("acp_nvim.kernel.highlights")
local keymaps = require("acp_nvim.keys")
local late = require("acp_nvim.kernel.late")
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.kernel.message")
local named = require("acp_nvim.buffers.named")
local open = require("acp_nvim.review.files.open")
local own = require("acp_nvim.windows.own")
local progress = require("acp_nvim.progress.review")
local quickfix = require("acp_nvim.review.files.quickfix")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.review_list", {})
local COLOURS = api.nvim_create_namespace("acp_nvim.review_list")
local PAUSE = 4 -- between two times that the list is drawn, as a multiple of the time that it takes
local SHORT = 30 -- milliseconds: a shorter pause is none
local LEAST_LINES = 3
local WHY_CELLS = 10 -- least room beside a file for the evidence of who changed it
local OPTIONS = { cursorline = true, winfixheight = true, wrap = false }

---What a line of the list represents.
---@class acp.ListRow
---@field path? string
---@field folds? boolean it is the heading of the agent's own records

---@type integer? the buffer
local list
---@type acp.ListRow[] by line
local rows = {}
local unfolded = false -- the agent's own records are shown one by one
---@type "batch"|"pause"|nil when the list is drawn again
local refreshing
local pause = 0 -- milliseconds before the list is drawn again

---@param pieces acp.Piece[]
---@return integer cells
local function width_of(pieces)
  local width = 0
  for _, piece in ipairs(pieces) do
    width = width + api.nvim_strwidth(type(piece) == "table" and piece[1] or piece --[[@as string]])
  end
  return width
end

---@param names integer cells for the names of files
---@param width integer cells of the window
---@return acp.Piece[] line
---@return acp.Piece[]? more a second line, with the reason why the origin is unknown, when the first has no room for it
local function lines_of(review, cwd, names, width)
  local pieces = entry.pieces(review, cwd, names)
  local hunks, conflicts = review.hunks and #review.hunks or 0, tonumber(review.conflicts) or 0
  if hunks > 0 then
    table.insert(pieces, { "  " .. entry.plural(hunks, "hunk"), "AcpToolDetail" })
  end
  if conflicts > 0 then
    table.insert(pieces, { "  " .. entry.plural(conflicts, "conflict"), "AcpNoticeError" })
  end
  local why = Lines.one_line(review.why)
  local room = width - width_of(pieces) - 2
  if why ~= "" and review.by == "unknown" and api.nvim_strwidth(why) > room then
    return pieces, { { "    " .. cells.cut(why, width - 4), "AcpToolDetail" } }
  elseif why ~= "" and room >= WHY_CELLS then
    table.insert(pieces, { "  " .. cells.cut(why, room), "AcpToolDetail" })
  end
  return pieces
end

---@param count integer of its files
---@param width integer cells of the window
---@return acp.Piece[]
local function heading(by, count, width)
  local title = { entry.TITLES[by], by == "unknown" and "AcpReviewUnknown" or "AcpReviewGroup" }
  if by ~= "state" then
    return { title }
  end
  local key = config.keys("open")[1]
  local pieces = { title, ": " .. entry.plural(count, "file") }
  local hint = { key and ("  %s opens"):format(key) or "", "AcpToolDetail" }
  if not unfolded and width_of(pieces) + width_of({ hint }) <= width then
    table.insert(pieces, hint)
  end
  return pieces
end

---Renders the files, grouped by who changed them.
---@param width integer cells of the window
---@return acp.Rendered
---@return acp.ListRow[] by line
local function rendered_rows(reviews, width)
  local cwd = vim.uv.fs_realpath(vim.fn.getcwd()) or vim.fn.getcwd()
  local by_group, names, out, listed = entry.grouped(reviews), 0, Lines.new(), {}
  local words = progress.words(progress.any())
  if words then
    out:add({ { words .. " …", "AcpStatusInProgress" } })
    listed[1] = {}
  end
  local function shown(by)
    return (by ~= "state" or unfolded) and by_group[by] or {}
  end
  local function add(pieces, row)
    out:add(pieces)
    listed[#out.lines] = row
  end
  for _, by in ipairs(entry.ORDER) do
    for _, review in ipairs(shown(by)) do
      names = math.max(names, vim.fn.strdisplaywidth(entry.name(review, cwd)))
    end
  end
  for _, by in ipairs(entry.ORDER) do
    local count = #by_group[by]
    if count > 0 and not (by == "agent" and count == #reviews) then -- the agent's changes alone need no heading
      add(heading(by, count, width), { folds = by == "state" or nil })
    end
    for _, review in ipairs(shown(by)) do
      local line, more = lines_of(review, cwd, math.min(names, limits.list_columns), width)
      add(line, { path = review.path })
      if more then
        add(more, { path = review.path })
      end
    end
  end
  return out:rendered(), listed
end

---@param first integer row
---@param last integer row
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

---@return integer? line of that file, or of the heading that it is folded under
local function line_of(path)
  local review = path and files.get(path)
  for line, row in ipairs(review and rows or {}) do
    if row.path == path or (row.folds and not unfolded and review.by == "state") then
      return line
    end
  end
end

local function close()
  edge.closing(function()
    for _, win in ipairs(list and vim.fn.win_findbuf(list) or {}) do
      own.close(win)
    end
  end)
end

---Draws the files as they are now. The cursor of each window stays on its file.
local function fill(bufnr)
  local at, width = {}, vim.o.columns
  for _, win in ipairs(vim.fn.win_findbuf(bufnr)) do
    local row = rows[api.nvim_win_get_cursor(win)[1]]
    at[win] = row and row.path
    width = math.min(width, api.nvim_win_get_width(win))
  end
  local rendered
  rendered, rows = rendered_rows(files.all(), width)
  named.fill(bufnr, rendered.lines)
  api.nvim_buf_clear_namespace(bufnr, COLOURS, 0, -1)
  for _, one in ipairs(rendered.highlights) do
    api.nvim_buf_set_extmark(bufnr, COLOURS, one.row, one.from, { end_col = one.to, hl_group = one.group })
  end
  for win, path in pairs(at) do
    local line = line_of(path)
    if line then
      api.nvim_win_set_cursor(win, { line, 0 })
    end
  end
end

local function toggle()
  unfolded = not unfolded
  fill(list)
end

---@return integer bufnr
local function new_list()
  local bufnr = named.scratch("acp://review")
  unfolded = false
  local function map(action, desc, run)
    for _, key in ipairs(config.keys(action)) do
      keymaps.map_key(bufnr, "n", key, run, desc)
    end
  end
  map("open", "open this file", function()
    local row = rows[api.nvim_win_get_cursor(0)[1]] or {}
    if row.folds then
      toggle()
    elseif row.path then
      open.file(row.path)
    end
  end)
  vim.keymap.set("n", "za", toggle, { buffer = bufnr, desc = "acp: show or hide the agent's own records" })
  map("close", "close the list", close)
  map("review_quickfix", "all hunks as a quickfix list", function()
    close()
    quickfix.open()
  end)
  actions.represent(bufnr, paths_at)
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

---Opens the list of all files under review, or moves the focus to it.
function M.open()
  highlights.define()
  windows.watch()
  local shown = list and api.nvim_buf_is_valid(list) and vim.fn.win_findbuf(list) or {}
  for _, win in ipairs(shown) do
    if api.nvim_win_get_tabpage(win) == api.nvim_get_current_tabpage() then
      return api.nvim_set_current_win(win)
    end
  end
  local here = files.of_buffer(api.nvim_get_current_buf())
  list = #shown > 0 and list or new_list()
  fill(list)
  edge.below(list, math.min(#rows, math.floor(vim.o.lines / 3)), LEAST_LINES)
  local win = api.nvim_get_current_win()
  own.set_options(win, OPTIONS)
  own.set_filetype(win, "acp_review")
  local first = vim.iter(rows):find(function(row)
    return row.path ~= nil
  end)
  local path = here and here.path or first and first.path
  api.nvim_win_set_cursor(0, { line_of(path) or 1, 0 })
end

---@return boolean the list is there, and no file is left
local function is_over()
  return list ~= nil and api.nvim_buf_is_valid(list) and #files.all() == 0
end

---Closes the list, in which no file is left. If the user is in it, it waits for a pause: the keys that they are typing must
---not reach another window.
local function close_later()
  if not actions.is_judging() then -- else its result says how to undo it, and must stay
    message.info("nothing is left to review")
  end
  if api.nvim_get_current_buf() == list then
    fill(list)
    late.when_idle(close, nil, is_over)
  else
    close()
  end
end

local function draw()
  refreshing = nil
  if is_over() then
    close_later()
  elseif list and api.nvim_buf_is_valid(list) then
    local began = vim.uv.hrtime()
    fill(list)
    pause = math.floor((vim.uv.hrtime() - began) / 1e6 * PAUSE)
  end
end

---Draws the list once for all changes of a batch; a long one less often, as many batches come when thousands of files
---change. When it is over, that is shown before what the host tells next.
local function refresh()
  local waits = pause > SHORT and not is_over()
  if not list or refreshing == "batch" or (refreshing and waits) then
    return
  end
  local mine = waits and "pause" or "batch"
  refreshing = mine
  local function draw_once()
    if refreshing == mine then
      draw()
    end
  end
  if waits then
    vim.defer_fn(draw_once, pause)
  else
    vim.schedule(draw_once)
  end
end

files.on_change(refresh)
progress.on_change(refresh)

return M

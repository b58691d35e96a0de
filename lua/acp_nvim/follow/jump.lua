-- Shows the agent's location in a window, and highlights the line for a moment. Loads files that are not open, if they
-- are text and not too large.
local file_buffer = require("acp_nvim.buffers.file_buffer")
local position = require("acp_nvim.kernel.position")
local switch = require("acp_nvim.windows.switch")
local tracking = require("acp_nvim.buffers.tracking")
local windows = require("acp_nvim.windows.open")
local winbar = require("acp_nvim.review.files.winbar")

local M = {}

local api = vim.api
local HIGHLIGHT_MS = 800 -- that the line stays highlighted
local NS = api.nvim_create_namespace("acp_nvim.follow.light")
local FOLLOW_BYTES = 256 * 1024 -- of a file that is opened to follow the agent: read and highlighted within a frame
local FOLLOW_HEAD_BYTES = 8192 -- of a file that are checked for NUL, which marks binary files
-- Unlisted buffers that were opened to follow the agent and stay loaded: as many as one goes back to
local FOLLOW_BUFFERS = 20
local GROUP = api.nvim_create_augroup("acp_nvim.follow.file", {})
local UTF16 = { ["\255\254"] = true, ["\254\255"] = true }

---@type uv.uv_timer_t
local timer = assert(vim.uv.new_timer())
---@type integer? buffer with the highlighted line
local highlighted

local function remove_highlight()
  timer:stop()
  if highlighted and api.nvim_buf_is_valid(highlighted) then
    api.nvim_buf_clear_namespace(highlighted, NS, 0, -1)
  end
  highlighted = nil
end

local function highlight(bufnr, row)
  remove_highlight()
  api.nvim_buf_set_extmark(bufnr, NS, row, 0, { line_hl_group = "AcpFollowLine", undo_restore = false })
  highlighted = bufnr
  timer:start(HIGHLIGHT_MS, 0, vim.schedule_wrap(remove_highlight))
end

---Adds the window's cursor position to its jump list.
function M.remember(win)
  api.nvim_win_call(win, function()
    vim.cmd("mark '")
  end)
end

local function go_to(win, line)
  api.nvim_win_call(win, function()
    if vim.fn.foldclosed(line) > 0 then
      vim.cmd(("silent! %dfoldopen!"):format(line))
    end
    local is_seen = line >= vim.fn.line("w0") and line <= vim.fn.line("w$")
    if not is_seen then
      vim.fn.winrestview({ topline = math.max(1, line - math.floor(api.nvim_win_get_height(win) / 2)) })
    end
    api.nvim_win_set_cursor(win, { line, 0 })
  end)
end

---@param win integer not the current one
---@param bufnr integer loaded
---@param line? integer
function M.show(win, bufnr, line)
  tracking.check(bufnr) -- Neovim does not look whether the file has changed
  windows.show_unasked(win, bufnr)
  winbar.update()
  if line then
    line = position.in_buffer(bufnr, line)
    go_to(win, line)
    highlight(bufnr, line - 1)
  end
end

---@type integer[] buffers opened here that the user has not entered, the oldest first
local opened = {}

---@return boolean the file is text and not too large
local function is_text(path)
  local head = file_buffer.read(path, FOLLOW_HEAD_BYTES, FOLLOW_BYTES)
  return head ~= nil and (UTF16[head:sub(1, 2)] or not head:find("\0", 1, true))
end

---Unloads the oldest buffers that the user has not entered.
local function unload_oldest()
  while #opened > FOLLOW_BUFFERS do
    local bufnr = table.remove(opened, 1)
    local is_unlisted = api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].buflisted
    if is_unlisted and not vim.bo[bufnr].modified and #vim.fn.win_findbuf(bufnr) == 0 then
      switch.delete(bufnr, { unload = true })
    end
  end
end

---Lists a buffer opened here once the user enters it.
local function keep(event)
  for index, bufnr in ipairs(opened) do
    if bufnr == event.buf then
      table.remove(opened, index)
      vim.bo[bufnr].buflisted = true
      return
    end
  end
end

---@return integer? bufnr loaded; nil when the file is not shown
function M.load(path)
  if not is_text(path) then
    return nil
  end
  local ok, bufnr = pcall(file_buffer.load, path, FOLLOW_BYTES)
  if not ok or not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    return nil
  end
  if not vim.bo[bufnr].buflisted then
    opened[#opened + 1] = bufnr
    unload_oldest()
  end
  return bufnr
end

api.nvim_create_autocmd("BufEnter", { group = GROUP, callback = keep })

return M

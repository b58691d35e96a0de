-- Tools that tell what the user sees, and what is not saved.
local inside = require("acp_nvim.mcp.inside")
local lookup = require("acp_nvim.buffers.lookup")
local name_of = require("acp_nvim.kernel.relative_path")
local saved_text = require("acp_nvim.buffers.saved_text")
local text = require("acp_nvim.buffers.text")
local windows = require("acp_nvim.windows.open")

local M = {}

local api = vim.api
local SELECTED_LINES = 200 -- of the selection that are shown
local SELECTED_BYTES = 64 * 1024 -- of lines of which exactly the selected part is shown
local LINE_BYTES = 4096 -- of a line that is shown, at most
local DIFF_BYTES = 1024 * 1024 -- of a text that is compared: within a tenth of a second
local DIFF_LINES = 5000 -- of all diffs together
local OUTSIDE = "outside of the session's directories: its text is not shown"

---@return integer? win the window of a file in which the user is, or was last
local function code_window()
  local current = api.nvim_get_current_win()
  if lookup.is_file(api.nvim_win_get_buf(current)) then
    return current
  end
  return windows.other(function(win)
    return lookup.is_file(api.nvim_win_get_buf(win))
  end)
end

---@param row integer from 1
---@return string beginning of the line
local function line_of(bufnr, row)
  return api.nvim_buf_get_text(bufnr, row - 1, 0, row - 1, LINE_BYTES, {})[1]
end

---@return string[]? lines of the selection, `SELECTED_LINES` at most; nil when nothing is selected
---@return integer? first
---@return integer? last
local function selection()
  local mode = api.nvim_get_mode().mode
  if not mode:match("^[vV\22]") then
    return nil
  end
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  if from[2] > to[2] then
    from, to = to, from
  end
  local first, last = from[2], to[2]
  if last - first >= SELECTED_LINES then -- whole lines instead of the end of the selection, which is not shown
    to = { to[1], first + SELECTED_LINES - 1, mode:sub(1, 1) == "v" and vim.v.maxcol or to[3], 0 }
  end
  local shown = math.min(last, first + SELECTED_LINES - 1)
  local lines = {}
  if api.nvim_buf_get_offset(0, shown) - api.nvim_buf_get_offset(0, first - 1) <= SELECTED_BYTES then
    lines = vim.fn.getregion(from, to, { type = mode:sub(1, 1) })
  else
    for row = first, shown do
      lines[#lines + 1] = line_of(0, row)
    end
  end
  return lines, first, last
end

---@return string[]
local function current(win, args)
  local bufnr = api.nvim_win_get_buf(win)
  local path = lookup.real_path(bufnr)
  local name = name_of(path, args.cwd)
  local cursor = api.nvim_win_get_cursor(win)
  if not inside(path, args) then
    return { ("current file: %s:%d:%d (%s)"):format(name, cursor[1], cursor[2] + 1, OUTSIDE) }
  end
  local lines = { ("current file: %s:%d:%d: %s"):format(name, cursor[1], cursor[2] + 1, line_of(bufnr, cursor[1])) }
  local selected, first, last = nil, nil, nil
  if win == api.nvim_get_current_win() then
    selected, first, last = selection()
  end
  if selected then
    lines[#lines + 1] = ("selected: %s, lines %d to %d:"):format(name, first, last)
    vim.list_extend(lines, selected)
    if last - first >= SELECTED_LINES then
      lines[#lines + 1] = ("... %d more lines"):format(last - first + 1 - SELECTED_LINES)
    end
  end
  return lines
end

---@type acp.mcp.Tool
function M.editor_state(args, answer)
  local win = code_window()
  local lines = win and current(win, args) or { "current file: none" }
  local seen = {} ---@type table<integer, true>
  for _, one in ipairs(api.nvim_tabpage_list_wins(0)) do
    local bufnr = api.nvim_win_get_buf(one)
    if lookup.is_file(bufnr) and not seen[bufnr] then
      seen[bufnr] = true
      local first, last = vim.fn.line("w0", one), vim.fn.line("w$", one)
      local name = name_of(lookup.real_path(bufnr), args.cwd)
      lines[#lines + 1] = ("visible: %s, lines %d to %d"):format(name, first, last)
    end
  end
  for _, bufnr in ipairs(lookup.file_buffers()) do
    if vim.bo[bufnr].modified then
      lines[#lines + 1] = ("unsaved changes: %s"):format(name_of(lookup.real_path(bufnr), args.cwd))
    end
  end
  answer({ lines = lines })
end

---@return string[] lines of a unified diff
local function diff(bufnr, cwd)
  local name = name_of(lookup.real_path(bufnr), cwd)
  local before = saved_text.text(bufnr)
  if not before then
    return { ("%s: what the file has is not known"):format(name) }
  end
  local after = text.of_buffer(bufnr)
  if #before > DIFF_BYTES or #after > DIFF_BYTES then
    return { ("%s: too large to be compared here; read_buffer has its text"):format(name) }
  end
  local found = vim.diff(before, after, { ctxlen = 3 }) --[[@as string]]
  if found == "" then
    return {}
  end
  local lines = vim.split(found, "\n", { trimempty = true })
  return vim.list_extend({ "--- " .. name .. " (on disk)", "+++ " .. name .. " (unsaved)" }, lines)
end

---@type acp.mcp.Tool
function M.unsaved_diff(args, answer)
  local lines = {}
  for path, bufnr in vim.spairs(lookup.by_path()) do
    if vim.bo[bufnr].modified and (args.path == nil or path == args.path) then
      local is_shown = args.path ~= nil or inside(path, args) -- the host has checked a path that it names
      vim.list_extend(lines, is_shown and diff(bufnr, args.cwd) or { ("%s: %s"):format(path, OUTSIDE) })
    end
  end
  if #lines > DIFF_LINES then
    local left = #lines - DIFF_LINES
    lines = vim.list_slice(lines, 1, DIFF_LINES)
    lines[#lines + 1] = ("... %d more lines: ask for one path, or use read_buffer"):format(left)
  end
  answer({ lines = lines, note = #lines == 0 and "Nothing is unsaved: the files have what the editor has." or nil })
end

return M

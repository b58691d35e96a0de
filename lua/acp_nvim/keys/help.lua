-- Lists the keys of a buffer in a floating window.
local config = require("acp_nvim.config")
local decoration = require("acp_nvim.render.decoration")
local keymaps = require("acp_nvim.keys")
local own = require("acp_nvim.windows.own")
local schema = require("acp_nvim.config.schema")

local M = {}

local api = vim.api
local HELP_COLUMNS = 100 -- maximal width of the floating window: longer lines are hard to read

---Extracts the description of a key from its documentation: "Chat and prompt, normal mode: cancel the turn."
---@param waits boolean a permission request waits there
---@return string? words nil when the key is not mapped there
local function words_of(doc, where, waits)
  local place, words = doc:match("^([^:]+): *(.+)$")
  if not place or not (place:lower():find(where, 1, true)) then
    return nil
  elseif place:find("while a permission is asked", 1, true) and not waits then
    return nil
  end
  local mode = place:match(", ([%a ]*mode)$")
  return (words:gsub("%.$", "")) .. (mode and (" (%s)"):format(mode) or "")
end

local function keys_of(where, waits)
  local list = {}
  for _, option in ipairs(schema) do
    local action = option.name:match("^keymaps%.(.+)$")
    local words = action and words_of(option.doc:gsub("%s+", " "), where, waits)
    local keys = words and table.concat(config.keys(action), " ") or ""
    if keys ~= "" then
      list[#list + 1] = { keys = keys, words = words }
    end
  end
  return list
end

---@type table<string, { keys: string, words: string }[]> what a buffer takes besides keys
local OTHERS = {
  queue = {
    { keys = ":write", words = "send what is written here, in this order, in place of the queue" },
    { keys = "--- prompt ---", words = "a line like this begins another prompt; without its section one is removed" },
  },
}

---@return integer columns width of the longest line
local function fill(bufnr, list)
  local width, longest = 0, 0
  for _, one in ipairs(list) do
    width = math.max(width, vim.fn.strdisplaywidth(one.keys))
  end
  local lines, highlights = {}, {}
  for index, one in ipairs(list) do
    highlights[index] = { row = index - 1, from = 1, to = 1 + #one.keys, group = "Special" }
    lines[index] = (" %s%s  %s "):format(one.keys, (" "):rep(width - vim.fn.strdisplaywidth(one.keys)), one.words)
    longest = math.max(longest, vim.fn.strdisplaywidth(lines[index]))
  end
  decoration.fill(bufnr, lines, highlights)
  return longest
end

local function close_with(win, bufnr)
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  for _, key in ipairs(vim.list_extend({ "<Esc>", "q" }, config.keys("help"))) do
    keymaps.map_key(bufnr, "n", key, close, "close")
  end
  api.nvim_create_autocmd("WinLeave", { buffer = bufnr, once = true, callback = vim.schedule_wrap(close) })
end

---Shows the keys in a focused floating window, where long lists can be scrolled.
---@param where "chat"|"prompt"|"form"|"queue"
---@param waits boolean a permission request waits in the chat
function M.show(where, waits)
  local list = vim.list_extend(vim.list_slice(OTHERS[where] or {}), keys_of(where, waits))
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  local longest = fill(bufnr, list)
  local width = math.max(1, math.min(longest, vim.o.columns - 4, HELP_COLUMNS))
  local shape = {
    relative = "editor",
    width = width,
    height = 1,
    row = 0,
    col = math.max(0, math.floor((vim.o.columns - width - 2) / 2)),
    style = "minimal",
    border = "rounded",
    title = (" Keys of the %s "):format(where),
    title_pos = "center",
  }
  local win = api.nvim_open_win(bufnr, true, shape)
  own.set_options(win, {})
  local rows = api.nvim_win_text_height(win, {}).all
  shape.height = math.max(1, math.min(rows, vim.o.lines - 5))
  shape.row = math.max(0, math.floor((vim.o.lines - shape.height - 3) / 2))
  if shape.height < rows then
    shape.footer, shape.footer_pos = " j, <C-d>: more ", "center"
  end
  api.nvim_win_set_config(win, shape)
  close_with(win, bufnr)
end

return M

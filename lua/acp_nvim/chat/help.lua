-- Lists the keys of a buffer in a float, which stays until it is closed.
local config = require("acp_nvim.config")
local schema = require("acp_nvim.config.schema")

local M = {}

local api = vim.api
local HELP_COLUMNS = 100 -- of the float with the keys: lines that can still be read
local LOOKS = api.nvim_create_namespace("acp_nvim.help")

---What stands in front of the words about a key says where it is one: "Chat and prompt, normal mode: cancel the turn."
---@param doc string
---@param where "chat"|"prompt"|"form"
---@param waits boolean a permission waits there
---@return string? words nil when it is none there
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

---@param where "chat"|"prompt"|"form"
---@param waits boolean
---@return { keys: string, words: string }[]
function M.keys(where, waits)
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

---@param bufnr integer
---@param list { keys: string, words: string }[]
---@return integer columns of the longest line
local function fill(bufnr, list)
  local width, longest = 0, 0
  for _, one in ipairs(list) do
    width = math.max(width, vim.fn.strdisplaywidth(one.keys))
  end
  local lines = {}
  for index, one in ipairs(list) do
    lines[index] = (" %s%s  %s "):format(one.keys, (" "):rep(width - vim.fn.strdisplaywidth(one.keys)), one.words)
    longest = math.max(longest, vim.fn.strdisplaywidth(lines[index]))
  end
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  for index, one in ipairs(list) do
    api.nvim_buf_set_extmark(bufnr, LOOKS, index - 1, 1, { end_col = 1 + #one.keys, hl_group = "Special" })
  end
  return longest
end

---@param win integer
---@param bufnr integer
local function close_with(win, bufnr)
  local function close()
    if api.nvim_win_is_valid(win) then
      api.nvim_win_close(win, true)
    end
  end
  local keys = vim.list_extend({ "<Esc>", "q" }, config.keys("help"))
  for _, key in ipairs(keys) do
    vim.keymap.set("n", key, close, { buffer = bufnr, nowait = true, desc = "acp: close" })
  end
  api.nvim_create_autocmd("WinLeave", { buffer = bufnr, once = true, callback = vim.schedule_wrap(close) })
end

---Shows the keys of the chat or of the prompt; the float has the focus, so that all of it can be read anywhere.
---@param where "chat"|"prompt"|"form"
---@param waits boolean a permission waits in the chat
function M.show(where, waits)
  local list = M.keys(where, waits)
  local bufnr = api.nvim_create_buf(false, true)
  vim.bo[bufnr].bufhidden = "wipe"
  local longest = fill(bufnr, list)
  vim.bo[bufnr].modifiable = false
  local width = math.max(1, math.min(longest, vim.o.columns - 4, HELP_COLUMNS))
  local height = math.max(1, math.min(#list, vim.o.lines - 5))
  local win = api.nvim_open_win(bufnr, true, {
    relative = "editor",
    width = width,
    height = height,
    row = math.max(0, math.floor((vim.o.lines - height - 3) / 2)),
    col = math.max(0, math.floor((vim.o.columns - width - 2) / 2)),
    style = "minimal",
    border = "rounded",
    title = (" Keys of the %s "):format(where),
    title_pos = "center",
  })
  vim.wo[win][0].wrap = true
  vim.wo[win][0].linebreak = true
  close_with(win, bufnr)
end

return M

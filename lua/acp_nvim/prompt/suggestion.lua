-- Offers the prompt that the agent suggests in the empty prompt buffer. Only a key makes it text; it is never sent.
local cells = require("acp_nvim.render.cells")
local config = require("acp_nvim.config")
local sessions = require("acp_nvim.host.sessions")
local states = require("acp_nvim.host.states")

local M = {}

local api = vim.api
local KEY_DESC = "acp: take the suggested prompt"
local MODES = { "n", "i" }

---@return string? the suggestion that is offered now, if the prompt is empty
function M.offered(session)
  if config.get().prompt.suggestions and not states.is_busy(session.status.state) then
    return session.suggestion
  end
end

---@return table? nil when the buffer has no mapping of its own
local function mapped(bufnr, mode, key)
  local map = api.nvim_buf_call(bufnr, function()
    return vim.fn.maparg(key, mode, false, true)
  end)
  return map.buffer == 1 and map or nil
end

---Maps the keys only while there is something to take: otherwise they do what they always do.
local function map_keys(bufnr, keys)
  for _, key in ipairs(keys) do
    for _, mode in ipairs(MODES) do
      if not mapped(bufnr, mode, key) then
        local opts = { buffer = bufnr, nowait = true, remap = true, desc = KEY_DESC }
        vim.keymap.set(mode, key, "<Plug>(AcpTakeSuggestion)", opts)
      end
    end
  end
end

local function unmap_keys(bufnr)
  for _, key in ipairs(config.keys("take_suggestion")) do
    for _, mode in ipairs(MODES) do
      local map = mapped(bufnr, mode, key)
      if map and map.desc == KEY_DESC then
        vim.keymap.del(mode, key, { buffer = bufnr })
      end
    end
  end
end

---Prepares the buffer for what it offers.
---@param empty boolean the buffer is empty
---@return table[]? chunks to show in an empty buffer, as long as its window is wide; nil: nothing is suggested
function M.show(session, bufnr, empty)
  if not empty then
    session.suggestion = nil -- the user has something else to say
  end
  local text = M.offered(session)
  if not text then
    unmap_keys(bufnr)
    return nil
  end
  local keys = config.keys("take_suggestion")
  map_keys(bufnr, keys)
  local win = vim.fn.bufwinid(bufnr)
  local info = vim.fn.getwininfo(win)[1]
  local width = info and info.width - info.textoff or vim.o.columns
  local hint = (" (%s takes it)"):format(keys[1] or ":help acp_nvim-suggestions")
  if api.nvim_strwidth(text) + api.nvim_strwidth(hint) > width then
    hint = ""
  end
  return {
    { cells.cut(cells.plain(text), width - api.nvim_strwidth(hint)), "AcpSuggestion" },
    { hint, "AcpPlaceholder" },
  }
end

---Puts the suggestion into the empty prompt as text that can be edited.
---@return boolean taken
function M.take()
  local bufnr = api.nvim_get_current_buf()
  local session = sessions.of_buffer(bufnr)
  local text = session and session.prompt_bufnr == bufnr and M.offered(session)
  if not text or api.nvim_buf_line_count(bufnr) > 1 or api.nvim_buf_get_lines(bufnr, 0, 1, true)[1] ~= "" then
    return false
  end
  api.nvim_buf_set_lines(bufnr, 0, -1, true, { text })
  api.nvim_win_set_cursor(0, { 1, #text })
  return true
end

return M

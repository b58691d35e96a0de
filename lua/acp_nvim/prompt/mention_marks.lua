-- Shows in the prompt which words of it will be attached; looks at the lines that are seen.
local mentions = require("acp_nvim.prompt.mentions")
local sessions = require("acp_nvim.sessions")

local M = {}

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.mentions")

---@param bufnr integer
---@param mention acp.Mention
---@param first integer row of the first line that was looked at
local function mark(bufnr, mention, first)
  local group = mention.target.problem and "AcpMentionRefused" or "AcpMention"
  local row = first + mention.row
  pcall(api.nvim_buf_set_extmark, bufnr, NAMESPACE, row, mention.from, { end_col = mention.to, hl_group = group })
end

---@param session acp.Session
---@param bufnr integer
---@param win integer that shows it
local function look(session, bufnr, win)
  local first, last = vim.fn.line("w0", win) - 1, vim.fn.line("w$", win)
  local tick = api.nvim_buf_get_changedtick(bufnr)
  mentions.find(session, api.nvim_buf_get_lines(bufnr, first, last, false), function(found)
    if not api.nvim_buf_is_loaded(bufnr) or api.nvim_buf_get_changedtick(bufnr) ~= tick then
      return -- what changed it looks again
    end
    api.nvim_buf_clear_namespace(bufnr, NAMESPACE, first, last)
    for _, mention in ipairs(found) do
      mark(bufnr, mention, first)
    end
  end)
end

---@param bufnr integer of a prompt
function M.show(bufnr)
  local session = sessions.of_buffer(bufnr)
  local win = session and vim.fn.bufwinid(bufnr) or -1
  if session and win ~= -1 then
    look(session, bufnr, win)
  end
end

---@param bufnr integer of a prompt
function M.watch(bufnr)
  local group = api.nvim_create_augroup("acp_nvim.mentions." .. bufnr, {})
  -- buffer-local: the chat scrolls with each batch
  local seen = { "TextChanged", "TextChangedI", "TextChangedP", "BufWinEnter", "WinEnter", "WinScrolled" }
  api.nvim_create_autocmd(seen, {
    group = group,
    buffer = bufnr,
    callback = function()
      M.show(bufnr)
    end,
  })
  api.nvim_create_autocmd("BufUnload", {
    group = group,
    buffer = bufnr,
    callback = function()
      pcall(api.nvim_del_augroup_by_id, group)
    end,
  })
end

return M

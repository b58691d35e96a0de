-- Walks through the prompts that were sent in a session; the draft waits at the end.
local M = {}

---@type table<integer, { at: integer, draft: string[] }> by the session's key
local walks = {}

---@param session acp.Session
---@param step -1|1
function M.walk(session, step)
  local bufnr = session.prompt_bufnr --[[@as integer]]
  local lines = vim.api.nvim_buf_get_lines(bufnr, 0, -1, true)
  local walk = walks[session.key] or { at = #session.history + 1, draft = lines }
  if walk.at > #session.history then
    walk.draft = lines
  end
  local at = walk.at + step
  if at < 1 or at > #session.history + 1 then
    return
  end
  walk.at = at
  walks[session.key] = walk
  local new = session.history[at] and vim.split(session.history[at], "\n", { plain = true }) or walk.draft
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, true, new)
  vim.api.nvim_win_set_cursor(0, { #new, vim.v.maxcol })
end

---@param session acp.Session
function M.finish(session)
  walks[session.key] = nil
end

return M

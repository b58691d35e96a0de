-- Says in an empty chat what can be done there: continue the conversation used last, and what to ask the demo agent.
local config = require("acp_nvim.config")
local lazy = require("acp_nvim.lazy")
local cells = require("acp_nvim.render.cells")
local comment_rows = lazy("acp_nvim.render.wrapping")
local question = lazy("acp_nvim.host.question")

local M = {}

local api = vim.api
local NAMESPACE = api.nvim_create_namespace("acp_nvim.welcome")
local TITLE = 40 -- characters of a conversation's title: it is known by its beginning

local DEMO = {
  "The demo agent has no model, but does real work. Ask it `What is wrong?`: it reads a file of this directory, and asks before it changes it or runs a command.",
  "`/` lists its commands, `:AcpTutor` shows all of this step by step.",
}

---@param entry acp.SessionEntry?
---@return string[]
local function words(session, entry)
  local lines = session.agent == "demo" and vim.list_slice(DEMO) or {}
  if entry then
    local key = config.keys("continue_last")[1] or ":AcpContinue"
    local title = vim.fn.strcharpart(cells.plain(question.title(entry)), 0, TITLE)
    local agent = entry.agent ~= session.agent and " with " .. entry.agent or ""
    lines[#lines + 1] = ("%s continues “%s”%s (%s)"):format(key, title, agent, question.ago(entry.updated))
  end
  return lines
end

---Draws the words below the first, empty line of the chat.
---@param lines string[]
local function draw(session, lines)
  local bufnr = session.bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) or #lines == 0 then
    return
  end
  local win, rows = vim.fn.bufwinid(bufnr), {}
  for _, line in ipairs(lines) do
    for _, row in ipairs(comment_rows.wrapped(line, win ~= -1 and api.nvim_win_get_width(win) or vim.o.columns)) do
      rows[#rows + 1] = { { row, "AcpPlaceholder" } }
    end
  end
  api.nvim_buf_clear_namespace(bufnr, NAMESPACE, 0, -1)
  api.nvim_buf_set_extmark(bufnr, NAMESPACE, 0, 0, { virt_lines = rows })
end

---Shows the words, once the agent is ready, in a chat that nothing was sent from.
function M.show(session)
  if not session.is_new then
    return
  end
  draw(session, words(session))
  question.last(session.cwd, nil, function(entry)
    if session.is_new then
      draw(session, words(session, entry))
    end
  end)
end

---Removes the words: the conversation begins.
function M.clear(session)
  if session.is_new then
    session.is_new = nil
    if session.bufnr and api.nvim_buf_is_loaded(session.bufnr) then
      api.nvim_buf_clear_namespace(session.bufnr, NAMESPACE, 0, -1)
    end
  end
end

return M

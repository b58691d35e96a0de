-- Shows below the prompt what waits to be sent.
local limits = require("acp_nvim.limits")

local M = {}

local api = vim.api
local WAITING = api.nvim_create_namespace("acp_nvim.queue")

---@class acp.QueuedPrompt
---@field id integer
---@field text string
---@field context_names string[]

---@param session acp.Session
---@return string
local function title(session)
  local count = #session.queue.prompts
  local words = count == 1 and "1 prompt waits" or ("%d prompts wait"):format(count)
  local held = session.queue.held and ", until you send another one" or ""
  return ("%s%s (:AcpQueue edits)"):format(words, held)
end

---@param session acp.Session
---@return table[] virtual lines
local function lines_of(session)
  local prompts = session.queue.prompts
  local lines = { { { title(session), "AcpQueueTitle" } } }
  for index, prompt in ipairs(prompts) do
    if index > limits.queue_lines then
      table.insert(lines, { { (" … %d more"):format(#prompts - limits.queue_lines), "AcpQueue" } })
      break
    end
    local text = vim.trim(prompt.text):gsub("%s*\n%s*", " ⏎ "):gsub("%c", " ")
    local names = #prompt.context_names > 0 and "  + " .. table.concat(prompt.context_names, ", ") or ""
    local short = vim.fn.strcharpart(text .. names, 0, limits.queue_columns)
    table.insert(lines, { { (" %d "):format(index), "AcpQueueTitle" }, { short, "AcpQueue" } })
  end
  return lines
end

---@param session acp.Session whose prompt, or queue, is another one
function M.show(session)
  local bufnr = session.prompt_bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    return
  end
  api.nvim_buf_clear_namespace(bufnr, WAITING, 0, -1)
  if session.queue and #session.queue.prompts > 0 then
    local last = api.nvim_buf_line_count(bufnr) - 1
    api.nvim_buf_set_extmark(bufnr, WAITING, last, 0, { virt_lines = lines_of(session) })
  end
end

return M

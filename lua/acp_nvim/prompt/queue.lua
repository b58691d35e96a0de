-- Prompts that no agent has received yet: shows the host's queue below the prompt, and keeps the prompts that the host
-- has not accepted.

local hints = require("acp_nvim.chat.winbar.hints")

local M = {}

local api = vim.api
local QUEUE_LINES = 3 -- of the queue shown below the prompt, whose window is small
local QUEUE_COLUMNS = 200 -- of each of these lines
local WAITING = api.nvim_create_namespace("acp_nvim.queue")

---A prompt that was sent, but that the host has not accepted yet.
---@class acp.OutgoingPrompt
---@field id integer unique in this Neovim
---@field text string
---@field context? acp.ContextItem[]
---@field revision? integer grows with each edit by the user

---@return integer id unique in this Neovim, even after the modules were reloaded
function M.new_id()
  local id = (vim.g.acp_nvim_last_prompt or 0) + 1
  vim.g.acp_nvim_last_prompt = id
  return id
end

---@return acp.QueuedPrompt[] in order
function M.prompts(session)
  return session.queue and session.queue.prompts or {}
end

---@param list { id: integer }[]
---@return table<integer, any>
local function by_id(list)
  local found = {}
  for _, prompt in ipairs(list) do
    found[prompt.id] = prompt
  end
  return found
end

---Keeps a prompt that is being sent, or updates it if it was sent before.
---@param prompt acp.OutgoingPrompt
function M.keep(session, prompt)
  local before = by_id(session.outbox)[prompt.id]
  if before then
    before.text, before.revision = prompt.text, prompt.revision
    before.context = vim.list_extend(vim.list_slice(before.context or {}), prompt.context or {})
  else
    table.insert(session.outbox, prompt)
  end
end

---Drops prompts that the host has accepted or that the user has removed. Keeps those that were edited since.
---@param ids integer[]
---@param revisions? integer[] revision of each that the host has; nil: any
function M.taken(session, ids, revisions)
  local has = {}
  for place, id in ipairs(ids) do
    has[id] = revisions and revisions[place] or math.huge
  end
  session.outbox = vim.tbl_filter(function(prompt)
    return not has[prompt.id] or has[prompt.id] < (prompt.revision or 0)
  end, session.outbox)
end

---Replaces the queue as the user has edited it. Shows and keeps it until the host reports the actual queue.
---@param wanted acp.OutgoingPrompt[] in order; `context` is added to what is attached already
---@param known integer[] ids of the prompts that the user saw
---@param revision integer of this edit, which the host knows
---@return acp.OutgoingPrompt[] changed the new prompts, and those with another text
function M.set(session, wanted, known, revision)
  local before, stays, prompts, changed = by_id(M.prompts(session)), by_id(wanted), {}, {}
  local removed = vim.tbl_filter(function(id)
    return not stays[id]
  end, known)
  M.taken(session, removed)
  for _, prompt in ipairs(wanted) do
    local was = before[prompt.id] or { context_names = {} }
    if was.text ~= prompt.text then
      table.insert(changed, prompt)
      M.keep(session, { id = prompt.id, text = prompt.text, context = prompt.context, revision = revision })
    end
    table.insert(prompts, { id = prompt.id, text = prompt.text, context_names = was.context_names })
  end
  session.queue = { held = session.queue ~= nil and session.queue.held, prompts = prompts }
  M.show(session)
  return changed
end

---@return string[] texts of all prompts that no agent has received
function M.unsent(session)
  local waits, texts = by_id(M.prompts(session)), {}
  for _, prompt in ipairs(session.outbox) do
    if not waits[prompt.id] then
      table.insert(texts, prompt.text)
    end
  end
  local outgoing = by_id(session.outbox)
  for _, prompt in ipairs(M.prompts(session)) do
    table.insert(texts, (outgoing[prompt.id] or prompt).text)
  end
  return texts
end

---Handles the end of the host: holds the queue until the user sends another prompt.
---@return acp.OutgoingPrompt[] back prompts that were neither queued nor accepted; the user gets them back
function M.lose_host(session)
  local waits, back = by_id(M.prompts(session)), {}
  session.outbox = vim.tbl_filter(function(prompt)
    if waits[prompt.id] then
      waits[prompt.id].text = prompt.text
    else
      table.insert(back, prompt)
      table.insert(session.returned, prompt.id)
    end
    return waits[prompt.id] ~= nil
  end, session.outbox)
  if session.queue then
    session.queue.held = true
  end
  M.show(session)
  return back
end

---@param session acp.Session known to a new host
---@return table? params of `queue_set`: the queue with the attachments not yet accepted; nil when it is empty
function M.to_hand_over(session)
  local outgoing, prompts, known = by_id(session.outbox), {}, {}
  if #M.prompts(session) == 0 then
    return nil
  end
  for _, prompt in ipairs(M.prompts(session)) do
    table.insert(prompts, { id = prompt.id, text = prompt.text, context = (outgoing[prompt.id] or {}).context })
    if not outgoing[prompt.id] then
      table.insert(known, prompt.id)
    end
  end
  return { session = session.key, prompts = prompts, known = known, held = true, revision = vim.uv.hrtime() }
end

local function title(session)
  local count = #session.queue.prompts
  if session.queue.held then
    local key = hints.send(hints.is_typing(session.prompt_bufnr))
    return count == 1 and ("1 prompt is held: %s sends it"):format(key)
      or ("%d prompts are held: %s sends them"):format(count, key)
  end
  return (count == 1 and "1 prompt waits" or ("%d prompts wait"):format(count)) .. " (:AcpQueue edits)"
end

---@return table[] virtual lines
local function lines_of(session)
  local prompts = session.queue.prompts
  local lines = { { { title(session), "AcpQueueTitle" } } }
  for index, prompt in ipairs(prompts) do
    if index > QUEUE_LINES then
      table.insert(lines, { { (" … %d more"):format(#prompts - QUEUE_LINES), "AcpQueue" } })
      break
    end
    local text = vim.trim(prompt.text):gsub("%s*\n%s*", " ⏎ "):gsub("%c", " ")
    local names = #prompt.context_names > 0 and "  + " .. table.concat(prompt.context_names, ", ") or ""
    local short = vim.fn.strcharpart(text .. names, 0, QUEUE_COLUMNS)
    table.insert(lines, { { (" %d "):format(index), "AcpQueueTitle" }, { short, "AcpQueue" } })
  end
  return lines
end

---Draws the queue below the last line of the prompt.
function M.show(session)
  local bufnr = session.prompt_bufnr
  if not bufnr or not api.nvim_buf_is_loaded(bufnr) then
    return
  end
  api.nvim_buf_clear_namespace(bufnr, WAITING, 0, -1)
  if #M.prompts(session) > 0 then
    local last = api.nvim_buf_line_count(bufnr) - 1
    api.nvim_buf_set_extmark(bufnr, WAITING, last, 0, { virt_lines = lines_of(session) })
  end
end

return M

-- Prompts that were sent but that no agent has yet: what waits is shown below the prompt, what the host has not taken
-- is kept here.

local M = {}

local api = vim.api
local QUEUE_LINES = 3 -- of what waits, below the prompt: its window is small
local QUEUE_COLUMNS = 200 -- of each of these lines
local WAITING = api.nvim_create_namespace("acp_nvim.queue")

---A prompt that was handed over, and that the host has not taken yet.
---@class acp.OutgoingPrompt
---@field id integer unique in this Neovim
---@field text string
---@field context? acp.ContextItem[]
---@field revision? integer a later one for each change that the user makes of it

---@return integer id of a prompt that no other one of this Neovim has, also after its modules were loaded again
function M.new_id()
  local id = (vim.g.acp_nvim_last_prompt or 0) + 1
  vim.g.acp_nvim_last_prompt = id
  return id
end

---@param session acp.Session
---@return acp.QueuedPrompt[] in their order
function M.prompts(session)
  return session.queue and session.queue.prompts or {}
end

---@param list { id: integer }[]
---@return table<integer, any>
local function by_id(list)
  local found = {}
  for _, one in ipairs(list) do
    found[one.id] = one
  end
  return found
end

---Keeps a prompt that is handed to the host now; one that was handed over before is changed.
---@param session acp.Session
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

---The host has taken these, or the user wants them no more. What the user has changed since stays.
---@param session acp.Session
---@param ids integer[]
---@param revisions? integer[] which the host has of each; nil: whatever they are
function M.taken(session, ids, revisions)
  local has = {}
  for place, id in ipairs(ids) do
    has[id] = revisions and revisions[place] or math.huge
  end
  session.outbox = vim.tbl_filter(function(one)
    return not has[one.id] or has[one.id] < (one.revision or 0)
  end, session.outbox)
end

---The user wants the queue to be this one: shown, and kept, until the host tells what has become of it.
---@param session acp.Session
---@param wanted acp.OutgoingPrompt[] in their order; `context` is what comes along beside what does already
---@param known integer[] ids of those that the user saw
---@param revision integer with which the host was told so
---@return acp.OutgoingPrompt[] changed those that are new, or have another text
function M.set(session, wanted, known, revision)
  local before, stays, prompts, changed = by_id(M.prompts(session)), by_id(wanted), {}, {}
  M.taken(
    session,
    vim.tbl_filter(function(id)
      return not stays[id]
    end, known)
  )
  for _, one in ipairs(wanted) do
    local was = before[one.id] or { context_names = {} }
    if was.text ~= one.text then
      table.insert(changed, one)
      M.keep(session, { id = one.id, text = one.text, context = one.context, revision = revision })
    end
    table.insert(prompts, { id = one.id, text = one.text, context_names = was.context_names })
  end
  session.queue = { held = session.queue ~= nil and session.queue.held, prompts = prompts }
  M.show(session)
  return changed
end

---@param session acp.Session
---@return string[] texts of all prompts that no agent has yet
function M.unsent(session)
  local waits, texts = by_id(M.prompts(session)), {}
  for _, one in ipairs(session.outbox) do
    if not waits[one.id] then
      table.insert(texts, one.text)
    end
  end
  local outgoing = by_id(session.outbox)
  for _, one in ipairs(M.prompts(session)) do
    table.insert(texts, (outgoing[one.id] or one).text)
  end
  return texts
end

---The host has ended. What waits is held until the user sends another prompt.
---@param session acp.Session
---@return acp.OutgoingPrompt[] back what neither waits nor was taken: it is the user's again
function M.lose_host(session)
  local waits, back = by_id(M.prompts(session)), {}
  session.outbox = vim.tbl_filter(function(one)
    if waits[one.id] then
      waits[one.id].text = one.text
    else
      table.insert(back, one)
      table.insert(session.returned, one.id)
    end
    return waits[one.id] ~= nil
  end, session.outbox)
  if session.queue then
    session.queue.held = true
  end
  M.show(session)
  return back
end

---@param session acp.Session that another host knows now
---@return table? params of `queue_set`: what waits, with what no host has taken; nil when nothing waits
function M.to_hand_over(session)
  local outgoing, prompts, known = by_id(session.outbox), {}, {}
  if #M.prompts(session) == 0 then
    return nil
  end
  for _, one in ipairs(M.prompts(session)) do
    table.insert(prompts, { id = one.id, text = one.text, context = (outgoing[one.id] or {}).context })
    if not outgoing[one.id] then
      table.insert(known, one.id)
    end
  end
  return { session = session.key, prompts = prompts, known = known, held = true, revision = vim.uv.hrtime() }
end

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
---@param session acp.Session whose prompt, or queue, has changed
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

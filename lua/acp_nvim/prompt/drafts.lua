-- Saves the text of prompts and the prompts not yet sent, since Neovim may be killed at any time.
local idle = require("acp_nvim.idle")
local lazy = require("acp_nvim.lazy")
local message = lazy("acp_nvim.message")
local queue = require("acp_nvim.prompt.queue")
local state_files = require("acp_nvim.health.state_files")

local M = {}

local DRAFT_MS = 300 -- between a key and the write: about a word
local DRAFT_BYTES_MS = 1000 -- of a prompt that add a millisecond to this: large prompts take longer to write
local DRAFT_ELSEWHERE_S = 30 * 24 * 3600 -- age after which a draft of another machine with the same home is an orphan

local api, uv = vim.api, vim.uv

---@class acp.DraftSlot
---@field path string
---@field session acp.Session
---@field timer uv.uv_timer_t
---@field waits? boolean the timer is running
---@field writes? boolean a write is in progress
---@field exists? boolean the file exists

---@type table<integer, acp.DraftSlot> by the session's key
local slots = {}
local has_complained = false

---Checks whether the Neovim of a draft is gone. The name of the file identifies it: renaming the file claims the draft.
local function is_orphan(path)
  local instance = vim.fs.basename(path):match("^([%w_]+%-%d+%-%d*)%-%d+%.json$")
  local is_alive = instance and state_files.is_alive(instance)
  if is_alive ~= nil then
    return not is_alive
  end
  local status = instance and uv.fs_stat(path)
  return status ~= nil and os.time() - status.mtime.sec > DRAFT_ELSEWHERE_S
end

local function text_of(session)
  local bufnr = session.prompt_bufnr
  local lines = bufnr and api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_lines(bufnr, 0, -1, true)
  return table.concat(lines or session.draft or {}, "\n")
end

---@return string? data nil when there is nothing to save
local function data_of(session)
  local text = text_of(session)
  local waiting = queue.unsent(session)
  if vim.trim(text) == "" and #waiting == 0 then
    return nil
  end
  return vim.json.encode({
    agent = session.agent or "",
    cwd = session.cwd,
    time = os.time(),
    text = text,
    waiting = waiting,
  })
end

---@return acp.DraftSlot
local function slot_of(session)
  local slot = slots[session.key]
  if not slot then
    local directory = state_files.of_project("drafts", session.cwd)
    local name = ("%s-%d.json"):format(state_files.instance(), session.key)
    slot = { path = vim.fs.joinpath(directory, name), session = session, timer = assert(uv.new_timer()) }
    slot.exists = uv.fs_stat(slot.path) ~= nil -- written before the modules were reloaded
    slots[session.key] = slot
  end
  return slot
end

---@param slot acp.DraftSlot
local function written(slot, problem)
  slot.writes = false
  if problem and not has_complained then
    has_complained = true
    vim.schedule(function()
      message.warn(("what you type in the prompt is not kept on disk: %s: %s"):format(slot.path, problem))
    end)
  end
end

---@param slot acp.DraftSlot
local function save(slot)
  slot.waits = false
  if slot.writes then
    return M.changed(slot.session) -- tries again after the write
  end
  local data = data_of(slot.session)
  if not data and not slot.exists then
    return
  end
  slot.writes = true
  if data then
    slot.exists = true
    state_files.make_directory(vim.fs.dirname(slot.path))
    state_files.replace_soon(slot.path, data, function(problem)
      written(slot, problem)
    end)
  else
    slot.exists = false
    uv.fs_unlink(slot.path, function()
      written(slot)
    end)
  end
end

---Schedules a write, after the prompt or the queue has changed.
function M.changed(session)
  local slot = slot_of(session)
  if slot.waits then
    return
  end
  slot.waits = true
  local bufnr = session.prompt_bufnr
  local loaded = bufnr and api.nvim_buf_is_loaded(bufnr)
  local bytes = loaded and api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) or 0
  slot.timer:start(DRAFT_MS + math.floor(bytes / DRAFT_BYTES_MS), 0, function()
    vim.schedule(function()
      save(slot)
    end)
  end)
end

---Writes all drafts now, when Neovim exits.
function M.flush()
  for _, slot in pairs(slots) do
    slot.timer:stop()
    local data = data_of(slot.session)
    if data then
      state_files.replace(slot.path, data)
    elseif slot.exists then
      uv.fs_unlink(slot.path)
    end
  end
end

---@return { path: string, draft: table }[] the newest first
local function orphans(directory, agent)
  local found = {}
  for name in vim.fs.dir(directory) do
    local path = vim.fs.joinpath(directory, name)
    local ok, draft = pcall(vim.json.decode, is_orphan(path) and state_files.read(path) or "")
    if ok and type(draft) == "table" and draft.agent == agent then
      table.insert(found, { path = path, draft = draft })
    end
  end
  table.sort(found, function(a, b)
    return (tonumber(a.draft.time) or 0) > (tonumber(b.draft.time) or 0)
  end)
  return found
end

---Looks for drafts without the directory's exact name, whose hash takes Neovim 4 ms when it computes the first one.
---@return boolean an ended Neovim may have left a draft for the project
local function may_have_orphans(cwd)
  local directories, prefix = state_files.of_projects("drafts", cwd)
  for name in vim.fs.dir(directories) do
    for file in vim.startswith(name, prefix) and vim.fs.dir(vim.fs.joinpath(directories, name)) or pairs({}) do
      if is_orphan(vim.fs.joinpath(directories, name, file)) then
        return true
      end
    end
  end
  return false
end

---Claims the newest draft that an ended Neovim left for this project and agent.
---@return string? text
function M.take(session)
  if not may_have_orphans(session.cwd) then
    idle.run(function()
      slot_of(session) -- the first key needs it
    end)
    return nil
  end
  local slot = slot_of(session)
  for _, orphan in ipairs(orphans(vim.fs.dirname(slot.path), session.agent or "")) do
    if uv.fs_rename(orphan.path, slot.path) then
      slot.exists = true
      local parts = vim.list_extend({}, type(orphan.draft.waiting) == "table" and orphan.draft.waiting or {})
      table.insert(parts, orphan.draft.text)
      local texts = vim.tbl_filter(function(part)
        return type(part) == "string" and vim.trim(part) ~= ""
      end, parts)
      return table.concat(texts, "\n\n")
    end
  end
end

api.nvim_create_autocmd("VimLeavePre", {
  group = api.nvim_create_augroup("acp_nvim.drafts", {}),
  callback = M.flush,
})

return M

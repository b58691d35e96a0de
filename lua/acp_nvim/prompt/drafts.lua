-- Saves the text of prompts and the prompts not yet sent, since Neovim may be killed at any time.
local idle = require("acp_nvim.kernel.idle")
local owned_files = require("acp_nvim.kernel.owned_files")
local queue = require("acp_nvim.prompt.queue")
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

local DRAFT_MS = 300 -- between a key and the write: about a word
local DRAFT_BYTES_MS = 1000 -- of a prompt that add a millisecond to this: large prompts take longer to write
local COMPLAINT = "drafts of prompts cannot be stored"

local api = vim.api

---@type table<integer, acp.OwnedFile> by the session's key
local files = {}

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

---@return acp.OwnedFile
local function file_of(session)
  local file = files[session.key]
  if not file then
    local path = owned_files.path(state_files.of_project("drafts", session.cwd), session.key)
    file = owned_files.new(path, function()
      return data_of(session)
    end, COMPLAINT)
    files[session.key] = file
  end
  return file
end

---Schedules a write, after the prompt or the queue has changed.
function M.changed(session)
  local file = file_of(session)
  if file.delay then
    return
  end
  local bufnr = session.prompt_bufnr
  local loaded = bufnr and api.nvim_buf_is_loaded(bufnr)
  local bytes = loaded and api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) or 0
  owned_files.changed(file, DRAFT_MS + math.floor(bytes / DRAFT_BYTES_MS))
end

---@return { path: string, draft: table }[] the newest first
local function orphans(directory, agent)
  local found = {}
  for name in vim.fs.dir(directory) do
    local path = vim.fs.joinpath(directory, name)
    local ok, draft = pcall(vim.json.decode, owned_files.is_orphan(path) and state_files.read(path) or "")
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
    local directory = vim.fs.joinpath(directories, name)
    for file in vim.fs.dir(vim.startswith(name, prefix) and directory or "") do -- nothing is in ""
      if owned_files.is_orphan(vim.fs.joinpath(directory, file)) then
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
      file_of(session) -- the first key needs it
    end)
    return nil
  end
  local file = file_of(session)
  for _, orphan in ipairs(orphans(vim.fs.dirname(file.path), session.agent or "")) do
    if owned_files.claim(orphan.path, file.path) then
      file.exists, file.written = true, nil
      local parts = vim.list_extend({}, type(orphan.draft.waiting) == "table" and orphan.draft.waiting or {})
      table.insert(parts, orphan.draft.text)
      local texts = vim.tbl_filter(function(part)
        return type(part) == "string" and vim.trim(part) ~= ""
      end, parts)
      return table.concat(texts, "\n\n")
    end
  end
end

return M

-- Keeps what is typed in a prompt, and what waits to be sent, on disk: Neovim may be killed at any time.
local limits = require("acp_nvim.limits")
local message = require("acp_nvim.message")
local state_files = require("acp_nvim.state_files")

local M = {}

local api, uv = vim.api, vim.uv

---@class acp.DraftSlot
---@field path string
---@field session acp.Session
---@field timer uv.uv_timer_t
---@field waits? boolean the timer runs
---@field writes? boolean
---@field again? boolean it has changed while it was written
---@field exists? boolean there is a file

---@type table<integer, acp.DraftSlot> by the session's key
local slots = {}
---@type string?
local own_start
local has_complained = false

---@param pid integer
---@return string start of the process, in a unit that only compares; empty when it cannot be known
local function start_of(pid)
  local stat = io.open(("/proc/%d/stat"):format(pid))
  local fields = stat and stat:read("*a"):match(".*%)%s(.*)")
  if stat then
    stat:close()
  end
  return fields and vim.split(fields, " ")[20] or ""
end

---@param pid integer
---@param start string
---@return boolean
local function is_alive(pid, start)
  local ok, _, name = uv.kill(pid, 0)
  return (ok == 0 or name == "EPERM") and (start == "" or start_of(pid) == start)
end

---@return string which no dot or dash of a file name can be taken for
local function machine()
  return (uv.os_gethostname():gsub("[^%w]", "_"))
end

---Whose it is stands in its name: who renames a draft has it.
---@param path string of a draft
---@return boolean whose Neovim is gone
local function is_orphan(path)
  local where, pid, start = vim.fs.basename(path):match("^([%w_]+)-(%d+)-(%d*)-%d+%.json$")
  if where == machine() then
    return not is_alive(tonumber(pid) --[[@as integer]], start)
  end
  local status = where and uv.fs_stat(path)
  return status ~= nil and os.time() - status.mtime.sec > limits.draft_elsewhere_s
end

---@param session acp.Session
---@return string
local function text_of(session)
  local bufnr = session.prompt_bufnr
  local lines = bufnr and api.nvim_buf_is_loaded(bufnr) and api.nvim_buf_get_lines(bufnr, 0, -1, true)
  return table.concat(lines or session.draft or {}, "\n")
end

---@param session acp.Session
---@return string? data nil: there is nothing to keep
local function data_of(session)
  local text = text_of(session)
  if vim.trim(text) == "" and #session.unseen == 0 then
    return nil
  end
  return vim.json.encode({
    agent = session.agent or "",
    cwd = session.cwd,
    time = os.time(),
    text = text,
    waiting = session.unseen,
  })
end

---@param session acp.Session
---@return acp.DraftSlot
local function slot_of(session)
  local slot = slots[session.key]
  if not slot then
    local directory = state_files.of_project("drafts", session.cwd)
    own_start = own_start or start_of(uv.os_getpid())
    local name = ("%s-%d-%s-%d.json"):format(machine(), uv.os_getpid(), own_start, session.key)
    slot = { path = vim.fs.joinpath(directory, name), session = session, timer = assert(uv.new_timer()) }
    slot.exists = uv.fs_stat(slot.path) ~= nil -- of modules that were loaded before these
    slots[session.key] = slot
  end
  return slot
end

local save

---@param slot acp.DraftSlot
---@param problem? string
local function written(slot, problem)
  slot.writes = false
  if problem and not has_complained then
    has_complained = true
    vim.schedule(function()
      message.warn(("what you type in the prompt is not kept on disk: %s: %s"):format(slot.path, problem))
    end)
  end
  if slot.again then
    slot.again = false
    vim.schedule(function()
      M.changed(slot.session)
    end)
  end
end

---@param slot acp.DraftSlot
save = function(slot)
  slot.waits = false
  if slot.writes then
    slot.again = true
    return
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

---Something was typed in the prompt, or handed over, or taken up: it is written soon.
---@param session acp.Session
function M.changed(session)
  local slot = slot_of(session)
  if slot.waits then
    return
  end
  slot.waits = true
  local bufnr = session.prompt_bufnr
  local loaded = bufnr and api.nvim_buf_is_loaded(bufnr)
  local bytes = loaded and api.nvim_buf_get_offset(bufnr, api.nvim_buf_line_count(bufnr)) or 0
  slot.timer:start(limits.draft_ms + math.floor(bytes / limits.draft_bytes_ms), 0, function()
    vim.schedule(function()
      save(slot)
    end)
  end)
end

---All of them, at once: Neovim ends.
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

---@param directory string
---@param agent string
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

---What a Neovim that is gone has left for this project and agent: the newest, which nobody else gets any more.
---@param session acp.Session
---@return string? text
function M.take(session)
  local slot = slot_of(session)
  for _, one in ipairs(orphans(vim.fs.dirname(slot.path), session.agent or "")) do
    if uv.fs_rename(one.path, slot.path) then
      slot.exists = true
      local parts = vim.list_extend({}, type(one.draft.waiting) == "table" and one.draft.waiting or {})
      table.insert(parts, one.draft.text)
      return table.concat(
        vim.tbl_filter(function(part)
          return type(part) == "string" and vim.trim(part) ~= ""
        end, parts),
        "\n\n"
      )
    end
  end
end

api.nvim_create_autocmd("VimLeavePre", {
  group = api.nvim_create_augroup("acp_nvim.drafts", {}),
  callback = M.flush,
})

return M

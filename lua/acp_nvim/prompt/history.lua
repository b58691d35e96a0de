-- Steps through the prompts sent in a project, by any Neovim; the present draft comes after the newest one.
local dialog = require("acp_nvim.kernel.dialog")
local host = require("acp_nvim.host")
local message = require("acp_nvim.kernel.message")
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

local HISTORY = 500 -- prompts of a project that can be recalled
local HISTORY_COLUMNS = 150 -- of a prompt in the selection list

local uv = vim.uv

---@type table<integer, { at: integer, draft: string[], texts: string[] }> session key -> position in the history
local walks = {}
---@type table<string, { stamp: string, texts: string[] }> file -> cached prompts
local known = {}
---@type table<string, string[]> file -> prompts sent by this Neovim that the file does not have verbatim
local unwritten = {}

local function file_of(cwd)
  return state_files.of_project("prompts", cwd) .. ".jsonl"
end

---@return string[] the rotated file and the present one
local function both(path)
  return { path .. ".1", path }
end

---@return string differs when a file has changed
local function stamp(path)
  local parts = {}
  for _, file in ipairs(both(path)) do
    local status = uv.fs_stat(file)
    table.insert(parts, status and ("%d.%d.%d"):format(status.ino, status.size, status.mtime.nsec) or "-")
  end
  return table.concat(parts, " ")
end

---@return string[] oldest first; of duplicates only the latest
local function read(path)
  local texts, seen, ordered = {}, {}, {}
  for _, file in ipairs(both(path)) do
    for line in (state_files.read(file) or ""):gmatch("[^\n]+") do
      local ok, entry = pcall(vim.json.decode, line)
      if ok and type(entry) == "table" and type(entry.text) == "string" then
        table.insert(texts, entry.text)
      end
    end
  end
  unwritten[path] = vim.tbl_filter(function(text)
    return not vim.list_contains(texts, text)
  end, unwritten[path] or {})
  vim.list_extend(texts, unwritten[path])
  for index = #texts, 1, -1 do
    if not seen[texts[index]] and #ordered < HISTORY then
      seen[texts[index]] = true
      table.insert(ordered, 1, texts[index])
    end
  end
  return ordered
end

---@return string[] oldest first
function M.texts(cwd)
  local path = file_of(cwd)
  local now = stamp(path)
  if not known[path] or known[path].stamp ~= now then
    known[path] = { stamp = now, texts = read(path) }
  end
  return known[path].texts
end

---Adds a prompt that was sent. The host writes it to the file.
function M.add(session, text)
  local path = file_of(session.cwd)
  host.send("remember_prompt", { path = path, text = text, time = os.time() })
  unwritten[path] = unwritten[path] or {}
  table.insert(unwritten[path], text)
  known[path] = nil
end

---@return { at: integer, draft: string[], texts: string[] }
local function walk_of(session)
  local lines = vim.api.nvim_buf_get_lines(session.prompt_bufnr, 0, -1, true)
  local walk = walks[session.key]
  if not walk then
    local texts = M.texts(session.cwd) -- fixed while the user steps through them
    walk = { at = #texts + 1, draft = lines, texts = texts }
  elseif walk.at > #walk.texts then
    walk.draft = lines
  end
  return walk
end

local function go(session, at)
  local walk = walk_of(session)
  if at < 1 or at > #walk.texts + 1 then
    return
  end
  walk.at = at
  walks[session.key] = walk
  local text = walk.texts[at]
  local lines = text and vim.split(text, "\n", { plain = true }) or walk.draft
  vim.api.nvim_buf_set_lines(session.prompt_bufnr, 0, -1, true, lines)
  local win = vim.fn.bufwinid(session.prompt_bufnr)
  if win ~= -1 then
    vim.api.nvim_win_set_cursor(win, { #lines, vim.v.maxcol })
  end
  if not text then
    walks[session.key] = nil -- reload for the next time
  end
end

---@param step -1|1
function M.walk(session, step)
  go(session, walk_of(session).at + step)
end

---Lets the user choose a prompt of the history.
function M.pick(session)
  walks[session.key] = nil
  local walk = walk_of(session)
  local choices = {}
  for index = #walk.texts, 1, -1 do
    table.insert(choices, index)
  end
  if #choices == 0 then
    return message.info("no prompt has been sent in this project yet")
  end
  dialog.select(choices, {
    prompt = "Prompts of this project",
    kind = "acp_prompt_history",
    format_item = function(index)
      local text = vim.trim(walk.texts[index]):gsub("%s*\n%s*", " ⏎ ")
      return vim.fn.strcharpart(text, 0, HISTORY_COLUMNS)
    end,
  }, function(index)
    if index and session.prompt_bufnr then
      walks[session.key] = walk
      go(session, index)
    end
  end)
end

function M.finish(session)
  walks[session.key] = nil
end

return M

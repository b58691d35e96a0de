-- Tells which diagnostics are new since the beginning of a turn.
require("acp_nvim.problems.settling") -- from now on it is known which text each language server has

local M = {}

local api = vim.api
local MOST = 10000 -- problems that are remembered; Neovim copies each that it is asked for
local MESSAGE_BYTES = 1000 -- of one that tell it from others

---@class acp.problems.Baseline what was there at the beginning of a turn
---@field counts table<string, integer> how often each problem was there
---@field files table<string, true> names of the files that were open

---@type table<integer, acp.problems.Baseline> by session
local before = {}

---@param names table<integer, string> names of buffers, as far as they are known
---@return string
local function name_of(bufnr, names)
  names[bufnr] = names[bufnr] or (api.nvim_buf_is_valid(bufnr) and api.nvim_buf_get_name(bufnr)) or ""
  return names[bufnr]
end

---@param one vim.Diagnostic
---@param names table<integer, string>
---@return string the same for the same problem, in whatever line
local function key(one, names)
  local parts = { name_of(one.bufnr, names) }
  for _, part in ipairs({ "severity", "source", "code", "message" }) do
    local value = one[part] -- of any type: whoever set it was not checked
    local is_plain = type(value) == "string" or type(value) == "number"
    parts[#parts + 1] = is_plain and tostring(value):sub(1, MESSAGE_BYTES) or ""
  end
  return table.concat(parts, "\0")
end

---@return integer how many there are
local function count()
  local found = 0
  for _, one in pairs(package.loaded["vim.diagnostic"] and vim.diagnostic.count() or {}) do
    found = found + one
  end
  return found
end

---Remembers the present diagnostics as those before the turn of a session, unless there are too many.
---@param session integer
function M.mark(session)
  local number = count()
  if number > MOST then
    return M.forget(session)
  end
  local counts, files, names = {}, {}, {} ---@type table<string, integer>, table<string, true>, table<integer, string>
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if api.nvim_buf_is_loaded(bufnr) then
      files[name_of(bufnr, names)] = true
    end
  end
  for _, one in ipairs(number > 0 and vim.diagnostic.get() or {}) do
    local name = key(one, names)
    counts[name] = (counts[name] or 0) + 1
  end
  before[session] = { counts = counts, files = files }
end

---@param session integer
function M.forget(session)
  before[session] = nil
end

---@param session integer
---@return boolean
function M.is_marked(session)
  return before[session] ~= nil
end

---@param session integer that is marked
---@return boolean the file was open at the beginning of the turn, so that its problems were known
function M.was_open(session, bufnr)
  return before[session].files[name_of(bufnr, {})] == true
end

---@param session integer that is marked
---@param diagnostics vim.Diagnostic[]
---@return vim.Diagnostic[] those that were not there: of equal ones, as many as there are more
function M.new_since(session, diagnostics)
  local left, found, names = {}, {}, {} ---@type table<string, integer>, vim.Diagnostic[], table<integer, string>
  for _, one in ipairs(diagnostics) do
    local name = key(one, names)
    left[name] = left[name] or before[session].counts[name] or 0
    if left[name] > 0 then
      left[name] = left[name] - 1
    else
      found[#found + 1] = one
    end
  end
  return found
end

return M

-- Keeps comments that were not sent in the state directory. Each file there has what one Neovim has on one file of the user.
local lazy = require("acp_nvim.lazy")
local log = lazy("acp_nvim.kernel.log")
local owned_files = require("acp_nvim.kernel.owned_files")
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

local VERSION = 1
local CHANGE_MS = 300 -- between a change and the write
local SENT_MS = 1000 -- longer than drafts take: the prompt with the comments is on disk before they are removed from it
local COMPLAINT = "review comments cannot be stored"
local FIELDS = { "text", "path", "cwd", "first", "last", "is_gone", "lines" }

---@type table<string, acp.OwnedFile> by path
local files = {}
---@type table<string, true> paths of the files that the log says are not used
local left_alone = {}

local function directory()
  return vim.fs.joinpath(state_files.root(), "comments")
end

---@param number integer unique in this Neovim, even after the modules were reloaded
---@return string path of a new file
function M.path(number)
  return owned_files.path(directory(), number)
end

---@param list acp.ReviewComment[]
---@return string? nil when there are none
local function encoded(list)
  local kept = vim.tbl_map(function(comment)
    local fields = {}
    for _, name in ipairs(FIELDS) do
      fields[name] = comment[name]
    end
    return fields
  end, list)
  return #kept > 0 and vim.json.encode({ version = VERSION, comments = kept }) or nil
end

---Has a file written soon, or deleted if it has no comments any more.
---@param path string
---@param list fun(): acp.ReviewComment[] that it is to have
---@param is_sent? boolean comments of it were sent
function M.changed(path, list, is_sent)
  local file = files[path]
  if not file then
    file = owned_files.new(path, function()
      return encoded(list())
    end, COMPLAINT)
    files[path] = file
  end
  owned_files.changed(file, is_sent and SENT_MS or CHANGE_MS)
end

local function is_line_number(value)
  return type(value) == "number" and value >= 1 and value < 2 ^ 31 and value == math.floor(value)
end

---@return boolean
local function is_comment(value)
  return type(value) == "table"
    and type(value.text) == "string"
    and value.text ~= ""
    and type(value.path) == "string"
    and type(value.cwd) == "string"
    and is_line_number(value.first)
    and is_line_number(value.last)
    and value.last >= value.first
    and type(value.is_gone) == "boolean"
    and vim.islist(value.lines)
    and vim.iter(value.lines):all(function(line)
      return type(line) == "string"
    end)
end

---@param path string
---@return acp.ReviewComment[]? list nil when the file is not one that `encoded` has made
local function read(path)
  local ok, value = pcall(vim.json.decode, state_files.read(path) or "")
  local list = ok and type(value) == "table" and value.version == VERSION and value.comments
  return vim.islist(list) and vim.iter(list):all(is_comment) and list or nil
end

local function leave_alone(path)
  if not left_alone[path] then
    left_alone[path] = true
    log.write("not a file with review comments, left alone: " .. path)
  end
end

---@param path string of a file whose Neovim is gone
---@param new_id fun(): integer
---@param is_wanted fun(comment: acp.ReviewComment): boolean
---@return acp.ReviewComment[]
local function take_file(path, new_id, is_wanted)
  local list = read(path)
  if not list then
    leave_alone(path)
    return {}
  elseif not vim.iter(list):any(is_wanted) then
    return {}
  end
  local own = M.path(new_id())
  if not owned_files.claim(path, own) then -- another Neovim was faster
    return {}
  end
  return vim.tbl_map(function(fields)
    local comment = { id = new_id(), file = own }
    for _, name in ipairs(FIELDS) do
      comment[name] = fields[name]
    end
    return comment
  end, list)
end

---Claims comments of Neovims that are gone. Those on one file that one Neovim has left stay together.
---@param new_id fun(): integer
---@param is_wanted fun(comment: acp.ReviewComment): boolean
---@return acp.ReviewComment[] without buffers
function M.take(new_id, is_wanted)
  local taken = {}
  for name in vim.fs.dir(directory()) do
    local path = vim.fs.joinpath(directory(), name)
    local target = path:match("^(.*%.json)%.%w+$") -- the path of a file that was being written
    if owned_files.is_orphan(target or path) then
      if target then
        vim.uv.fs_unlink(path)
      else
        vim.list_extend(taken, take_file(path, new_id, is_wanted))
      end
    elseif not owned_files.is_owned(target or path) then
      leave_alone(path)
    end
  end
  return taken
end

return M

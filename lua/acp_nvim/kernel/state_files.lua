-- Reads and writes small files in the state directory, which only the user may read.
local M = {}

local uv = vim.uv
local PRIVATE = 384 -- 0600
local PRIVATE_DIRECTORY = 448 -- 0700
local OTHERS = 63 -- 0077

---@type string?
local own_instance

---@return string
function M.root()
  return vim.fs.joinpath(vim.fn.stdpath("state"), "acp_nvim")
end

---@return string beginning of the names of a project's files; other projects may have it, too
local function prefix_of(real)
  return vim.fs.basename(real):gsub("[^%w_.-]", "_"):sub(-40):gsub("^%.+", "") .. "-"
end

---@param kind string what the files are about
---@return string directory of the files of all projects
---@return string prefix of the names of those of a project, and maybe of others
function M.of_projects(kind, cwd)
  return vim.fs.joinpath(M.root(), kind), prefix_of(uv.fs_realpath(cwd) or cwd)
end

---@param kind string what the files are about
---@return string path for a project, without an extension
function M.of_project(kind, cwd)
  local real = uv.fs_realpath(cwd) or cwd
  return vim.fs.joinpath(M.root(), kind, prefix_of(real) .. vim.fn.sha256(real):sub(1, 16))
end

---@param pid integer
---@return string start time of the process in clock ticks since boot; empty when unknown
local function start_of(pid)
  local stat = io.open(("/proc/%d/stat"):format(pid))
  local fields = stat and stat:read("*a"):match(".*%)%s(.*)")
  if stat then
    stat:close()
  end
  return fields and vim.split(fields, " ")[20] or ""
end

local FIRST_NAMESPACE = "4026531836" -- inode of the PID namespace of the machine itself

---@return string name of the machine without dots and dashes; containers and sandboxes have other pids, so another name
local function machine()
  local space = (uv.fs_readlink("/proc/self/ns/pid") or ""):match("%d+") or FIRST_NAMESPACE
  local name = uv.os_gethostname():gsub("[^%w]", "_")
  return space == FIRST_NAMESPACE and name or name .. "_" .. space
end

---@return string name of this Neovim, for its own files: machine, pid and start time
function M.instance()
  local pid = uv.os_getpid()
  own_instance = own_instance or ("%s-%d-%s"):format(machine(), pid, start_of(pid))
  return own_instance
end

---@param instance string
---@return boolean? nil when it is on another machine
function M.is_alive(instance)
  local where, pid, start = instance:match("^([%w_]+)-(%d+)-(%d*)$")
  if where ~= machine() then
    return nil
  end
  local ok, _, name = uv.kill(tonumber(pid) --[[@as integer]], 0)
  return (ok == 0 or name == "EPERM")
    and (
      start == "" or start_of(tonumber(pid) --[[@as integer]]) == start
    )
end

---@return boolean exists
---@return string? problem
function M.make_directory(path)
  if vim.fn.isdirectory(path) == 1 then
    return true
  end
  local ok, problem = pcall(vim.fn.mkdir, path, "p", PRIVATE_DIRECTORY)
  return ok, not ok and tostring(problem) or nil
end

---@return string? content nil when it cannot be read
function M.read(path)
  local file = uv.fs_open(path, bit.bor(uv.constants.O_RDONLY, uv.constants.O_NONBLOCK or 0), PRIVATE)
  if not file then
    return nil
  end
  local status = uv.fs_fstat(file)
  local data = status and status.type == "file" and uv.fs_read(file, status.size, 0) or nil
  uv.fs_close(file)
  return data
end

---@param flags "a"|"w"
---@param data string
---@return string? problem
local function put(path, flags, data)
  M.make_directory(vim.fs.dirname(path))
  local file, problem = uv.fs_open(path, flags, PRIVATE)
  if not file then
    return problem
  end
  local status = uv.fs_fstat(file)
  if status and bit.band(status.mode, OTHERS) ~= 0 then -- older versions made files that others may read
    uv.fs_fchmod(file, PRIVATE)
  end
  local written, err = uv.fs_write(file, data)
  uv.fs_close(file)
  if written ~= #data then
    return err or "the disk is full"
  end
end

---Appends a line with one write, so that lines of several Neovims do not mix.
---@return string? problem
function M.append(path, line)
  return put(path, "a", line)
end

---Replaces the content of a file.
---@param data string
---@return string? problem
function M.replace(path, data)
  local new = ("%s.%d"):format(path, uv.os_getpid())
  local problem = put(new, "w", data)
  if not problem then
    problem = select(2, uv.fs_rename(new, path))
  end
  if problem then
    uv.fs_unlink(new)
  end
  return problem
end

---@return string path of the new content, until it replaces the file
local function being_written(path)
  return path .. ".new"
end

---Replaces the content of a file asynchronously.
---@param path string in an existing directory
---@param data string
---@param done fun(problem?: string) called in a fast context
function M.replace_soon(path, data, done)
  local new = being_written(path)
  local function fail(problem)
    uv.fs_unlink(new, function()
      done(problem)
    end)
  end
  uv.fs_open(new, "w", PRIVATE, function(err, file)
    if not file then
      return done(err)
    end
    uv.fs_write(file, data, nil, function(write_err, written)
      uv.fs_close(file, function()
        if written ~= #data then
          return fail(write_err or "the disk is full")
        end
        uv.fs_rename(new, path, function(problem)
          return problem and fail(problem) or done()
        end)
      end)
    end)
  end)
end

---Abandons a write of `replace_soon`, so that it cannot replace the file.
function M.abandon(path)
  uv.fs_unlink(being_written(path))
end

return M

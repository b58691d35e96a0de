-- Small files of ours in the state directory, which nobody but the user may read.
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

---@param kind string what the files are about
---@param cwd string
---@return string directory or file name of a project, without an extension
function M.of_project(kind, cwd)
  local real = uv.fs_realpath(cwd) or cwd
  local name = vim.fs.basename(real):gsub("[^%w_.-]", "_"):sub(-40):gsub("^%.+", "")
  return vim.fs.joinpath(M.root(), kind, ("%s-%s"):format(name, vim.fn.sha256(real):sub(1, 16)))
end

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

local FIRST_NAMESPACE = "4026531836" -- of processes: the kernel's own number for the one of the machine itself

---@return string of the machine, in which no dot or dash of a file name can be found; a container or a sandbox is another
---one: its pids say nothing here
local function machine()
  local space = (uv.fs_readlink("/proc/self/ns/pid") or ""):match("%d+") or FIRST_NAMESPACE
  local name = uv.os_gethostname():gsub("[^%w]", "_")
  return space == FIRST_NAMESPACE and name or name .. "_" .. space
end

---@return string name of this Neovim, for files that are its own: machine, pid, and when it was started
function M.instance()
  local pid = uv.os_getpid()
  own_instance = own_instance or ("%s-%d-%s"):format(machine(), pid, start_of(pid))
  return own_instance
end

---@param instance string
---@return boolean? nil: it is on another machine
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

---@param path string
---@return boolean made, or there
function M.make_directory(path)
  return vim.fn.isdirectory(path) == 1 or pcall(vim.fn.mkdir, path, "p", PRIVATE_DIRECTORY)
end

---@param path string
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

---Older versions have left files that others may read.
---@param file integer
local function narrow(file)
  local status = uv.fs_fstat(file)
  if status and bit.band(status.mode, OTHERS) ~= 0 then
    uv.fs_fchmod(file, PRIVATE)
  end
end

---@param path string
---@param flags "a"|"w"
---@param data string
---@return string? problem
local function put(path, flags, data)
  M.make_directory(vim.fs.dirname(path))
  local file, problem = uv.fs_open(path, flags, PRIVATE)
  if not file then
    return problem
  end
  narrow(file)
  local written, err = uv.fs_write(file, data)
  uv.fs_close(file)
  if written ~= #data then
    return err or "the disk is full"
  end
end

---One write, so that lines of several Neovims do not mix.
---@param path string
---@param line string
---@return string? problem
function M.append(path, line)
  return put(path, "a", line)
end

---@param path string
---@param data string
---@return string? problem
function M.replace(path, data)
  local new = ("%s.%d"):format(path, uv.os_getpid())
  local problem = put(new, "w", data)
  if problem then
    return problem
  end
  local _, err = uv.fs_rename(new, path)
  return err
end

---The same without waiting for the disk.
---@param path string in a directory that is there
---@param data string
---@param done fun(problem?: string) called in a fast context
function M.replace_soon(path, data, done)
  local new = path .. ".new"
  uv.fs_open(new, "w", PRIVATE, function(err, file)
    if not file then
      return done(err)
    end
    uv.fs_write(file, data, nil, function(write_err, written)
      uv.fs_close(file, function()
        if written ~= #data then
          return done(write_err or "the disk is full")
        end
        uv.fs_rename(new, path, done)
      end)
    end)
  end)
end

return M

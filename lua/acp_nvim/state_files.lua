-- Small files of ours in the state directory, which nobody but the user may read.
local M = {}

local uv = vim.uv
local PRIVATE = 384 -- 0600
local PRIVATE_DIRECTORY = 448 -- 0700
local OTHERS = 63 -- 0077

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

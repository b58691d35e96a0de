-- Loads files into buffers, and reads them: only here, because agents name files and make them.
--
-- To open a FIFO waits for its writer, and a device may have no end: Neovim would wait for ever. So only regular files of
-- a bounded size are opened. A file that is replaced between the check and Neovim's own read is not noticed: nothing
-- of Neovim reads a buffer from an open descriptor.
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.message")
local swap = require("acp_nvim.buffers.swap")

local M = {}

local OPEN_BYTES = 64 * 1024 * 1024 -- of a file that a line of the chat or the review names: read within a second

local api, uv = vim.api, vim.uv

---For `uv.fs_open`: does not wait for the writer of what has become a FIFO.
M.READ = bit.bor(uv.constants.O_RDONLY, uv.constants.O_NONBLOCK or 0)

local KINDS = {
  directory = "is a directory",
  fifo = "is a FIFO, not a regular file",
  socket = "is a socket, not a regular file",
  char = "is a device, not a regular file",
  block = "is a device, not a regular file",
}

---Files of the kernel say that they are regular, and may wait when they are read; what /dev/stdin and /dev/fd/0 lead to
---is ours, not a file of a project.
---@param path string
---@return boolean
local function is_of_system(path)
  return vim.startswith(path, "/proc/")
    or vim.startswith(path, "/sys/")
    or vim.startswith(path, "/dev/") and not vim.startswith(path, "/dev/shm/")
end

---@param path string absolute
---@param bytes integer that it may have
---@return string? words why the file is not opened, beginning with its path; nil when it can be
local function refusal(path, bytes)
  local stat = path:sub(1, 1) == "/" and uv.fs_stat(path) -- other names are URLs to Neovim, or belong to plugins
  local why
  if not stat then
    why = "is not there any more"
  elseif stat.type ~= "file" then
    why = KINDS[stat.type] or "is not a regular file"
  elseif is_of_system(path) or is_of_system(lookup.real(path)) then
    why = "belongs to the system itself"
  elseif stat.size > bytes then
    why = ("has %.1f MB, which is too much to be opened from here"):format(stat.size / 1024 ^ 2)
  end
  return why and ("%s %s"):format(path, why) or nil
end

---Reads bytes of a regular file.
---@param path string absolute
---@param most integer bytes that are read
---@param largest? integer bytes that the file may have; nil: any number
---@return string? data nil when the file cannot be read, or should not
function M.read(path, most, largest)
  local file = not refusal(path, largest or math.huge) and uv.fs_open(path, M.READ, 0) or nil
  if not file then
    return nil
  end
  local stat = uv.fs_fstat(file)
  local data = stat and stat.type == "file" and uv.fs_read(file, most, 0) or nil
  uv.fs_close(file)
  return data
end

---Says nothing meanwhile, and asks nothing about swap files.
---@param bufnr integer
local function read_into(bufnr)
  local before = vim.o.shortmess
  vim.cmd("noautocmd set shortmess+=AF")
  local ok, err = pcall(vim.cmd, ("silent keepjumps call bufload(%d)"):format(bufnr))
  vim.cmd(("noautocmd let &shortmess = %s"):format(vim.fn.string(before)))
  if not ok and not api.nvim_buf_is_loaded(bufnr) then
    error(err, 0)
  end
end

---@param path string absolute
---@param bytes integer that the file may have
---@return integer? bufnr loaded; a new one is not listed
---@return string? why there is none
function M.load(path, bytes)
  local problem = refusal(path, bytes)
  if problem then
    return nil, problem
  end
  local bufnr = vim.fn.bufadd(path)
  problem = refusal(path, bytes) or swap.obstacle(path) -- autocommands have run since
  if problem then
    return nil, problem
  end
  read_into(bufnr)
  return bufnr
end

---The buffer of a file that the user wants to see. When there is none, says why.
---@param path string absolute
---@return integer? bufnr loaded and listed
function M.get(path)
  local bufnr, problem = lookup.find(path), nil
  if bufnr then
    return bufnr
  end
  bufnr, problem = M.load(path, OPEN_BYTES)
  if not bufnr then
    message.info(problem --[[@as string]])
    return nil
  end
  vim.bo[bufnr].buflisted = true
  return bufnr
end

return M

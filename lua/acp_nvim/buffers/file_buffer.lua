-- Reads files, and loads them into buffers. No other module does, since agents name and create these files.
--
-- Neovim would hang on a FIFO without a writer or on an endless device, so only regular files of a bounded size are
-- opened, and none that Neovim would have a program unpack. A file that is replaced between the check and Neovim's own
-- read goes unnoticed: Neovim cannot load a buffer from an open descriptor.
local companions = require("acp_nvim.buffers.companions")
local handled = require("acp_nvim.buffers.handled")
local lookup = require("acp_nvim.buffers.lookup")
local message = require("acp_nvim.kernel.message")
local names = require("acp_nvim.names")
local swap = require("acp_nvim.buffers.swap")

local M = {}

local OPEN_BYTES = 64 * 1024 * 1024 -- of a file opened from the chat or the review: read within a second
local COMPANION_BYTES = 16 * 1024 * 1024 -- of an undo file, or a file with settings

local api, uv = vim.api, vim.uv

---Flags for `uv.fs_open`: do not wait for the writer of a FIFO.
M.READ = bit.bor(uv.constants.O_RDONLY, uv.constants.O_NONBLOCK or 0)

local KINDS = {
  directory = "is a directory",
  fifo = "is a FIFO, not a regular file",
  socket = "is a socket, not a regular file",
  char = "is a device, not a regular file",
  block = "is a device, not a regular file",
}

---Kernel files claim to be regular but may block when read. /dev/stdin and /dev/fd/0 lead to Neovim's own descriptors.
local function is_of_system(path)
  return vim.startswith(path, "/proc/")
    or vim.startswith(path, "/sys/")
    or vim.startswith(path, "/dev/") and not vim.startswith(path, "/dev/shm/")
end

---@param path string absolute
---@param bytes integer maximum size of the file
---@return string? words reason for refusal, beginning with the path; nil: the file may be opened
local function refusal(path, bytes)
  local stat = path:sub(1, 1) == "/" and uv.fs_stat(path) -- Neovim takes other names for URLs
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

---Autocommands of Neovim that run a program when a file is read, and wait for it: group and event.
local UNPACKERS = { "gzip#BufReadPost", "tar#BufReadCmd", "zip#BufReadCmd" }

---@param path string
---@return string? words reason for refusal: a file of a few kB may hold many GB; nil: Neovim reads it as it is
local function packed(path)
  for _, ending in ipairs({ path:match("%.%w+$") or "", path:match("%.%w+%.%w+$") or "" }) do
    for _, unpacker in ipairs(ending ~= "" and UNPACKERS or {}) do
      local pattern = ("#%s#*%s"):format(unpacker, vim.o.fileignorecase and ending:lower() or ending)
      if vim.fn.exists(pattern) == 1 then
        return path .. " is packed, and Neovim would wait for the program that unpacks it: :edit does that"
      end
    end
  end
end

---@param path string
---@return string? words reason for refusal: Neovim would read another file, too, and wait for it
local function accompanied(path)
  for _, other in ipairs(companions.of(path)) do
    local stat = uv.fs_stat(other)
    local why = stat and stat.type ~= "directory" and refusal(other, COMPANION_BYTES)
    if why then
      return ("%s cannot be opened, since Neovim would read another file, too: %s"):format(path, why)
    end
  end
end

---@param path string
---@param bytes integer maximum size of the file
---@return string? words reason why Neovim does not load it
local function load_refusal(path, bytes)
  return refusal(path, bytes) or packed(path) or accompanied(path)
end

---@param path string
---@return boolean to read it as a whole, as Neovim does with some files that it is told of, might not end
function M.would_block(path)
  local stat = uv.fs_stat(path)
  return stat ~= nil and stat.type ~= "directory" and load_refusal(path, OPEN_BYTES) ~= nil
end

---Reads the beginning of a regular file.
---@param path string absolute
---@param most integer bytes to read
---@param largest? integer maximum size of the file in bytes; nil: any
---@return string? data nil when the file cannot or should not be read
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

---Reads the file without messages and without swap file prompts.
local function read_into(bufnr)
  local before = vim.o.shortmess
  vim.cmd("noautocmd set shortmess+=AF")
  local ok, err = pcall(names.with_safe_detection, function()
    vim.cmd(("silent keepjumps call bufload(%d)"):format(bufnr))
  end)
  vim.cmd(("noautocmd let &shortmess = %s"):format(vim.fn.string(before)))
  if not ok and not api.nvim_buf_is_loaded(bufnr) then
    error(err, 0)
  end
end

---@param path string absolute
---@param bytes integer maximum size of the file
---@return integer? bufnr loaded; unlisted if it is new
---@return string? problem
local function load(path, bytes)
  local problem = load_refusal(path, bytes)
  if problem then
    return nil, problem
  end
  local bufnr = vim.fn.bufadd(names.of_buffer(path))
  problem = load_refusal(path, bytes) or swap.obstacle(path) -- autocommands have run since
  if problem then
    return nil, problem
  end
  read_into(bufnr)
  return bufnr
end

---Loads a file that the user did not ask for. Files that another plugin reads, perhaps by a program, are refused.
---@param path string absolute
---@param bytes integer maximum size of the file
---@return integer? bufnr loaded; unlisted if it is new
---@return string? problem
function M.load(path, bytes)
  if handled.is_read_by_others(path) then
    return nil, path .. " is read by another plugin of Neovim, perhaps with a program: only the user may open it"
  end
  return load(path, bytes)
end

---Returns the buffer of a file that the user wants to see, or shows why there is none.
---@param path string absolute
---@return integer? bufnr loaded and listed
function M.get(path)
  local bufnr, problem = lookup.find(path), nil
  if bufnr then
    return bufnr
  end
  bufnr, problem = load(path, OPEN_BYTES)
  if not bufnr then
    message.info(problem --[[@as string]])
    return nil
  end
  vim.bo[bufnr].buflisted = true
  return bufnr
end

return M

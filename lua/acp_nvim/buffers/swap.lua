-- Detects other users of a file by swap files: a running Neovim, or one that died with unsaved text.
--
-- Neovim's functions that find files by a pattern run commands in names (`names.lua`), and listing a directory of
-- 100,000 files takes 0.1 s. The names that Neovim gives to swap files are few, so each is looked up.
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

local NAME_BYTES = 250 -- of a swap file's name without its suffix; Neovim cuts longer names

---@param text string value of 'directory' or 'undodir'
---@return string[] entries, as Neovim reads them
function M.directories(text)
  local out = {}
  while text ~= "" do
    local entry, at = "", 1
    while at <= #text and text:sub(at, at) ~= "," do
      at = text:sub(at, at + 1) == "\\," and at + 1 or at
      entry, at = entry .. text:sub(at, at), at + 1
    end
    out[#out + 1] = entry
    text = text:sub(at + 1):gsub("^ +", "")
  end
  return out
end

---@param directory string an entry of 'directory'
---@param path string real path
---@return string path of the swap file without its suffix
local function stem(directory, path)
  local folder, name = vim.fs.dirname(path), vim.fs.basename(path)
  if #directory > 1 and vim.endswith(directory, "//") then
    folder, name = directory:sub(1, -2), path:gsub("/", "%%")
  elseif vim.startswith(directory, "./") then
    folder = vim.fs.joinpath(folder, directory:sub(3))
  elseif directory ~= "." then
    folder = directory
  end
  name = name:sub(1, NAME_BYTES)
  if directory == "." and not vim.startswith(name, ".") then
    name = "." .. name
  end
  return (folder == "" or vim.endswith(folder, "/")) and folder .. name or folder .. "/" .. name
end

---Looks for swap files as Neovim names them: `.swp`, `.swo` to `.swa`, `.svz`, and so on, each when it finds the ones
---before. They may end in any order; but that the first 16 are gone, while a later one stays, is not looked for.
---@param start string path without its suffix
---@param found string[] gets the paths
local function add_existing(start, found)
  local last = "p"
  for second = ("w"):byte(), ("a"):byte(), -1 do
    local before = #found
    for third = last:byte(), ("a"):byte(), -1 do
      local path = ("%s.s%c%c"):format(start, second, third)
      if vim.uv.fs_lstat(path) then
        found[#found + 1] = path
      end
    end
    if #found == before then
      return
    end
    last = "z"
  end
end

---@param path string absolute
---@return string[] paths of its swap files
local function swap_files(path)
  local found = {}
  for _, directory in ipairs(M.directories(vim.o.directory)) do
    add_existing(stem(directory, lookup.real(path)), found)
  end
  return found
end

---@param files string[] swap files of the path
---@return string? problem nil when Neovim can read the swap files
local function unreadable(files, path)
  for _, swap in ipairs(files) do
    local stat = vim.uv.fs_stat(swap)
    if stat and stat.type ~= "file" then
      return ("%s is no swap file, but has the name of a swap file of %s: remove it"):format(swap, path)
    end
  end
end

---Checks for swap files that are not regular files: reading a FIFO would block.
---@param path string absolute
---@return string? problem nil when Neovim can read the swap files
function M.obstacle(path)
  return unreadable(swap_files(path), path)
end

---@param path string real path
---@param own? string path of our own swap file
---@return string? problem the other user of the file
function M.foreign(path, own)
  local files = swap_files(path)
  local obstacle = unreadable(files, path)
  if obstacle then
    return obstacle
  end
  for _, swap in ipairs(files) do
    local info = (not own or vim.uv.fs_realpath(swap) ~= vim.uv.fs_realpath(own)) and vim.fn.swapinfo(swap) or {}
    local is_here = info.host == vim.uv.os_gethostname()
    if is_here and info.pid == vim.fn.getpid() then
      info = {}
    end
    if info.pid and info.pid > 0 and (not is_here or select(3, vim.uv.kill(info.pid, 0)) ~= "ESRCH") then
      return ("another Neovim (process %d) has the file open"):format(info.pid)
    elseif info.dirty == 1 then
      local words = "a Neovim that crashed left unsaved changes in the swap file %s: recover or delete it first"
      return words:format(swap)
    end
  end
end

return M

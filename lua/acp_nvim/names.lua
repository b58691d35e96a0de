-- Shows names of files, and calls those functions of Neovim that expand a name: wildcards, `$VAR`, `%`, and commands
-- between backticks, which Neovim runs. Agents choose names, so no other module may call them: what is expanded here
-- was configured by the user, or is a path of the plugin itself. What was typed is not: completion of names inserts
-- those of a project, and Neovim has expanded the arguments of commands that complete files.
local M = {}

local EXACT = { file = false, bar = false } -- `magic` of a command whose argument is not expanded

---@type { home?: string, real?: string } the home directory, and its real path: reading the latter may block
local home = {}

---@return string[] paths of the home directory
local function homes()
  local now = vim.uv.os_homedir() or ""
  if home.home ~= now then
    home = { home = now, real = now ~= "" and vim.uv.fs_realpath(now) or now }
  end
  return { home.home, home.real }
end

---@param path string absolute
---@return string path that begins with `~` if it is in the home directory
function M.below_home(path)
  for _, directory in ipairs(homes()) do
    if #directory > 1 and (path == directory or vim.startswith(path, directory .. "/")) then
      return "~" .. path:sub(#directory + 1)
    end
  end
  return path
end

---@param path string absolute
---@return string path relative to the working directory or to `~`, if it is below one of them
function M.short(path)
  local directory = vim.fn.getcwd()
  directory = vim.endswith(directory, "/") and directory or directory .. "/"
  if #path > #directory and vim.startswith(path, directory) then
    return path:sub(#directory + 1)
  end
  return M.below_home(path)
end

---@param path string absolute
---@return string? name relative to the working directory, unless that looks like an address or begins with `~`
local function name_below(path)
  local directory = vim.fn.getcwd() .. "/"
  local below = #directory > 1 and vim.startswith(path, directory) and path:sub(#directory + 1) or ""
  return below ~= "" and not below:find("^[/~]") and not below:find(":[/\\]") and below or nil
end

---Returns the name of a new buffer: status lines show it as it was given. Agents may name a directory by a link to it,
---while the working directory has no links.
---@param path string absolute
---@return string name relative to the working directory, if the file is below it
function M.of_buffer(path)
  local name = name_below(path)
  local directory = not name and vim.uv.fs_realpath(vim.fs.dirname(path))
  return name or directory and name_below(vim.fs.joinpath(directory, vim.fs.basename(path))) or path
end

---@param path string as someone writes it
---@return string path with the home directory in place of a leading `~/`; nothing else is expanded
function M.from_home(path)
  local is_below = path == "~" or vim.startswith(path, "~/")
  return is_below and (vim.uv.os_homedir() or "~") .. path:sub(2) or path
end

---@param path string absolute, or relative to the home directory: `~/x`
---@return string normalized path without `.`, `..` and repeated slashes; variables are not expanded
function M.normalized(path)
  path = M.from_home(path)
  return vim.startswith(path, "~") and path or vim.fs.normalize(path, { expand_env = false })
end

---@param path string value of an option of the user
---@return string normalized path, with `~` and variables expanded
function M.configured(path)
  return vim.fs.normalize(path)
end

---@param name string value of an option of the user: the name or the path of a program
---@return string? path absolute; nil: there is no such program
function M.program(name)
  local ok, path = pcall(vim.fn.exepath, M.configured(name)) -- an error: the name is empty, or has a NUL
  return ok and path ~= "" and path or nil
end

---@param text string value of an option of the user: not what was typed, which completion may have taken from a project
---@return string path with everything expanded
function M.expanded(text)
  return vim.fn.expand(text)
end

---@param text string that the user typed
---@return string absolute path with `~` expanded
function M.absolute(text)
  return vim.fn.fnamemodify(text, ":p")
end

---Completes a directory, without |getcompletion()|, which expands what completion has inserted before.
---@param lead string that the user typed
---@return string[] directories that begin with it
function M.complete_directory(lead)
  local parent, prefix = lead:match("^(.*/)([^/]*)$")
  parent, prefix = parent or "", prefix or lead
  local place = parent == "" and "./" or M.from_home(parent)
  local entries, found = vim.uv.fs_scandir(place), {}
  local name = entries and vim.uv.fs_scandir_next(entries)
  while name do
    local is_meant = vim.startswith(name, prefix) and (vim.startswith(prefix, ".") or not vim.startswith(name, "."))
    local stat = is_meant and vim.uv.fs_stat(place .. name)
    if stat and stat.type == "directory" then
      found[#found + 1] = parent .. name .. "/"
    end
    name = vim.uv.fs_scandir_next(entries)
  end
  table.sort(found)
  return found
end

---Neovim expands some of the names by which it looks for a filetype.
---@param name string
---@return string name without anything that could be expanded
local function unexpandable(name)
  return (name:gsub("[`$*?{%[]", "_"))
end

---@param path string absolute, or a name
---@param bufnr? integer whose text may decide, too
---@return string? filetype
function M.filetype(path, bufnr)
  return (vim.filetype.match({ filename = unexpandable(path), buf = bufnr }))
end

---Runs a function that loads buffers: Neovim's own detection of filetypes gets safe names, too. Raises its errors.
---@param run fun()
function M.with_safe_detection(run)
  local match = vim.filetype.match
  vim.filetype.match = function(args) ---@diagnostic disable-line: duplicate-set-field
    local name = args.filename or (args.buf and vim.api.nvim_buf_get_name(args.buf))
    return match(name and vim.tbl_extend("force", args, { filename = unexpandable(name) }) or args)
  end
  local ok, err = pcall(run)
  vim.filetype.match = match
  if not ok then
    error(err, 0)
  end
end

---@return integer bufnr the alternate buffer; -1: none
function M.alternate_buffer()
  return vim.fn.bufnr("#")
end

---Sets the working directory.
---@param command "cd"|"tcd"
---@param directory string absolute
function M.set_directory(command, directory)
  vim.api.nvim_cmd({ cmd = command, args = { directory }, magic = EXACT }, {})
end

---Shows a file of the plugin in the current window, not to be changed.
---@param path string absolute
function M.view(path)
  vim.api.nvim_cmd({ cmd = "view", args = { path }, magic = EXACT, mods = { silent = true } }, {})
end

---@param file string path of the undo file of the buffer
function M.write_undo(bufnr, file)
  pcall(vim.api.nvim_buf_call, bufnr, function()
    vim.api.nvim_cmd({ cmd = "wundo", args = { file }, bang = true, magic = EXACT, mods = { silent = true } }, {})
  end)
end

---Generates the tags of a directory with help files.
---@param directory string of the plugin
function M.make_helptags(directory)
  vim.cmd.helptags(vim.fn.fnameescape(directory)) -- :helptags itself expands wildcards
end

return M

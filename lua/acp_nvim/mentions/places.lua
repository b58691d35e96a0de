-- Resolves the path of a mention and completes it, without blocking on the disk.
local code = require("acp_nvim.mentions.code")
local limits = require("acp_nvim.limits")
local lookup = require("acp_nvim.buffers.lookup")
local names = require("acp_nvim.names")

local M = {}

local api = vim.api

---@param text string as typed
---@return string absolute
function M.absolute(text, cwd)
  text = names.from_home(text)
  if not text:match("^/") and not text:match("^%a:[/\\]") then
    text = cwd .. "/" .. text
  end
  return names.normalized(text)
end

---@param path string absolute
---@return integer? bufnr loaded, with that name or file
local function buffer_of(path, real)
  for _, bufnr in ipairs(api.nvim_list_bufs()) do
    if lookup.is_file(bufnr) then
      local name = api.nvim_buf_get_name(bufnr)
      if name == path or real and lookup.real_path(bufnr) == real then
        return bufnr
      end
    end
  end
end

---@class acp.MentionPlace
---@field path string absolute
---@field kind "file"|"directory"|"other"
---@field bufnr? integer loaded
---@field real? string real path; nil: not on disk

---@param text string as typed
---@param done fun(place?: acp.MentionPlace) called once, not in a fast event; nil: nothing has that path
function M.find(text, cwd, done)
  local path = M.absolute(text, cwd)
  vim.uv.fs_stat(path, function(_, stat)
    if not stat then
      vim.schedule(function()
        local bufnr = buffer_of(path)
        done(bufnr and { path = path, kind = "file", bufnr = bufnr } or nil)
      end)
      return
    end
    vim.uv.fs_realpath(path, function(_, real)
      vim.schedule(function()
        local kind = ({ file = "file", directory = "directory" })[stat.type] or "other"
        done({ path = path, kind = kind, real = real, bufnr = kind == "file" and buffer_of(path, real) or nil })
      end)
    end)
  end)
end

---@param cwd string of the session
---@return string[] directories that a relative path may be meant from: the session's, then those of the windows
local function bases(cwd)
  local found, win = { cwd }, code.window()
  for _, directory in ipairs({ vim.fn.getcwd(), win and vim.fn.getcwd(win) or nil }) do
    if not vim.list_contains(found, directory) then
      found[#found + 1] = directory
    end
  end
  return found
end

---@param text string as typed
---@return string? name absolute, of the loaded buffer used last whose path ends so
local function buffer_named(text)
  local tail = "/" .. text:gsub("^%./", "")
  for _, bufnr in ipairs(code.buffers()) do
    local name = api.nvim_buf_get_name(bufnr)
    if vim.startswith(name, "/") and vim.endswith(name, tail) then
      return name
    end
  end
end

---As `find`, but a relative path may also be one from the directory of a window, or the end of that of a loaded buffer.
---@param text string as typed
---@param done fun(place?: acp.MentionPlace) called once, not in a fast event; nil: nothing has that path
function M.find_around(text, cwd, done)
  local directories = text:match("^~?/") and { cwd } or bases(cwd)
  local function try(index)
    M.find(text, directories[index], function(place)
      local name = not place and index == #directories and not text:match("^~?/") and buffer_named(text) or nil
      if name then
        M.find(name, cwd, done)
      elseif place or index == #directories then
        done(place)
      else
        try(index + 1)
      end
    end)
  end
  try(1)
end

---@return boolean the path may lead out of the session's directory
function M.is_outside(typed)
  return typed:match("^~?/") ~= nil or typed:match("^%.%./") ~= nil
end

---Lists the completions of a typed path.
---@param typed string path with a slash
---@param done fun(paths: string[], all: boolean) called once, not in a fast event, with paths in the style of `typed`
function M.list(typed, cwd, done)
  local directory, begin = typed:match("^(.*/)(.*)$")
  vim.uv.fs_scandir(M.absolute(directory, cwd), function(_, handle)
    local out, all = {}, true
    while handle do
      local name, kind = vim.uv.fs_scandir_next(handle)
      if not name then
        break
      elseif vim.startswith(name:lower(), begin:lower()) and (begin ~= "" or name:sub(1, 1) ~= ".") then
        all = #out < limits.completions
        if not all then
          break
        elseif not name:find("%c") then
          table.insert(out, directory .. name .. (kind == "directory" and "/" or ""))
        end
      end
    end
    vim.schedule(function()
      table.sort(out)
      done(out, all)
    end)
  end)
end

return M

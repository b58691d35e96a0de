-- Resolves the path of a mention and completes it, without blocking on the disk.
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

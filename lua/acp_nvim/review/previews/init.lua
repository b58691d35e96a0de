-- Keeps the changes of files that waiting permission requests ask for, as the host sends them.
local host = require("acp_nvim.host")

local M = {}

---@type table<integer, acp.Preview[]> by request, each in the order of its files
local by_request = {}
---@type fun(request: integer, is_allowed?: boolean)[]
local listeners = {}

---@param listener fun(request: integer, is_allowed?: boolean) called after the previews of that request have changed
function M.on_change(listener)
  listeners[#listeners + 1] = listener
end

---Notifies the listeners of a change in the previews of a request.
---@param request integer
---@param is_allowed? boolean the request is closed, and the agent may do what it has asked for
function M.changed(request, is_allowed)
  for _, listener in ipairs(listeners) do
    listener(request, is_allowed)
  end
end

---@return string path of the file whose lines would change
function M.place(preview)
  return preview.old_path or preview.path
end

---@param list acp.Preview[]
---@return integer?
local function index_of(list, path)
  for index, preview in ipairs(list) do
    if preview.path == path then
      return index
    end
  end
end

---Adds or replaces a preview; the operation `none` removes it.
function M.set(preview)
  local list = by_request[preview.request] or {}
  local index = index_of(list, preview.path)
  if preview.operation ~= "none" then
    list[index or #list + 1] = preview
  elseif index then
    table.remove(list, index)
  end
  by_request[preview.request] = #list > 0 and list or nil
  M.changed(preview.request)
end

---@param request integer that is closed
---@param is_allowed? boolean
function M.done(request, is_allowed)
  if by_request[request] then
    by_request[request] = nil
    M.changed(request, is_allowed)
  end
end

---@return acp.Preview[]
function M.of_request(request)
  return by_request[request] or {}
end

---@return acp.Preview?
function M.find(request, path)
  local list = M.of_request(request)
  return list[index_of(list, path)]
end

---@return integer[] requests that have any, oldest first
function M.requests()
  local requests = vim.tbl_keys(by_request)
  table.sort(requests)
  return requests
end

---@return acp.Preview[] oldest requests first
function M.all()
  local all = {}
  for _, request in ipairs(M.requests()) do
    vim.list_extend(all, by_request[request])
  end
  return all
end

host.on_exit(function()
  for _, request in ipairs(M.requests()) do
    M.done(request)
  end
end)

return M

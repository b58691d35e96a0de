-- Finds the paths that somebody means by a few letters.
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.prompt.complete.slices")

local M = {}

local MATCH_GROUP = 2000 -- paths of one rank that are sorted: beyond that they all look alike
local STEP = 200 -- paths that are looked at without a pause: 0.1 ms

---@param query string in lower case
---@return string[] its characters
local function characters(query)
  local out = {}
  for char in query:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    out[#out + 1] = char
  end
  return out
end

---@param path string
---@param letters string[]
---@return boolean they come in this order
local function in_order(path, letters)
  local at = 0
  for index = 1, #letters do
    local _, last = path:find(letters[index], at + 1, true)
    if not last then
      return false
    end
    at = last
  end
  return true
end

---How well a path fits: 1 its name begins so, 2 its name has it, 3 the path has it, 4 its letters come in this order.
---@param path string in lower case
---@param query string in lower case
---@param letters string[] its characters
---@return integer? nil: it does not fit
local function rank(path, query, letters)
  local at = path:find(query, 1, true)
  if not at then
    return in_order(path, letters) and 4 or nil
  elseif at == 1 then
    return 1
  end
  local name = path:match("^.*()/.") or 0
  if path:sub(name + 1, name + #query) == query then
    return 1
  end
  return path:find(query, name + 1, true) and 2 or 3
end

---@type { number: integer, query: string, indexes: integer[] }? of the last search, for a longer query
local last

---@class acp.Search
---@field list acp.FileList
---@field query string in lower case
---@field letters string[]
---@field from? integer[] indexes to look at; nil: all
---@field at integer
---@field ranks table<integer, integer[]> indexes by rank
---@field indexes integer[] all that fit
---@field stopped? boolean

---@param search acp.Search
---@return string[] paths the best first
---@return boolean all
local function best(search)
  local out, paths = {}, search.list.paths
  for _, indexes in ipairs(search.ranks) do
    local group = {}
    for _, index in ipairs(indexes) do
      group[#group + 1] = paths[index]
    end
    table.sort(group, function(a, b)
      return #a == #b and a < b or #a < #b
    end)
    vim.list_extend(out, group, 1, limits.completions - #out)
    if #out == limits.completions then
      break
    end
  end
  return out, #out == #search.indexes and search.list.whole
end

---@param search acp.Search
---@return boolean all were looked at
local function go_on(search)
  local lower, count = search.list.lower, search.from and #search.from or #search.list.lower
  for at = search.at, math.min(search.at + STEP - 1, count) do
    local index = search.from and search.from[at] or at
    local found = rank(lower[index], search.query, search.letters)
    if found then
      search.indexes[#search.indexes + 1] = index
      local group = search.ranks[found]
      if #group < MATCH_GROUP then
        group[#group + 1] = index
      end
    end
  end
  search.at = search.at + STEP
  return search.at > count
end

---@param list acp.FileList
---@param query string
---@param done fun(paths: string[], all: boolean) the best ones; `all`: no other fits; called once unless it is stopped
---@return fun() stop
function M.start(list, query, done)
  query = query:lower()
  local goes_on = last and last.number == list.number and vim.startswith(query, last.query)
  local from = goes_on and last.indexes or nil
  local search = { list = list, query = query, letters = characters(query), from = from, at = 1, indexes = {} }
  search.ranks = { {}, {}, {}, {} }
  slices.run(function()
    if search.stopped then
      return true
    elseif not go_on(search) then
      return false
    end
    if list.whole then
      last = { number = list.number, query = query, indexes = search.indexes }
    end
    done(best(search))
    return true
  end)
  return function()
    search.stopped = true
  end
end

return M

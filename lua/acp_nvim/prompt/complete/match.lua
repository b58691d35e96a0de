-- Fuzzy search for paths.
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.kernel.slices")

local M = {}

local MATCH_GROUP = 2000 -- paths of one rank that are sorted: more of them would not be told apart
local STEP = 200 -- paths that are compared without a pause: 0.1 ms

---@param query string
---@return string[] its characters
local function characters(query)
  local out = {}
  for char in query:gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    out[#out + 1] = char
  end
  return out
end

---@return boolean the path has the letters in this order
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

---Ranks a match: 1 prefix of the name or path, 2 in the name, 3 in the path, 4 letters in order.
---@param path string in lower case
---@param query string in lower case
---@param letters string[] characters of `query`
---@return integer? nil: no match
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

---@type { number: integer, query: string, indexes: integer[] }? result of the last search, to be narrowed
local last

---@param ranks table<integer, integer[]> matching indexes by rank
---@return string[] paths the best matches first
local function best(ranks, paths)
  local out = {}
  for _, indexes in ipairs(ranks) do
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
  return out
end

---@param list acp.FileList
---@param query string
---@param done fun(paths: string[], all: boolean) called once, unless stopped; `all`: there are no other matches
---@return fun() stop
function M.start(list, query, done)
  query = query:lower()
  local letters, ranks, indexes, at, stopped = characters(query), { {}, {}, {}, {} }, {}, 1, false
  local is_narrower = last and last.number == list.number and vim.startswith(query, last.query)
  local from = is_narrower and last.indexes or nil

  ---@return boolean all paths were compared
  local function match_some()
    local lower, count = list.lower, from and #from or #list.lower -- the list may still grow
    for position = at, math.min(at + STEP - 1, count) do
      local index = from and from[position] or position
      local found = rank(lower[index], query, letters)
      if found then
        indexes[#indexes + 1] = index
        local group = ranks[found]
        if #group < MATCH_GROUP then
          group[#group + 1] = index
        end
      end
    end
    at = at + STEP
    return at > count
  end

  slices.run(function()
    if stopped then
      return true
    elseif not match_some() then
      return false
    end
    if list.whole then
      last = { number = list.number, query = query, indexes = indexes }
    end
    local paths = best(ranks, list.paths)
    done(paths, #paths == #indexes and list.whole)
    return true
  end)
  return function()
    stopped = true
  end
end

return M

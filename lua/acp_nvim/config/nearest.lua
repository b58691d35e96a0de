-- Finds the word somebody probably meant.

---@param a string
---@param b string
---@return integer edit distance
local function distance(a, b)
  local row = {}
  for j = 0, #b do
    row[j] = j
  end
  for i = 1, #a do
    local diagonal = row[0]
    row[0] = i
    for j = 1, #b do
      local same = a:byte(i) == b:byte(j)
      local best = math.min(row[j] + 1, row[j - 1] + 1, diagonal + (same and 0 or 1))
      diagonal, row[j] = row[j], best
    end
  end
  return row[#b]
end

---@param word string
---@param known string[]
---@return string? nearest nil when nothing is near
return function(word, known)
  local best, least
  for _, candidate in ipairs(known) do
    local far = distance(word:lower(), candidate:lower())
    if not least or far < least then
      best, least = candidate, far
    end
  end
  if least and least <= math.max(2, math.floor(#word / 2)) then
    return best
  end
end

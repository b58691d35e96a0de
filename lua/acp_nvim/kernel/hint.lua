-- Suggests the known word that is nearest to an unknown one.

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

---@param written any
---@param known string[]
---@return string "; did you mean …?" to continue a sentence; empty when no word is near
return function(written, known)
  local word, best, least = tostring(written), nil, math.huge
  for _, candidate in ipairs(known) do
    local far = distance(word:lower(), candidate:lower())
    if far < least then
      best, least = candidate, far
    end
  end
  return least <= math.max(2, math.floor(#word / 2)) and ("; did you mean %q?"):format(best) or ""
end

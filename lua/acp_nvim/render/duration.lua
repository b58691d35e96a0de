-- Formats how long something took.

---@param seconds number
---@return string
return function(seconds)
  if seconds < 60 then
    return ("%.1f s"):format(seconds)
  elseif seconds < 3600 then
    return ("%d min %d s"):format(seconds / 60, seconds % 60)
  end
  return ("%d h %d min"):format(seconds / 3600, seconds % 3600 / 60)
end

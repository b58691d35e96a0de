-- Words for who has written something else than is known.
local nearest = require("acp_nvim.config.nearest")

---@param word any
---@param known string[]
---@return string that goes on a sentence; empty when nothing is near
return function(word, known)
  local near = nearest(tostring(word), known)
  return near and ("; did you mean %q?"):format(near) or ""
end

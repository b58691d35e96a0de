-- Says whether a secret may be in a text: then the host masks it before it is written down.
local M = {}

-- What stands in or before secrets, in lower case: the host's acp_nvim/traffic/shapes.py has them, and says what is one.
M.FRONTS = {
  "token",
  "secret",
  "passw",
  "passphrase",
  "passcode",
  "apikey",
  "api-key",
  "accesskey",
  "credential",
  "_key",
  "_pat",
  "_pass",
  "_pwd",
  "bearer",
  "authorization",
  "cookie",
  "://",
  "-----begin",
  "sk-",
  "k_live_",
  "k_test_",
  "ghp_",
  "gho_",
  "ghu_",
  "ghs_",
  "ghr_",
  "github_pat_",
  "glpat-",
  "aiza",
  "ya29.",
  "akia",
  "asia",
  "xox",
  "hf_",
  "npm_",
  "eyj",
}
local KNOWN_BYTES = 7 -- the shortest word that the user can have entered as a secret (the host's ENTERED_SECRET_CHARS)

---@param text string
---@return boolean
function M.may_be_in(text)
  local lowered = text:lower()
  for _, front in ipairs(M.FRONTS) do
    if lowered:find(front, 1, true) then
      return true
    end
  end
  for word in text:gmatch("%S+") do -- the host knows secrets that were entered or configured, which look like nothing
    if #word >= KNOWN_BYTES and word:find("%d") and word:find("%a") then
      return true
    end
  end
  return false
end

return M

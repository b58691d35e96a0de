-- The log file and the recordings: where they are, and the few lines that Lua itself adds to it.
local M = {}

---@return string
function M.path()
  return vim.fn.stdpath("log") .. "/acp_nvim.log"
end

---@return string directory of the recordings (`log.traffic`)
function M.traffic()
  return vim.fn.stdpath("log") .. "/acp_nvim/traffic"
end

---@param text string
function M.write(text)
  pcall(vim.fn.mkdir, vim.fs.dirname(M.path()), "p")
  local file = io.open(M.path(), "a")
  if file then
    file:write(os.date("!%Y-%m-%dT%H:%M:%SZ"), " lua ", text, "\n")
    file:close()
  end
end

return M

-- What stands around a request that is read page by page: how much was on the screen, and what the keys do.
local answer_keys = require("acp_nvim.chat.answer_keys")
local config = require("acp_nvim.config")

local M = {}

---@param is_whole boolean all of the request has been on the screen
---@param key string that allows
---@param page integer
---@param pages integer
---@param columns integer there is room for
---@return string
function M.of(is_whole, key, page, pages, columns)
  local before, after = " All of it has been on the screen: ", ("press %s to allow "):format(key)
  if not is_whole then
    before = " Not all of it has been on the screen: "
    after = ("press %s again to see the rest (%d/%d) "):format(key, math.min(page + 1, pages), pages)
  end
  local fits = vim.fn.strdisplaywidth(before .. after) <= columns
  return (fits and before or " ") .. after
end

---@param request acp.Request
---@return string
function M.other_keys(request)
  local reject = answer_keys.first_of(request, "reject_once") and config.keys("reject_once")[1]
  local close = config.keys("close")[1]
  return (reject and (" · %s reject"):format(reject) or "") .. (close and (" · %s back"):format(close) or "")
end

return M

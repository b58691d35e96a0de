-- Says what a prompt's window says about keys: which send, in the present mode, and which answer while the agent asks.
local config = require("acp_nvim.config")

local M = {}

local api = vim.api
local SEND = "<Plug>(AcpSend)" -- when no key is left

---@return boolean the user types in this buffer
function M.is_typing(bufnr)
  local win = tonumber(vim.g.actual_curwin) or api.nvim_get_current_win() -- 'winbar' is evaluated in its own window
  return api.nvim_win_is_valid(win)
    and api.nvim_win_get_buf(win) == bufnr
    and api.nvim_get_mode().mode:find("^[iR]") ~= nil
end

---@param is_typing? boolean in Insert mode
---@return string key that sends
function M.send(is_typing)
  local normal, both = config.keys("send")[1], config.keys("send_insert")[1]
  if is_typing then
    return both or normal and "<Esc>" .. normal or SEND
  end
  return normal or both or SEND
end

---@param bufnr integer of a prompt
---@return string what an empty prompt says
function M.placeholder(session, bufnr)
  local is_typing = M.is_typing(bufnr)
  local words = ("Ask %s … ("):format(session.agent or "the agent")
  if is_typing then
    return ("%s%s sends)"):format(words, M.send(true))
  end
  return ("%si: type, %s: keys)"):format(words, config.keys("help")[1] or ":help acp_nvim-keys")
end

---@param win integer of the prompt
---@return string? way to the chat, "" in it; nil: the chat is not in this tab page
local function way_to_chat(session, win)
  local chat = session.bufnr and vim.fn.bufwinid(session.bufnr) or -1
  if chat == -1 then
    return nil
  elseif chat == (tonumber(vim.g.actual_curwin) or api.nvim_get_current_win()) then
    return ""
  end
  local at, from = api.nvim_win_get_position(chat), api.nvim_win_get_position(win)
  if at[2] ~= from[2] or at[1] >= from[1] then
    return "in the chat"
  end
  return (M.is_typing(api.nvim_win_get_buf(win)) and "<Esc>" or "") .. "<C-w>k"
end

---@param win integer of the prompt
---@return string? long what to do while the agent waits for the user
---@return string? short
function M.answer(session, win)
  local status = session.status
  if (status.pending_permissions or 0) == 0 then
    local asks = (status.pending_elicitations or 0) > 0
    return asks and "a question waits: :AcpForms" or nil, asks and "question: :AcpForms" or nil
  end
  local way = way_to_chat(session, win)
  local allow, reject = config.keys("allow_once")[1], config.keys("reject_once")[1]
  if not way or not allow or not reject then
    return "a permission waits: :AcpPermissions", ":AcpPermissions answers"
  end
  local keys = ("%s allows, %s rejects"):format(allow, reject)
  if way == "" then
    return "a permission waits: " .. keys, keys
  end
  return ("a permission waits: %s, then %s"):format(way, keys), ("%s: %s"):format(way, keys)
end

return M

-- How many lines the prompt wants: those of the options at least, and what its text takes.
local config = require("acp_nvim.config")

local M = {}

local api = vim.api

---@param win integer of the prompt
---@param most integer lines
---@return integer lines, with those of its 'winbar'
function M.wanted(win, most)
  local least = math.max(1, math.floor(config.get().ui.prompt_height), vim.w[win].acp_nvim_least or 0)
  if least >= most then
    return math.max(1, most)
  end
  local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  local bar = api.nvim_win_get_height(win) - vim.fn.getwininfo(win)[1].height
  if count + bar >= most then -- counting further would change nothing, and takes its time
    return most
  end
  return math.min(math.max(least, api.nvim_win_text_height(win, {}).all + bar), most)
end

---What it has got; the user may give it more, and then it does not get less.
---@param win integer
---@param lines? integer nil: whatever it has now
function M.set(win, lines)
  local has = api.nvim_win_get_height(win)
  if lines then
    vim.w[win].acp_nvim_lines = lines
    if has ~= lines then
      api.nvim_win_set_height(win, lines)
    end
  elseif vim.w[win].acp_nvim_lines and has ~= vim.w[win].acp_nvim_lines then
    vim.w[win].acp_nvim_least = has
  end
end

return M

-- Wraps very long lines anywhere: to look for the words in them would take Neovim many times as long, at each redraw.
local M = {}

local api = vim.api

---@param transcript acp.Transcript with a line that is longer than people read
function M.wrap(transcript)
  for _, win in ipairs(vim.fn.win_findbuf(transcript.bufnr)) do
    if api.nvim_get_option_value("linebreak", { win = win }) then
      api.nvim_set_option_value("linebreak", false, { win = win, scope = "local" })
    end
  end
end

return M

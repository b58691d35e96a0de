-- Marks the buffer of a chat as busy while a turn runs there ('busy', since Neovim 0.12): status lines show it.
local HAS_OPTION = vim.fn.exists("&busy") == 1

---@param session acp.Session
return function(session)
  local bufnr = session.bufnr
  local wanted = session.open_turn and 1 or 0
  if HAS_OPTION and bufnr and vim.api.nvim_buf_is_loaded(bufnr) and vim.bo[bufnr].busy ~= wanted then
    vim.bo[bufnr].busy = wanted
  end
end

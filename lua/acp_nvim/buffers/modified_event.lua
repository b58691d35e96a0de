-- Tells when 'modified' of a buffer changes. Neovim 0.13 has no BufModifiedSet; before, OptionSet does not tell of edits.
local M = {}

local api = vim.api

---@param group integer of the autocommand
---@param run fun(bufnr: integer) called with each buffer whose 'modified' has changed
---@param opts? { nested?: boolean } nested: autocommands run for what `run` does
function M.on_change(group, run, opts)
  local nested = opts and opts.nested
  if vim.fn.exists("##BufModifiedSet") == 1 then
    local function changed(event)
      run(event.buf)
    end
    api.nvim_create_autocmd("BufModifiedSet", { group = group, nested = nested, callback = changed })
  else
    local function changed()
      run(api.nvim_get_current_buf()) -- during OptionSet; the event does not name the buffer
    end
    api.nvim_create_autocmd("OptionSet", { group = group, pattern = "modified", nested = nested, callback = changed })
  end
end

return M

-- Knows when another window can be changed without the user, who is in the middle of something, being disturbed.
local M = {}

local api = vim.api
local GROUP = api.nvim_create_augroup("acp_nvim.follow.moment", {})

-- Not: command lines and questions, operators that wait for a motion, one command of Insert mode, menus, Select mode.
local QUIET = { n = true, nt = true, i = true, R = true, v = true, V = true, ["\22"] = true, t = true }

---@type fun()? what waits
local waiting

---@return boolean
function M.is_quiet()
  local mode = api.nvim_get_mode()
  if mode.blocking or not QUIET[mode.mode] or vim.fn.getcmdwintype() ~= "" then
    return false
  end
  -- S: not at the main loop: a mapping or a plugin asks for a key with getchar(); the main loop of terminals says it always
  return mode.mode == "t" or vim.fn.state("moaxsS") == ""
end

local function attempt()
  local run = waiting
  if run and M.is_quiet() then
    waiting = nil
    api.nvim_clear_autocmds({ group = GROUP })
    run()
  end
end

---Runs it once the user is in the middle of nothing; only the last one that was asked for.
---@param run fun()
function M.when_quiet(run)
  local waits = waiting ~= nil
  waiting = run
  if waits then
    return
  end
  -- Neovim says so itself. Nothing is asked in between: any event ends what a half typed command has collected.
  api.nvim_create_autocmd({ "SafeState", "TermEnter" }, {
    group = GROUP,
    callback = function()
      if QUIET[api.nvim_get_mode().mode] then
        vim.schedule(attempt) -- files are not read from within an autocommand: their own would not run
      end
    end,
  })
end

return M

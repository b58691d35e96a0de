-- Tells by Neovim's event Progress (since 0.12) of work that goes on: terminals and status lines show it. Fires the event
-- itself: a progress message of nvim_echo() would be drawn over the command line, and kept in |:messages|.
local autocmds = require("acp_nvim.kernel.autocmds")

local M = {}

local GROUP = vim.api.nvim_create_augroup("acp_nvim.progress", {})
local SOURCE = "acp_nvim"
local MOST = 99 -- percent of work that goes on: with 100 Neovim takes it for ended

---@class acp.Progress
---@field title string whose work it is
---@field text string what is done
---@field done integer
---@field total integer 0: unknown
---@field session? integer

---@type table<string, acp.Progress> by id
local running = {}
local is_telling = false

---@param id string
---@param progress acp.Progress
---@param status "running"|"success"|"failed"|"cancel"
local function tell(id, progress, status)
  local percent = progress.total > 0 and math.floor(100 * progress.done / progress.total) or 0
  local data = progress.session and { session = progress.session } or vim.empty_dict()
  is_telling = true
  autocmds.fire_event("Progress", SOURCE, {
    id = SOURCE .. "." .. id,
    title = progress.title,
    text = { progress.text },
    source = SOURCE,
    status = status,
    percent = status == "success" and 100 or math.min(percent, MOST),
    data = data,
  })
  is_telling = false
end

---@param id string
---@param progress acp.Progress
function M.goes_on(id, progress)
  if not vim.deep_equal(running[id], progress) then
    running[id] = progress
    tell(id, progress, "running")
  end
end

---Also tells again of what still goes on: a terminal has one bar for all, which this takes away.
---@param id string
---@param status "success"|"failed"|"cancel"
function M.ended(id, status)
  local progress = running[id]
  running[id] = nil
  if progress then
    tell(id, progress, status)
    for other, its in pairs(vim.deepcopy(running)) do
      tell(other, its, "running")
    end
  end
end

vim.api.nvim_create_autocmd("VimLeavePre", {
  group = GROUP,
  callback = function()
    for id in pairs(vim.deepcopy(running)) do
      M.ended(id, "cancel") -- the terminal stays
    end
  end,
})

---@param run fun(session: integer) called when somebody else asks by the event that the work of a session be cancelled
function M.on_cancel(run)
  if vim.fn.exists("##Progress") == 0 then
    return
  end
  vim.api.nvim_create_autocmd("Progress", {
    group = GROUP,
    pattern = "acp_nvim",
    callback = function(event)
      local id = tostring(event.data.id):sub(#SOURCE + 2)
      local progress = not is_telling and event.data.status == "cancel" and running[id] or nil
      if progress and progress.session then
        run(progress.session)
      end
    end,
  })
end

return M

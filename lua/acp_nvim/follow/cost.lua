-- Measures what a place costs the editor: to show it, and the next drawing of the screen, which may have to parse a file.
local M = {}

local api = vim.api
local NS = api.nvim_create_namespace("acp_nvim.follow.cost")

---@type fun(ms: number)? who waits for the drawing
local told
local spent, began = 0, 0

api.nvim_set_decoration_provider(NS, {
  on_start = function()
    began = vim.uv.hrtime()
    return told ~= nil
  end,
  on_end = function()
    local tell = told
    told = nil
    if tell then
      tell((spent + vim.uv.hrtime() - began) / 1e6)
    end
  end,
})

---@param run fun()
---@param tell fun(ms: number) called when the screen was drawn, from where nothing may be changed
function M.measure(run, tell)
  local from = vim.uv.hrtime()
  run()
  spent, told = vim.uv.hrtime() - from, tell
end

return M

-- Talks to the user: the only module that calls vim.notify.
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")

local M = {}

local PREFIX = "acp_nvim: "
local MORE = " … :AcpLog"

---The first lines of a long text, so that it fits above the command line.
---@param text string
---@return string
local function shortened(text)
  local lines = vim.split(vim.trim(text), "\n", { plain = true })
  local kept = table.concat(lines, "\n", 1, math.min(#lines, limits.message_lines))
  local short = vim.fn.strcharpart(kept, 0, limits.message_bytes)
  if #lines <= limits.message_lines and short == kept then
    return kept
  end
  log.write(text)
  return short .. MORE
end

---What fits beside the command line, so that nobody who is doing something else is asked for a key.
---@param text string
---@return string
local function on_one_line(text)
  local line = vim.trim(text:gsub("%s*[\r\n]+%s*", " "))
  local room = math.max(vim.v.echospace, 40) - #PREFIX
  if vim.fn.strdisplaywidth(line) <= room then
    return line
  end
  log.write(text)
  return vim.fn.strcharpart(line, 0, room - #MORE) .. MORE
end

---@param text string
---@return string
local function said(text)
  return PREFIX .. (text:gsub("%z", ""))
end

---@param text string
---@param level integer
local function show(text, level)
  vim.schedule(function()
    vim.notify(said(text), level, { title = "acp_nvim" })
  end)
end

---Answers of commands: a few lines, and a key to go on if they do not fit.

---@param text string
function M.info(text)
  show(shortened(text), vim.log.levels.INFO)
end

---@param text string
function M.warn(text)
  show(shortened(text), vim.log.levels.WARN)
end

---@param text string
function M.error(text)
  show(shortened(text), vim.log.levels.ERROR)
end

---@type table<string, true> news of this moment
local coming = {}

---News that come while the user does anything: one line, which takes the place of the one before. Chats that share an
---agent have the same to say at the same time: that is said once.
---@param text string
---@param level? integer of vim.log.levels; an error when it is left out
function M.news(text, level)
  if coming[text] then
    return
  end
  coming[text] = true
  vim.schedule(function()
    coming = {}
    vim.cmd.redraw() -- below another message it would ask for a key
    vim.notify(said(on_one_line(text)), level or vim.log.levels.ERROR, { title = "acp_nvim" })
  end)
end

return M

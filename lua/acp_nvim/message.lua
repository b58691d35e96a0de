-- Talks to the user: the only module that calls vim.notify.
local log = require("acp_nvim.log")

local M = {}

local MESSAGE_LINES = 10 -- of one message: an answer to a command takes no more
local MESSAGE_BYTES = 1000 -- of one message: half a screen of 80 columns
local PREFIX = "acp_nvim: "
local MORE = " … :AcpLog"

---The first lines of a long text, so that it fits above the command line.
---@param text string
---@return string
local function shortened(text)
  local lines = vim.split(vim.trim(text), "\n", { plain = true })
  local kept = table.concat(lines, "\n", 1, math.min(#lines, MESSAGE_LINES))
  local short = vim.fn.strcharpart(kept, 0, MESSAGE_BYTES)
  if #lines <= MESSAGE_LINES and short == kept then
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
  local room = math.max(vim.v.echospace, #PREFIX + #MORE + 1) - #PREFIX
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

local GROUPS = { [vim.log.levels.ERROR] = "ErrorMsg", [vim.log.levels.WARN] = "WarningMsg" }

---@param text string
---@return boolean Neovim shows it without asking for a key, or leaves messages to a program that does
local function fits(text)
  local lines = vim.split(text, "\n", { plain = true })
  local is_shown_elsewhere = vim.iter(vim.api.nvim_list_uis()):any(function(ui)
    return ui.ext_messages
  end)
  return is_shown_elsewhere
    or #lines <= math.max(vim.o.cmdheight, 1)
      and vim.iter(lines):all(function(line)
        return vim.fn.strdisplaywidth(line) <= vim.v.echospace
      end)
end

---Calls `say` without Neovim asking for a key, however much room the text takes: that would keep the host waiting.
---@param say fun()
local function without_key(say)
  local how, more = vim.o.messagesopt, vim.o.more
  vim.o.messagesopt, vim.o.more = how:gsub("hit%-enter", "wait:0"), false
  local ok, err = pcall(say)
  vim.o.messagesopt, vim.o.more = how, more
  if not ok then
    error(err, 0)
  end
end

---@param text string
---@param width integer cells
---@return string the beginning of `text` that is no wider
local function cut(text, width)
  local beginning = vim.fn.strcharpart(text, 0, width)
  while vim.fn.strdisplaywidth(beginning) > width do
    beginning = vim.fn.strcharpart(beginning, 0, vim.fn.strchars(beginning) - 1)
  end
  return beginning
end

---Says a text, of which |:messages| then has the whole. Where it takes more room than there is, its beginning is shown
---on one line.
---@param text string
---@param level integer
local function show(text, level)
  vim.schedule(function()
    text = said(text)
    vim.cmd.redraw() -- below another message it would need more room
    if fits(text) then
      return vim.notify(text, level, { title = "acp_nvim" })
    end
    without_key(function()
      vim.notify(text, level, { title = "acp_nvim" })
      local hint, room = " … :messages", vim.v.echospace
      local beginning = cut((text:gsub("\n", " · ")), math.max(room - vim.fn.strdisplaywidth(hint), 0))
      vim.cmd.redraw()
      vim.api.nvim_echo({ { cut(beginning .. hint, room), GROUPS[level] } }, false, {})
    end)
  end)
end

---Answers of commands: a few lines.

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
    without_key(function()
      vim.notify(said(on_one_line(text)), level or vim.log.levels.ERROR, { title = "acp_nvim" })
    end)
  end)
end

return M

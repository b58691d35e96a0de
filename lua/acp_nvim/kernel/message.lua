-- Shows messages to the user: the only module that calls vim.notify. Hidden characters are made visible here.
local characters = require("acp_nvim.render.characters")
local answer = require("acp_nvim.kernel.answer")
local log = require("acp_nvim.kernel.log")
local notifier = require("acp_nvim.kernel.notifier")
local ui2 = require("acp_nvim.kernel.ui2")

local M = {}

local MESSAGE_LINES = 100 -- of one message: two large screens
local MESSAGE_BYTES = 10000 -- of one message: the same
local PREFIX = "acp_nvim: "
local MORE = " … :AcpLog"
local HAS_IDS = vim.fn.exists("##Progress") == 1 -- both came with Neovim 0.12
local PROGRESS = HAS_IDS and { id = "acp_nvim.progress" } or {} -- a UI that keeps messages on the screen replaces it

local function visible(text)
  return characters.text((text:gsub("%z", "")))
end

---Returns the first lines of a very long text, and logs the whole text.
local function shortened(text)
  text = visible(text)
  local lines = vim.split(vim.trim(text), "\n", { plain = true })
  local kept = table.concat(lines, "\n", 1, math.min(#lines, MESSAGE_LINES))
  local short = vim.fn.strcharpart(kept, 0, MESSAGE_BYTES)
  if #lines <= MESSAGE_LINES and short == kept then
    return kept
  end
  log.write(text)
  return short .. MORE
end

---Returns as much as fits beside the command line, so that Neovim does not show a hit-enter prompt.
local function on_one_line(text)
  local line = visible(vim.trim((text:gsub("%s*[\r\n]+%s*", " "))))
  local room = math.max(vim.v.echospace, #PREFIX + #MORE + 1) - #PREFIX
  if vim.fn.strdisplaywidth(line) <= room then
    return line
  end
  log.write(text)
  return vim.fn.strcharpart(line, 0, room - #MORE) .. MORE
end

local function prefixed(text)
  return PREFIX .. text
end

local GROUPS = { [vim.log.levels.ERROR] = "ErrorMsg", [vim.log.levels.WARN] = "WarningMsg" }

---@return boolean a UI shows messages itself, in full
local function is_shown_elsewhere()
  return ui2.is_enabled() or vim.iter(vim.api.nvim_list_uis()):any(function(ui)
    return ui.ext_messages
  end)
end

---@return boolean Neovim shows the text without a hit-enter prompt
local function fits(text)
  local lines = vim.split(text, "\n", { plain = true })
  return #lines <= math.max(vim.o.cmdheight, 1)
    and vim.iter(lines):all(function(line)
      return vim.fn.strdisplaywidth(line) <= vim.v.echospace
    end)
end

---@type fun()[] what shows messages; each only after the one before: Neovim goes on with events while it shows one
local queue = {}
local is_showing = false

---Calls `run` soon, after all that were given before it.
---@param run fun()
local function in_turn(run)
  vim.schedule(function()
    queue[#queue + 1] = run
    if is_showing then
      return
    end
    is_showing = true
    local failed
    while queue[1] do
      local ok, err = pcall(table.remove(queue, 1))
      failed = failed or not ok and err or nil
    end
    is_showing = false
    if failed then
      error(failed, 0)
    end
  end)
end

---Calls `run` with the hit-enter prompt disabled, which would keep the host waiting.
local function without_prompt(run)
  local how, more = vim.o.messagesopt, vim.o.more
  vim.o.messagesopt, vim.o.more = how:gsub("hit%-enter", "wait:0"), false
  local ok, err = pcall(run)
  vim.o.messagesopt, vim.o.more = how, more
  if not ok then
    error(err, 0)
  end
end

---@param width integer cells
---@return string as many characters of `text` as fit
local function cut(text, width)
  local beginning = vim.fn.strcharpart(text, 0, width)
  while vim.fn.strdisplaywidth(beginning) > width do
    beginning = vim.fn.strcharpart(beginning, 0, vim.fn.strchars(beginning) - 1)
  end
  return beginning
end

---Shows a text in full, which |:messages| keeps as well: in a float, if the command line has no room.
local function show(text, level)
  in_turn(function()
    local echoed = prefixed(text)
    vim.cmd.redraw() -- below another message it would need more room
    if not notifier.is_plugin(vim.notify) and (fits(echoed) or is_shown_elsewhere()) then
      return notifier.tell(vim.notify, echoed, level)
    end
    without_prompt(function()
      if not notifier.tell(vim.notify, echoed, level) or fits(echoed) or is_shown_elsewhere() then
        return
      end
      vim.cmd.redraw()
      if #vim.api.nvim_list_uis() > 0 and not answer.show(text, GROUPS[level]) then
        local hint, room = " … :messages", vim.v.echospace
        local beginning = cut((echoed:gsub("\n", " · ")), math.max(room - vim.fn.strdisplaywidth(hint), 0))
        vim.api.nvim_echo({ { cut(beginning .. hint, room), GROUPS[level] } }, false, {})
      end
    end)
  end)
end

---Shows how far something has come, in place of the last line that did; |:messages| does not keep it.
---@param text string one line
function M.progress(text)
  in_turn(function()
    if vim.startswith(vim.api.nvim_get_mode().mode, "c") then
      return -- the user types there
    end
    without_prompt(function()
      vim.cmd.redraw()
      vim.api.nvim_echo({ { cut(prefixed(visible(text)), vim.v.echospace) } }, false, PROGRESS)
    end)
  end)
end

---Answers to commands.

function M.info(text)
  show(shortened(text), vim.log.levels.INFO)
end

function M.warn(text)
  show(shortened(text), vim.log.levels.WARN)
end

function M.error(text)
  show(shortened(text), vim.log.levels.ERROR)
end

---@type table<string, true> messages shown in this event loop iteration
local recent = {}

---Shows an unprompted message: one line, which replaces the previous one, or all of it where a plugin shows it. Drops
---repetitions at the same time, since all chats of an agent report the same problem.
---@param level? integer of vim.log.levels; nil: an error
function M.news(text, level)
  if recent[text] then
    return
  end
  recent[text] = true
  in_turn(function()
    recent = {}
    vim.cmd.redraw() -- below another message it would cause a hit-enter prompt
    level = level or vim.log.levels.ERROR
    without_prompt(function()
      if not notifier.is_plugin(vim.notify) then
        notifier.tell(vim.notify, prefixed(on_one_line(text)), level)
      elseif notifier.tell(vim.notify, prefixed(shortened(text)), level) and not is_shown_elsewhere() then
        vim.cmd.redraw()
        vim.api.nvim_echo({ { prefixed(on_one_line(text)), GROUPS[level] } }, false, {})
      end
    end)
  end)
end

return M

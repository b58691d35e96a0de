-- Asks the user: the only module that opens dialogs. A dialog waits for the user; therefore none is opened while a batch
-- of events is applied, since the host waits for its end, or while Neovim exits, since it would not end. All of its
-- texts may be of agents and projects: hidden characters are made visible here.
local characters = require("acp_nvim.render.characters")

local M = {}

local CANCELLED = "\1" -- cannot be typed

local is_batch = false

---Begins or ends a batch of events.
---@param begins boolean
function M.batch(begins)
  is_batch = begins
end

local function is_exiting()
  return vim.v.exiting ~= vim.NIL
end

---@param dialog fun(on_answer: fun(answer: any)) waits for the user, or returns at once
---@param on_answer fun(answer: any) called with nil when the user cancels; not called when Neovim exits
local function open(dialog, on_answer)
  if is_exiting() then
    return
  elseif is_batch then
    return vim.schedule(function()
      open(dialog, on_answer)
    end)
  end
  local is_answered = false
  local ok, problem = pcall(dialog, function(answer)
    is_answered = true
    on_answer(answer)
  end)
  if not ok and not is_answered then
    on_answer(nil)
  end
  local is_interrupted = not is_answered and tostring(problem):find("Keyboard interrupt", 1, true)
  if not ok and not is_interrupted then
    error(problem, 0)
  end
end

---@param format? fun(item: any): string
---@return fun(item: any): string that returns one line
local function on_one_line(format)
  return function(item)
    return characters.text(((format or tostring)(item):gsub("%s*[\r\n]+%s*", " ")))
  end
end

---Lets the user choose an item, as |vim.ui.select()| does.
---@generic T
---@param items T[]
---@param opts { prompt: string, kind?: string, format_item?: fun(item: T): string }
---@param on_choice fun(item: T?) nil when the user cancels
function M.select(items, opts, on_choice)
  local shown = { prompt = characters.text(opts.prompt), kind = opts.kind, format_item = on_one_line(opts.format_item) }
  open(function(on_answer)
    vim.ui.select(items, shown, on_answer)
  end, on_choice)
end

---@return boolean no plugin shows lists
local function has_own_lists()
  return vim.endswith(debug.getinfo(vim.ui.select, "S").source, "/vim/ui.lua")
end

---Asks a question that is answered with yes or no: below the screen by one key, or by the plugin that shows lists.
---@param opts { prompt: string, kind?: string, yes: string, no: string, is_careful?: boolean } what the answers do;
---`is_careful`: a plugin's list begins with `no`
---@param on_answer fun(is_yes: boolean?) nil when the user cancels
function M.confirm(opts, on_answer)
  local function ask(answer)
    if has_own_lists() then
      local labels = {}
      for index, key in ipairs({ "Yes", "No" }) do
        local does = index == 1 and opts.yes or opts.no
        labels[index] = does == key and "&" .. key or ("&%s: %s"):format(key, does:gsub("&", ""))
      end
      local given = vim.fn.confirm(characters.text(opts.prompt), table.concat(labels, "\n"), 0, "Question")
      return answer(({ true, false })[given])
    end
    local items = opts.is_careful and { opts.no, opts.yes } or { opts.yes, opts.no }
    vim.ui.select(items, { prompt = characters.text(opts.prompt), kind = opts.kind }, function(item)
      answer(item and item == opts.yes)
    end)
  end
  open(ask, on_answer)
end

---Lets the user enter a line, as |vim.ui.input()| does.
---@param opts { prompt: string, default?: string }
---@param on_line fun(line: string?) nil when the user cancels
function M.input(opts, on_line)
  open(function(on_answer)
    vim.ui.input({ prompt = characters.text(opts.prompt), default = opts.default }, on_answer)
  end, on_line)
end

---Reads a line below the screen, and waits for it. Call it only from an answer to another dialog.
---@param prompt string
---@param is_secret? boolean what is typed is not shown
---@return string? nil when the user cancels
function M.read(prompt, is_secret)
  if is_exiting() then
    return nil
  end
  local read = is_secret and vim.fn.inputsecret or vim.fn.input
  local ok, line = pcall(read, { prompt = characters.text(prompt), cancelreturn = CANCELLED })
  return ok and line ~= CANCELLED and line or nil
end

return M

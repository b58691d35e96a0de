-- Shares the lines of a chat in the current tab page: the prompt grows with its text, plans have a few, the chat the rest.
local config = require("acp_nvim.config")
local frame = require("acp_nvim.chat.frame")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.log")
local pin = require("acp_nvim.chat.pin")
local pinned = require("acp_nvim.chat.blocks.pinned")
local plans = require("acp_nvim.chat.plans")
local prompt_height = require("acp_nvim.chat.prompt_height")
local sizes = require("acp_nvim.chat.sizes")
local splits = require("acp_nvim.chat.splits")
local stack = require("acp_nvim.chat.stack")

local M = {}

local api = vim.api
local LEAST_CHAT = 4 -- lines, with its 'winbar': with fewer nobody reads
local is_due = false
local reported = false

---@param now acp.Stack
---@return integer lines that chat, plans and prompt have together, with what is between chat and plans
local function together(now)
  if stack.floats(now.chat) then
    return frame.height()
  end
  local lines = api.nvim_win_get_height(now.chat) + (now.prompt and api.nvim_win_get_height(now.prompt) or 0)
  return lines + (now.pin and api.nvim_win_get_height(now.pin) + 1 or 0)
end

---@param now acp.Stack
---@param whole integer
---@param prompt integer lines
---@return acp.PinnedLine[]
local function lines_of(now, whole, prompt)
  local living = plans.living(now.session)
  local between = stack.floats(now.chat) and 0 or 1
  local room =
    math.min(limits.pinned_lines, math.floor(whole * limits.pinned_part), whole - prompt - LEAST_CHAT - between)
  if not now.prompt or #living == 0 or room < 1 or config.get().ui.plan ~= "pinned" then
    return {}
  end
  return pinned(living, room, now.session.plans.several)
end

---@param now acp.Stack
---@param whole integer
---@param prompt integer lines
---@param count integer lines of the plans
local function share_split(now, whole, prompt, count)
  if count > 0 and not now.pin then
    now.pin = pin.open({ split = "below", win = now.chat, height = count })
  end
  if now.prompt then
    prompt_height.set(now.prompt, prompt)
  end
  if now.pin and api.nvim_win_get_height(now.pin) ~= count then
    api.nvim_win_set_height(now.pin, count)
  end
  local rest = whole - prompt - (now.pin and count + 1 or 0)
  if now.prompt and api.nvim_win_get_height(now.chat) ~= rest then
    api.nvim_win_set_height(now.chat, rest)
  end
end

---@param now acp.Stack
local function share(now)
  local whole = together(now)
  local most = math.max(1, math.floor(whole * limits.prompt_part))
  local prompt = now.prompt and prompt_height.wanted(now.prompt, most) or 0
  local lines = lines_of(now, whole, prompt)
  if #lines == 0 and now.pin then
    pin.close(now.pin)
    now.pin = nil
  end
  if stack.floats(now.chat) then
    frame.layout(now, prompt, #lines, pin.open)
  else
    share_split(now, whole, prompt, #lines)
  end
  if now.pin then
    pin.draw(now.pin, lines)
  end
end

---Closes what is left of a chat that is not seen any more.
local function tidy()
  for _, part in ipairs({ "pin", "frame" }) do
    local win = stack.part(part)
    if win then
      pcall(pin.close, win)
    end
  end
end

---Makes it so now, in the current tab page. What the user reads in the chat stays where it is.
function M.now()
  local now = stack.current()
  if not now then
    return tidy()
  end
  local is_reading = api.nvim_win_get_cursor(now.chat)[1] < api.nvim_buf_line_count(api.nvim_win_get_buf(now.chat))
  local view = api.nvim_win_call(now.chat, vim.fn.winsaveview)
  share(now)
  if is_reading then
    api.nvim_win_call(now.chat, function()
      vim.fn.winrestview(view)
    end)
  end
  splits.settled()
end

---@param err any
local function failed(err)
  if not reported and vim.fn.getcmdwintype() == "" then
    reported = true
    log.write("the windows of the chat could not share their lines: " .. tostring(err))
  end
end

---Makes it so soon, once for all that has changed.
function M.soon()
  if is_due then
    return
  end
  is_due = true
  vim.schedule(function()
    is_due = false
    local ok, err = pcall(M.now)
    if not ok and tostring(err):find("E565", 1, true) then -- no window may be opened or closed right now
      vim.defer_fn(M.soon, limits.textlock_retry_ms)
    elseif not ok then
      failed(err)
    end
  end)
end

---Notices from now on what makes another share of it.
function M.watch()
  local group = api.nvim_create_augroup("acp_nvim.fit", {})
  api.nvim_create_autocmd(
    { "TabEnter", "VimResized", "WinClosed", "CmdwinLeave" },
    { group = group, callback = M.soon }
  )
  api.nvim_create_autocmd("WinResized", { group = group, callback = splits.resized })
  api.nvim_create_autocmd("VimLeavePre", { group = group, callback = sizes.write })
end

---@param bufnr integer of a prompt: with its text its window grows and shrinks
function M.watch_prompt(bufnr)
  if vim.b[bufnr].acp_nvim_fits then
    return
  end
  vim.b[bufnr].acp_nvim_fits = true
  api.nvim_buf_attach(bufnr, false, {
    on_lines = function()
      M.soon()
    end,
    on_detach = function()
      pcall(api.nvim_buf_del_var, bufnr, "acp_nvim_fits")
    end,
  })
end

plans.on_change(M.soon)
config.on_change(M.soon)

return M

-- Distributes the lines of a chat in the current tab page: the prompt grows with its text, plans get a few, the chat the rest.
local command_line = require("acp_nvim.kernel.command_line")
local config = require("acp_nvim.config")
local following = require("acp_nvim.transcript.following")
local lazy = require("acp_nvim.lazy")
local frame = lazy("acp_nvim.chat.windows.frame")
local limits = require("acp_nvim.limits")
local log = require("acp_nvim.kernel.log")
local own = require("acp_nvim.windows.own")
local pin = lazy("acp_nvim.chat.windows.pin")
local plans = require("acp_nvim.transcript.plans")
local size = require("acp_nvim.windows.size")
local sizes = require("acp_nvim.chat.windows.sizes")
local splits = require("acp_nvim.chat.windows.splits")
local stack = require("acp_nvim.chat.windows.stack")

local M = {}

local api = vim.api
local PINNED_LINES = 6 -- of the plans above the prompt: most lines are for the chat
local PINNED_PART = 0.3 -- of the lines of chat and prompt, for the same reason
local PROMPT_PART = 0.5 -- maximal share of the prompt: the conversation stays visible
local LEAST_PROMPT = 3 -- lines that a prompt may need even if few are left to the chat: its 'winbar', and two of text
local ASKING_LINES = 24 -- that a chat with a waiting request has before plans and an empty prompt get any: those of a small screen
local is_due = false
local reported = false

---@return integer lines of chat, plans and prompt together, with the status line between chat and plans
local function total_lines(now)
  if stack.floats(now.chat) then
    return frame.height()
  end
  local lines = api.nvim_win_get_height(now.chat) + (now.prompt and api.nvim_win_get_height(now.prompt) or 0)
  return lines + (now.pin and api.nvim_win_get_height(now.pin) + 1 or 0)
end

---@param win integer of a prompt
---@return integer lines that it has at least
local function least_prompt(win)
  return math.max(1, math.floor(config.get().ui.prompt_height), vim.w[win].acp_nvim_least or 0)
end

---Returns the lines the prompt needs for its text.
---@param win integer of the prompt
---@param least integer lines
---@param most integer lines
---@return integer lines, including its 'winbar'
local function prompt_lines(win, least, most)
  if least >= most then
    return math.max(1, most)
  end
  local count = api.nvim_buf_line_count(api.nvim_win_get_buf(win))
  local bar = api.nvim_win_get_height(win) - vim.fn.getwininfo(win)[1].height
  if count + bar >= most then -- measuring the text would take time and change nothing
    return most
  end
  return math.min(math.max(least, api.nvim_win_text_height(win, {}).all + bar), most)
end

---@return boolean what manages windows has moved the plans away from their chat, where they take columns from the code
local function is_apart(now)
  if not now.pin or stack.floats(now.chat) then
    return false
  end
  local is_below = api.nvim_win_get_position(now.pin)[2] == api.nvim_win_get_position(now.chat)[2]
  return not is_below or api.nvim_win_get_width(now.pin) ~= api.nvim_win_get_width(now.chat)
end

---@param prompt integer lines
local function plan_lines(now, whole, prompt)
  local living = plans.active(now.session)
  local between = stack.floats(now.chat) and 0 or 1
  local room = math.min(PINNED_LINES, math.floor(whole * PINNED_PART), whole - prompt - splits.LEAST_CHAT - between)
  if not now.prompt or #living == 0 or room < 1 or not plans.is_pinned(now.session) then
    return {}
  end
  return pin.lines(living, room, now.session.plans.several)
end

---@param prompt integer lines
---@param count integer lines of the plans
local function distribute_splits(now, whole, prompt, count)
  if count > 0 and not now.pin then
    now.pin = pin.open(now.session, { split = "below", win = now.chat, height = count })
  end
  if now.prompt then
    vim.w[now.prompt].acp_nvim_lines = prompt
    if api.nvim_win_get_height(now.prompt) ~= prompt then
      size.set_height(now.prompt, prompt)
    end
  end
  if now.pin and api.nvim_win_get_height(now.pin) ~= count then
    size.set_height(now.pin, count)
  end
  local rest = whole - prompt - (now.pin and count + 1 or 0)
  if now.prompt and api.nvim_win_get_height(now.chat) ~= rest then
    size.set_height(now.chat, rest)
  end
end

---Closes the window of the plans, or of the border, without a change of others.
local function close(win)
  own.keep_sizes(function()
    api.nvim_win_close(win, true)
  end)
end

local function distribute(now)
  if is_apart(now) then
    plans.set_apart(now.session)
  end
  local cells = splits.restore(now.chat)
  local whole = cells and cells - (now.prompt and 1 or 0) or total_lines(now)
  local most = math.min(math.floor(whole * PROMPT_PART), math.max(LEAST_PROMPT, whole - splits.LEAST_CHAT))
  most = math.max(1, most)
  local prompt = now.prompt and prompt_lines(now.prompt, least_prompt(now.prompt), most) or 0
  local lines = plan_lines(now, whole, prompt)
  if now.prompt and now.session.asks and whole - prompt - #lines < ASKING_LINES then
    prompt, lines = prompt_lines(now.prompt, 1, most), {}
  end
  if #lines == 0 and now.pin then
    close(now.pin)
    now.pin = nil
  end
  if stack.floats(now.chat) then
    frame.layout(now, prompt, #lines, function(shape)
      return pin.open(now.session, shape)
    end)
  else
    distribute_splits(now, whole, prompt, #lines)
  end
  if now.pin then
    pin.draw(now.pin, lines)
  end
end

---@param now acp.Stack
local function distribute_in_place(now)
  local is_reading = api.nvim_win_get_cursor(now.chat)[1] < api.nvim_buf_line_count(api.nvim_win_get_buf(now.chat))
  local view = api.nvim_win_call(now.chat, vim.fn.winsaveview)
  distribute(now)
  if is_reading then
    api.nvim_win_call(now.chat, function()
      vim.fn.winrestview(view)
    end)
  else
    following.show_end(now.chat)
  end
end

---Distributes the lines in the current tab page now. The text that the user reads in the chat does not move.
function M.now()
  local now = stack.current()
  if not now then -- close what is left of a closed chat
    for _, part in ipairs({ "pin", "frame" }) do
      local win = stack.part(part)
      if win then
        pcall(close, win)
      end
    end
    return
  end
  following.while_resizing(function()
    distribute_in_place(now)
  end)
  splits.settled()
end

---Schedules the distribution, once for all changes.
function M.soon()
  if is_due then
    return
  end
  is_due = true
  vim.schedule(function()
    is_due = false
    local ok, err = pcall(M.now)
    if not ok and tostring(err):find("E565", 1, true) then -- windows cannot be opened or closed right now
      vim.defer_fn(M.soon, limits.textlock_retry_ms)
    elseif not ok and not reported and not command_line.has_focus() then
      reported = true
      log.write("cannot resize the windows of the chat: " .. tostring(err))
    end
  end)
end

---Keeps the height that the user has given to a prompt as its minimum.
local function resized()
  local prompts, is_moved = splits.resized()
  local now = stack.current()
  if is_moved or now and is_apart(now) then
    M.soon()
  end
  for _, prompt in ipairs(prompts) do
    local lines, has = vim.w[prompt].acp_nvim_lines, api.nvim_win_get_height(prompt)
    if lines and has ~= lines then
      vim.w[prompt].acp_nvim_least = has
    end
  end
end

---Starts watching for events that change the distribution.
function M.watch()
  local group = api.nvim_create_augroup("acp_nvim.fit", {})
  api.nvim_create_autocmd(
    { "TabEnter", "VimResized", "WinClosed", "CmdwinLeave" },
    { group = group, callback = M.soon }
  )
  api.nvim_create_autocmd("WinResized", { group = group, callback = resized })
  api.nvim_create_autocmd("VimLeavePre", { group = group, callback = sizes.write })
end

---Resizes the window of a prompt with its text.
---@param bufnr integer of a prompt
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

-- The functions behind the user commands.
local lazy = require("acp_nvim.lazy")
local agents = require("acp_nvim.config.agents")
local building = require("acp_nvim.host.building")
local cancelling = lazy("acp_nvim.actions.cancelling")
local client = require("acp_nvim.sessions.client")
local completion = require("acp_nvim.prompt.completion")
local context = lazy("acp_nvim.mentions.context")
local host = require("acp_nvim.host")
local follow = lazy("acp_nvim.follow")
local last = lazy("acp_nvim.sessions.last")
local images = lazy("acp_nvim.prompt.images")
local log = require("acp_nvim.kernel.log")
local names = require("acp_nvim.names")
local message = lazy("acp_nvim.kernel.message")
local prompt = require("acp_nvim.prompt.buffer")
local requests = require("acp_nvim.host.requests")
local sending = require("acp_nvim.prompt.sending")
local root = lazy("acp_nvim.sessions.root")
local session_arguments = require("acp_nvim.sessions.arguments")
local sessions = require("acp_nvim.host.sessions")
local switch = lazy("acp_nvim.windows.switch")
local winbar = require("acp_nvim.chat.winbar")
local windows = require("acp_nvim.chat.windows")

local M = {}

---@param is_only? boolean nothing but their names
function M.complete_agent(lead, is_only)
  if is_only then
    return vim.tbl_filter(function(name)
      return vim.startswith(name, lead)
    end, agents.names())
  end
  return session_arguments.complete_chat(lead, agents.names())
end

function M.complete_sessions(lead)
  return session_arguments.complete_sessions(lead, agents.names())
end

function M.chat(args)
  local agent, beginning, problem, is_last = session_arguments.chat(args.fargs)
  if problem then
    return message.error(problem)
  elseif is_last then
    return M.continue({ args = agent or "" })
  elseif beginning then
    client.begin(agent, root.directory(), beginning)
    return
  end
  if args.args ~= "" then
    client.chat(args.args, args.bang)
    return
  end
  client.with_agent(args.bang, function(chosen)
    client.chat(chosen, args.bang)
  end)
end

---Implements :AcpContinue.
---@param args { args: string }
function M.continue(args)
  local agent = args.args ~= "" and args.args or nil
  local problem = agent and agents.problem(agent)
  if problem then
    return message.error(problem)
  end
  local session = windows.seen()
  last.continue(agent, session and session.is_new and session or nil)
end

function M.toggle(args)
  local seen = windows.seen()
  if seen then
    windows.close(seen)
  else
    M.chat(args)
  end
end

---@return acp.ContextItem?
local function selection(args)
  if args.range == 0 then
    return nil
  end
  local bufnr, cwd = vim.api.nvim_get_current_buf(), vim.fn.getcwd()
  local first, last = vim.api.nvim_buf_get_mark(bufnr, "<")[1], vim.api.nvim_buf_get_mark(bufnr, ">")[1]
  if args.range == 2 and first == args.line1 and last == args.line2 then -- `'<,'>` itself has lines only
    return context.selection(bufnr, vim.fn.visualmode(), cwd)
  end
  return context.lines(bufnr, args.line1, args.line2, cwd)
end

---Sends a text without opening a window. When its turn begins and no chat shows it, a message says so.
---@param agent? string
---@param item? acp.ContextItem
local function send(text, agent, item)
  local sent, _, session = client.prompt(text, { agent = agent, context = item and { item } or nil, mentions = true })
  if sent and session and not windows.visible(session) then
    local with = item and (" with %s"):format(item.name) or ""
    vim.api.nvim_create_autocmd("User", { -- not before: the host or the agent may fail to start
      pattern = "AcpTurnStart",
      callback = function(ev)
        if ev.data.session == session.key then
          message.info(("sent to %s%s (:AcpChat shows the answer)"):format(sessions.name(session), with))
          return true -- this autocommand has done its work
        end
      end,
    })
  end
end

function M.prompt(args)
  local item = selection(args)
  client.with_agent(false, function(chosen)
    if vim.trim(args.args) ~= "" then
      return send(args.args, chosen, item)
    end
    local session = client.chat(chosen)
    if session then
      if item then
        prompt.attach(session, item)
      end
      completion.connect(session.prompt_bufnr) -- some plugins look for clients when Insert mode begins
      vim.cmd("startinsert!")
    end
  end)
end

---@return acp.Session[] those that could not start without a Python environment
local function without_host()
  return vim.tbl_filter(function(session)
    return session.status.state == "failed" and session.host ~= nil and not host.was_started(session.host)
  end, sessions.all())
end

---Implements :AcpBuild. The chats that wait for it go on.
function M.build()
  local waiting = without_host()
  local is_begun = building.begin(function(problem)
    for _, session in ipairs(waiting) do
      session.status.state, session.status.activity = "failed", nil -- until the host says more
      if problem or not sending.open(session, true) then
        winbar.update(session)
      end
    end
  end)
  for _, session in ipairs(is_begun and waiting or {}) do
    session.status.state = "starting"
    winbar.update(session)
  end
end

function M.paste()
  local session = sessions.current_owner() or client.chat()
  if session then
    images.paste(session)
  end
end

---@param session? acp.Session
---@param act fun(session: acp.Session): boolean
local function to(session, act)
  if not session or not act(session) then
    message.info("no agent is running here (:AcpChat starts one)")
  end
end

function M.cancel(args)
  to(sessions.current(), function(session)
    if not args.bang and vim.api.nvim_get_current_buf() == session.bufnr then
      return cancelling.block(session, true)
    end
    return requests.send(session, "cancel", { force = args.bang })
  end)
end

function M.send_problems()
  to(sessions.current_owner(), function(session)
    return requests.send(session, "send_problems")
  end)
end

function M.close()
  local session = sessions.current()
  if not session then
    return message.info("no session is open")
  elseif session.kept or session.parent then
    return windows.close(session)
  end
  require("acp_nvim.sessions.closing").close(session)
end

function M.fork()
  local session = sessions.current_owner()
  if not session or session.kept or not session.status.session_id then
    return message.info("no agent is running here: there is no session to fork")
  end
  require("acp_nvim.sessions.ways").fork(session)
end

function M.stop()
  to(sessions.current_owner(), function(session)
    return requests.send(session, "stop")
  end)
end

function M.log()
  if not vim.uv.fs_stat(log.path()) then
    message.info(("nothing has been logged yet (%s)"):format(log.path()))
    return
  end
  vim.cmd("split")
  switch.unasked(function()
    names.view(log.path())
  end)
  vim.bo.autoread = true
  vim.cmd("normal! G")
end

function M.complete_follow(lead)
  return vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, { "here", "off", "on" })
end

function M.follow(args)
  if args.args == "here" then
    local problem, is_chosen = follow.here()
    local words = is_chosen and "this window shows where the agent works" or "the last code window shows where it works"
    return problem and message.error(problem) or message.info(words)
  end
  local to = ({ on = true, off = false })[args.args]
  if to == nil and args.args ~= "" then
    message.error((":AcpFollow takes on, off or here, not %q"):format(args.args))
    return
  end
  message.info(follow.set(to) and "the agent is followed" or "the agent is not followed")
end

return M

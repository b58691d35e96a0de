-- Declares the commands and the <Plug> maps; their bodies are required when they are first used.
if vim.g.loaded_acp_nvim_plugin then
  return
end
vim.g.loaded_acp_nvim_plugin = true

---@type integer? autocommand that notices the intent to run a command
local intent

---Starts the host, once: it takes longer to start than all that a command does.
local function start()
  if intent then
    vim.api.nvim_del_autocmd(intent)
    intent = nil
    require("acp_nvim.early").start()
  end
end

intent = vim.api.nvim_create_autocmd("CmdlineChanged", {
  group = vim.api.nvim_create_augroup("acp_nvim.intent", {}),
  pattern = ":",
  desc = "Start the host while one of the commands is being typed",
  callback = function()
    local before = vim.fn.getcmdline():match("^(.-)Acp")
    if before then -- a range and modifiers, or the command line is about something else
      local ok, parsed = pcall(vim.api.nvim_parse_cmd, before .. "AcpPrompt", {})
      if ok and parsed.cmd == "AcpPrompt" then
        start()
      end
    end
  end,
})

vim.api.nvim_create_autocmd("SessionLoadPost", {
  group = vim.api.nvim_create_augroup("acp_nvim.restored", {}),
  desc = "Close the empty windows that a session has for the plugin's buffers",
  callback = function()
    require("acp_nvim.windows.restored").close_soon()
  end,
})

---Returns the body of a command.
---@param name string of a function
---@param module? string that has it; nil: acp_nvim.commands
---@return fun(args: table)
local function body(name, module)
  return function(args)
    start()
    require(module or "acp_nvim.commands")[name](args)
  end
end

---@return string[]
local function review_words(lead, line)
  return require("acp_nvim.commands.review").complete(lead, line)
end

---@return string[]
local function permission_words(lead)
  return require("acp_nvim.commands.permission").complete(lead)
end

---@return string[]
local function undo(lead)
  return vim.startswith("undo", lead) and { "undo" } or {}
end

---@return string[]
local function agents(lead)
  return require("acp_nvim.commands").complete_agent(lead)
end

---@return string[]
local function agents_only(lead)
  return require("acp_nvim.commands").complete_agent(lead, true)
end

---@return string[]
local function asked_agents(lead)
  return require("acp_nvim.commands").complete_sessions(lead)
end

---@return string[]
local function follow_words(lead)
  return require("acp_nvim.commands").complete_follow(lead)
end

---@return string[]
local function login_words(lead, line)
  return require("acp_nvim.login").complete(lead, line)
end

local command = vim.api.nvim_create_user_command
command("AcpChat", body("chat"), { nargs = "*", bang = true, complete = agents, desc = "Open the chat with an agent" })
command("AcpContinue", body("continue"), {
  nargs = "?",
  complete = agents_only,
  desc = "Continue the conversation used last in this directory",
})
command("AcpToggle", body("toggle"), { nargs = "?", complete = agents, desc = "Close the chat, or open it" })
command("AcpPrompt", body("prompt"), { nargs = "*", range = true, desc = "Prompt the agent, a range is context" })
command("AcpPaste", body("paste"), { desc = "Attach the image in the clipboard to the prompt" })
command("AcpCancel", body("cancel"), { bang = true, desc = "Cancel the agent's turn (! stops it by force)" })
command(
  "AcpSendProblems",
  body("send_problems"),
  { desc = "Send the agent the problems that were found after its turn" }
)
command("AcpStop", body("stop"), { desc = "Stop the agent of this session" })
command("AcpTutor", body("open", "acp_nvim.tutor"), { desc = "Learn acp_nvim in five minutes, with a demo agent" })
command("AcpLog", body("log"), { desc = "Open the log" })
command("AcpBuild", function()
  require("acp_nvim.commands").build()
end, { desc = "Build the Python environment of the host" })
command("AcpFollow", body("follow"), { nargs = "?", complete = follow_words, desc = "Follow the agent" })
command("AcpReview", body("review", "acp_nvim.commands.review"), {
  nargs = "?",
  bang = true,
  range = true,
  complete = review_words,
  desc = "Review what the agent changed (! all of the session), comment on lines",
})
command("AcpRestore", body("restore", "acp_nvim.commands.review"), {
  nargs = "?",
  bang = true,
  complete = undo,
  desc = "Restore the files to the state before a turn (! also files whose author is not known)",
})
command("AcpPermissions", body("permissions", "acp_nvim.commands.permission"), {
  nargs = "?",
  complete = permission_words,
  desc = "Answer the agent's permission requests, or show the rules for them",
})

command("AcpForms", body("choose", "acp_nvim.forms"), { desc = "Answer a question of the agent" })
command("AcpQueue", body("open", "acp_nvim.prompt.queue_buffer"), { desc = "Edit the queued prompts" })
command(
  "AcpSessions",
  body("command", "acp_nvim.sessions.list"),
  { nargs = "*", bang = true, complete = asked_agents, desc = "Find an open or stored session, and continue it" }
)
command("AcpConfig", body("config", "acp_nvim.commands.options"), {
  nargs = "*",
  bang = true,
  complete = function(_, line, column)
    return require("acp_nvim.commands.options").complete(line, column)
  end,
  desc = "Set the mode, the model, or another option of the agent (! also for new sessions)",
})
command("AcpClose", body("close"), { desc = "Close this session for good" })
command("AcpFork", body("fork"), { desc = "Start another session with the conversation so far" })
command("AcpLogin", body("login", "acp_nvim.login"), {
  nargs = "*",
  bang = true,
  complete = login_words,
  desc = "Sign in to an agent (! cancels the sign-in)",
})
command(
  "AcpLogout",
  body("logout", "acp_nvim.login"),
  { nargs = "?", complete = login_words, desc = "Sign out of an agent" }
)
command("AcpProviders", body("command", "acp_nvim.commands.providers"), {
  nargs = "?",
  complete = agents,
  desc = "Choose the providers of models that an agent uses",
})
command("AcpMcp", body("command", "acp_nvim.commands.mcp"), { desc = "List the MCP servers of this session's agent" })
command("AcpShareTerminal", function(args)
  require("acp_nvim.mcp.terminals").share(not args.bang)
end, { bang = true, desc = "Let agents read this terminal (! no longer)" })
command("AcpExport", body("command", "acp_nvim.sessions.export"), {
  nargs = "?",
  bang = true,
  complete = "file",
  desc = "Export the conversation as markdown, secrets masked (! exact)",
})

-- lua/acp_nvim/buffers/save_journal.lua records the user's saves even without an agent: another Neovim may have one.
local on = vim.api.nvim_create_autocmd
local group = vim.api.nvim_create_augroup("acp_nvim.saves", {})

---@param event vim.api.keyset.create_autocmd.callback_args
local function keep_ctime(event)
  local stat = vim.uv.fs_stat(event.match) -- here, since a file that is read is no reason to load a module
  vim.b[event.buf].acp_nvim_ctime = stat and ("%d%09d"):format(stat.ctime.sec, stat.ctime.nsec)
end

on("BufReadPost", { group = group, callback = keep_ctime })
on("FileChangedShellPost", {
  group = group,
  callback = function(event)
    if vim.v.fcs_reason == "time" or vim.v.fcs_reason == "mode" then -- it is not read again
      keep_ctime(event)
    end
  end,
})
on("BufFilePost", {
  group = group,
  callback = function(event)
    vim.b[event.buf].acp_nvim_ctime = nil
  end,
})
on({ "BufWritePre", "FileWritePre", "FileAppendPre" }, {
  group = group,
  callback = function(event)
    require("acp_nvim.buffers.save_journal").writing(event)
  end,
})
on({ "BufWritePost", "FileWritePost", "FileAppendPost" }, {
  group = group,
  callback = function(event)
    require("acp_nvim.buffers.save_journal").written(event)
  end,
})

if (vim.g.acp_nvim or {}).prewarm == true then
  require("acp_nvim.prewarm").schedule()
end

local map = vim.keymap.set
map("n", "<Plug>(AcpChat)", "<Cmd>AcpChat<CR>", { desc = "Open the chat with an agent" })
map("n", "<Plug>(AcpContinue)", "<Cmd>AcpContinue<CR>", { desc = "Continue the conversation used last" })
map("n", "<Plug>(AcpToggle)", "<Cmd>AcpToggle<CR>", { desc = "Close the chat, or open it" })
map("n", "<Plug>(AcpPrompt)", "<Cmd>AcpPrompt<CR>", { desc = "Prompt the agent" })
map("x", "<Plug>(AcpPrompt)", ":AcpPrompt<CR>", { silent = true, desc = "Prompt the agent about the selection" })
map("n", "<Plug>(AcpCancel)", "<Cmd>AcpCancel<CR>", { desc = "Cancel the agent's turn" })
map(
  "n",
  "<Plug>(AcpSendProblems)",
  "<Cmd>AcpSendProblems<CR>",
  { desc = "Send the agent the problems that were found after its turn" }
)
map("n", "<Plug>(AcpFollow)", "<Cmd>AcpFollow<CR>", { desc = "Follow the agent, on or off" })
map("n", "<Plug>(AcpPermissions)", "<Cmd>AcpPermissions<CR>", { desc = "Answer a permission request" })
map("n", "<Plug>(AcpForms)", "<Cmd>AcpForms<CR>", { desc = "Answer a question of the agent" })
map("n", "<Plug>(AcpQueue)", "<Cmd>AcpQueue<CR>", { desc = "Edit the queued prompts" })
map("n", "<Plug>(AcpConfig)", "<Cmd>AcpConfig<CR>", { desc = "Set an option of the agent" })
map("n", "<Plug>(AcpModel)", "<Cmd>AcpConfig model<CR>", { desc = "Choose the model" })
map("n", "<Plug>(AcpModeNext)", function()
  require("acp_nvim.commands.options").next("mode")
end, { desc = "Switch to the agent's next mode" })
map({ "n", "i" }, "<Plug>(AcpTakeSuggestion)", function()
  require("acp_nvim.prompt.suggestion").take()
end, { desc = "Take the prompt that the agent suggests" })
map({ "n", "i" }, "<Plug>(AcpPaste)", "<Cmd>AcpPaste<CR>", { desc = "Attach the image in the clipboard" })
---@type table<string, { [1]: string, [2]: string }> name of the map -> option of the key that does the same, description
local of_prompt = {
  Send = { "send", "Send the prompt" },
  Steer = { "steer", "Send the prompt into the turn that runs" },
  History = { "history_pick", "Choose from the prompts of this project" },
  HistoryPrevious = { "history_previous", "The prompt sent before" },
  HistoryNext = { "history_next", "The prompt sent after, or your draft" },
  DropContext = { "drop_context", "Attach nothing after all" },
}
for name, one in pairs(of_prompt) do
  map({ "n", "i" }, ("<Plug>(Acp%s)"):format(name), function()
    require("acp_nvim.actions").run(one[1])
  end, { desc = one[2] })
end
map("n", "<Plug>(AcpClose)", "<Cmd>AcpClose<CR>", { desc = "Close this session" })
map("n", "<Plug>(AcpFork)", "<Cmd>AcpFork<CR>", { desc = "Fork this session" })
map("n", "<Plug>(AcpSessionActions)", function()
  require("acp_nvim.sessions.list").actions()
end, { desc = "Choose an action for this session" })
map("n", "<Plug>(AcpSessions)", "<Cmd>AcpSessions<CR>", { desc = "Find a session" })
map(
  "n",
  "<Plug>(AcpPermissionsFocus)",
  body("focus", "acp_nvim.commands.permission"),
  { desc = "Go to the permission in the float" }
)
map(
  { "n", "x", "i", "t" },
  "<Plug>(AcpAllow)",
  body("allow", "acp_nvim.commands.permission"),
  { desc = "Allow once what the float shows" }
)
map(
  { "n", "x", "i", "t" },
  "<Plug>(AcpReject)",
  body("reject", "acp_nvim.commands.permission"),
  { desc = "Reject once what the float shows" }
)
map("n", "<Plug>(AcpReview)", "<Cmd>AcpReview<CR>", { desc = "List what the agent changed" })
map("n", "<Plug>(AcpReviewNext)", "<Cmd>AcpReview next<CR>", { desc = "Go to the next hunk" })
map("n", "<Plug>(AcpReviewPrevious)", "<Cmd>AcpReview prev<CR>", { desc = "Go to the previous hunk" })
map("n", "<Plug>(AcpReviewKeepAll)", "<Cmd>AcpReview keepall<CR>", { desc = "Keep all of this file" })
map("n", "<Plug>(AcpReviewRejectAll)", "<Cmd>AcpReview rejectall<CR>", { desc = "Reject all of this file" })
map("n", "<Plug>(AcpReviewComment)", "<Cmd>AcpReview comment<CR>", { desc = "Comment on this line" })
map("x", "<Plug>(AcpReviewComment)", ":AcpReview comment<CR>", { silent = true, desc = "Comment on the selection" })
map("n", "<Plug>(AcpReviewSend)", "<Cmd>AcpReview send<CR>", { desc = "Send the comments to the agent" })
map("n", "<Plug>(AcpRestore)", "<Cmd>AcpRestore<CR>", { desc = "Restore the files to the state before a turn" })
for name, word in pairs({ Keep = "keep", Reject = "reject", Mine = "mine", Theirs = "theirs", Both = "both" }) do
  local plug, desc = ("<Plug>(AcpReview%s)"):format(name), ("Review: %s"):format(word)
  map("n", plug, ("<Cmd>AcpReview %s<CR>"):format(word), { desc = desc })
  map("x", plug, (":AcpReview %s<CR>"):format(word), { silent = true, desc = desc })
end

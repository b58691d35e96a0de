-- Starts the host ahead of its first use, and loads the other modules in idle time while the host starts.
local host = require("acp_nvim.host")
local idle = require("acp_nvim.kernel.idle")

local M = {}

---Modules that the first command, the first events and the first keys need, and Neovim's for the prompt's completion.
---In this order each loads few others, which takes about a millisecond.
M.MODULES = {
  "acp_nvim.transcript",
  "acp_nvim.buffers.watching",
  "acp_nvim.prompt.drafts",
  "acp_nvim.config.agents",
  "acp_nvim.transcript.plans",
  "acp_nvim.prompt.sending",
  "acp_nvim.kernel.message",
  "acp_nvim.chat.winbar",
  "acp_nvim.chat.windows.splits",
  "acp_nvim.chat.windows",
  "acp_nvim.prompt.buffer",
  "acp_nvim.config.catalogue",
  "acp_nvim.keys.typed_ahead",
  "acp_nvim.sessions.root",
  "acp_nvim.sessions.client",
  "acp_nvim.commands",
  "acp_nvim.transcript.markdown.structure",
  "acp_nvim.transcript.markdown.colours",
  "acp_nvim.transcript.blocks.diff",
  "acp_nvim.permission.request",
  "acp_nvim.transcript.calls",
  "acp_nvim.review.hunks.jump",
  "acp_nvim.review.files",
  "acp_nvim.review.previews.view",
  "acp_nvim.permission.answer_keys",
  "acp_nvim.permission.reader",
  "acp_nvim.permission.float",
  "acp_nvim.transcript.folds",
  "acp_nvim.follow.jump",
  "acp_nvim.follow",
  "acp_nvim.buffers.disk",
  "acp_nvim.review.files.loading",
  "acp_nvim.review.files.actions",
  "acp_nvim.login",
  "acp_nvim.events.host",
  "acp_nvim.review.files.open",
  "acp_nvim.review.files.watch",
  "acp_nvim.actions.targets.details",
  "acp_nvim.forms.window",
  "acp_nvim.forms",
  "acp_nvim.permission.preview",
  "acp_nvim.prompt.queue_buffer",
  "acp_nvim.actions.targets",
  "acp_nvim.sessions.kept",
  "acp_nvim.events",
  "acp_nvim.chat.windows.frame",
  "acp_nvim.chat.windows.pin",
  "acp_nvim.prompt.history",
  "acp_nvim.mentions.context",
  "acp_nvim.mentions.symbols",
  "acp_nvim.mentions.targets",
  "acp_nvim.prompt.images",
  "acp_nvim.options.picker",
  "acp_nvim.prompt.complete.candidates",
  "acp_nvim.prompt.lsp_server",
  "vim.lsp.protocol",
  "vim.lsp.util",
  "vim.lsp.rpc",
  "vim.lsp.client",
  "vim.lsp",
  "vim.lsp.completion",
  "vim.diagnostic",
  "acp_nvim.sessions.ended",
}

local has_started = false

---Starts the host if none runs, once. A failure is not reported here: the command that needs the host reports it.
function M.start()
  if has_started then
    return
  end
  has_started = true
  host.prepare()
  for _, name in ipairs(M.MODULES) do
    idle.run(function()
      require(name)
    end)
  end
end

return M

-- Starts the host ahead of its first use, and loads the other modules in idle time while the host starts.
local host = require("acp_nvim.host")
local idle = require("acp_nvim.idle")

local M = {}

---Modules that the first command, the first events and the first keys need, and Neovim's for the prompt's completion.
---In this order each loads few others, which takes about a millisecond.
M.MODULES = {
  "acp_nvim.chat.transcript",
  "acp_nvim.buffers.watching",
  "acp_nvim.prompt.drafts",
  "acp_nvim.agents",
  "acp_nvim.chat.plans",
  "acp_nvim.prompt.sending",
  "acp_nvim.message",
  "acp_nvim.chat.winbar",
  "acp_nvim.chat.windows.splits",
  "acp_nvim.chat.windows",
  "acp_nvim.prompt.buffer",
  "acp_nvim.agents.catalogue",
  "acp_nvim.windows.typed_ahead",
  "acp_nvim.sessions.root",
  "acp_nvim.host.client",
  "acp_nvim.commands",
  "acp_nvim.chat.markdown.structure",
  "acp_nvim.chat.markdown.colours",
  "acp_nvim.chat.blocks.diff",
  "acp_nvim.chat.blocks.permission",
  "acp_nvim.chat.calls",
  "acp_nvim.hunks.jump",
  "acp_nvim.review.files",
  "acp_nvim.review.preview_view",
  "acp_nvim.chat.answer_keys",
  "acp_nvim.permission.reader",
  "acp_nvim.permission.float",
  "acp_nvim.chat.folds",
  "acp_nvim.follow.jump",
  "acp_nvim.follow",
  "acp_nvim.buffers.disk",
  "acp_nvim.review.loading",
  "acp_nvim.review.actions",
  "acp_nvim.login",
  "acp_nvim.event_handlers.host",
  "acp_nvim.review.open",
  "acp_nvim.review.watch",
  "acp_nvim.chat.targets.details",
  "acp_nvim.forms.window",
  "acp_nvim.forms",
  "acp_nvim.review.preview",
  "acp_nvim.prompt.queue_buffer",
  "acp_nvim.chat.targets",
  "acp_nvim.sessions.kept",
  "acp_nvim.events",
  "acp_nvim.chat.windows.frame",
  "acp_nvim.chat.windows.pin",
  "acp_nvim.prompt.history",
  "acp_nvim.prompt.context",
  "acp_nvim.prompt.mentions.symbols",
  "acp_nvim.prompt.mentions.targets",
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
  "acp_nvim.host.exit",
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

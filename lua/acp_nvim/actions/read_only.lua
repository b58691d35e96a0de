-- Maps the keys of a chat without a prompt: a stored conversation, or that of a subagent.
local chat_buffer = require("acp_nvim.chat.buffer")
local config = require("acp_nvim.config")
local keymaps = require("acp_nvim.keys")
local keys = require("acp_nvim.actions")
local named = require("acp_nvim.buffers.named")
local own = require("acp_nvim.windows.own")

local M = {}

---@param desc string of the keys that go to the prompt of other chats
---@param go_on string|fun() what these keys do here
---@param refill fun() called when the buffer was emptied, as by `:edit`
function M.attach(session, bufnr, desc, go_on, refill)
  keys.attach_chat(session)
  keymaps.map(bufnr, "n", "close", function()
    own.close(vim.api.nvim_get_current_win())
  end)
  for _, key in ipairs(config.keys("focus_prompt")) do
    vim.keymap.set("n", key, go_on, { buffer = bufnr, nowait = true, remap = true, desc = "acp: " .. desc })
  end
  named.on_read(bufnr, function()
    if not session.bufnr then
      chat_buffer.adopt(session, bufnr)
      M.attach(session, bufnr, desc, go_on, refill)
      refill()
    end
  end)
end

return M

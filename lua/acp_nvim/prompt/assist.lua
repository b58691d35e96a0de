-- Helps with the writing of a prompt: completes it, and shows what will be attached.
local autocomplete = require("acp_nvim.prompt.autocomplete")
local lsp_client = require("acp_nvim.prompt.lsp_client")
local mention_marks = require("acp_nvim.prompt.mention_marks")

local M = {}

---@param bufnr integer of a prompt that its session owns
function M.watch(bufnr)
  lsp_client.watch(bufnr)
  autocomplete.watch(bufnr)
  mention_marks.watch(bufnr)
end

return M

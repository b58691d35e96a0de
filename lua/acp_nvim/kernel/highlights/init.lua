-- Defines the highlight groups: links, and backgrounds that suit the colour scheme. Users and colour schemes may replace
-- all of them. What a group is linked to has a contrast of at least 4.5 in Neovim's own colours, light and dark.
local tints = require("acp_nvim.kernel.highlights.tints")

local M = {}

---@type table<string, string>
M.links = {
  AcpUserHeader = "Title",
  AcpAgentHeader = "Identifier",
  AcpThoughtHeader = "Comment",
  AcpThought = "Comment",
  AcpCode = "NormalFloat",
  AcpNoticeInfo = "Comment",
  AcpNoticeWarn = "DiagnosticWarn",
  AcpNoticeError = "DiagnosticError",
  AcpToolTitle = "Normal",
  AcpLink = "Underlined",
  AcpFold = "Normal",
  AcpToolKind = "Type",
  AcpToolDetail = "Comment",
  AcpStatusPending = "Comment",
  AcpStatusInProgress = "DiagnosticHint",
  AcpStatusCompleted = "DiagnosticOk",
  AcpStatusFailed = "DiagnosticError",
  AcpContextFull = "DiagnosticWarn",
  AcpUnread = "DiagnosticHint",
  AcpPlanDone = "Comment",
  AcpPlanActive = "DiagnosticHint",
  AcpDiffAdded = "Added",
  AcpDiffRemoved = "Removed",
  AcpDiffHeader = "Identifier",
  AcpPermission = "DiagnosticWarn",
  AcpPermissionKey = "Identifier",
  AcpPermissionHidden = "DiagnosticWarn",
  AcpForm = "DiagnosticWarn",
  AcpFormField = "Identifier",
  AcpFormRequired = "DiagnosticWarn",
  AcpFormValue = "String",
  AcpFormProblem = "DiagnosticError",
  AcpFormKey = "Identifier",
  AcpFormHost = "DiagnosticOk",
  AcpPlaceholder = "Comment",
  AcpSuggestion = "Comment",
  AcpMention = "Identifier",
  AcpMentionRefused = "DiagnosticWarn",
  AcpFollowWindow = "WildMenu",
  AcpAgentSign = "DiagnosticHint",
  AcpAgentSignOver = "Comment",
  AcpPreviewAdd = "AcpReviewAdd",
  AcpPreviewAddText = "AcpReviewAddText",
  AcpPreviewDelete = "AcpReviewDelete",
  AcpPreviewDeleteText = "AcpReviewDeleteText",
  AcpPreviewHint = "DiagnosticWarn",
  AcpQueue = "Comment",
  AcpQueueTitle = "Title",
  AcpReviewHint = "Comment",
  AcpReviewMore = "Comment",
  AcpReviewComment = "DiagnosticHint",
  AcpReviewGroup = "Title",
  AcpReviewUnknown = "Title",
  AcpReviewSignAdd = "Added",
  AcpReviewSignChange = "Changed",
  AcpReviewSignDelete = "Removed",
  AcpReviewSignConflict = "DiagnosticWarn",
}

---@type table<string, vim.api.keyset.get_hl_info> definitions of ours that are in force, as Neovim returns them
local ours = {}

local function current(group)
  local now = vim.api.nvim_get_hl(0, { name = group })
  now.default = nil
  return now
end

---Defines a group, unless somebody else has done so. A definition of ours gives way, which `default` alone prevents.
---@param definition vim.api.keyset.highlight
local function set(group, definition)
  local now = current(group)
  if next(now) == nil or vim.deep_equal(now, ours[group]) then
    vim.api.nvim_set_hl(0, group, vim.tbl_extend("force", { default = true, force = true }, definition))
    ours[group] = current(group)
  end
end

local function define_all()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { default = true, link = target })
  end
  for group, definition in pairs(tints.definitions()) do
    set(group, definition)
  end
end

---Defines the groups once, and again after each colour scheme, which clears them, and when the background gets light or
---dark, which Neovim may learn from the terminal long after it has started. Each definition causes a redraw.
function M.define()
  if next(ours) ~= nil then
    return
  end
  define_all()
  local group = vim.api.nvim_create_augroup("acp_nvim.highlights", {})
  vim.api.nvim_create_autocmd("ColorScheme", { group = group, callback = define_all })
  vim.api.nvim_create_autocmd("OptionSet", { group = group, pattern = "background", callback = define_all })
end

return M

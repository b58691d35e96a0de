-- The highlight groups: all are links, which a colour scheme may replace.
local M = {}

---@type table<string, string>
M.links = {
  AcpUserHeader = "Title",
  AcpAgentHeader = "Identifier",
  AcpThoughtHeader = "Comment",
  AcpRule = "WinSeparator",
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
  AcpStatusInProgress = "DiagnosticInfo",
  AcpStatusCompleted = "DiagnosticOk",
  AcpStatusFailed = "DiagnosticError",
  AcpContextFull = "DiagnosticWarn",
  AcpUnread = "DiagnosticInfo",
  AcpPlanDone = "Comment",
  AcpPlanActive = "DiagnosticInfo",
  AcpDiffAdded = "Added",
  AcpDiffRemoved = "Removed",
  AcpDiffHeader = "Directory",
  AcpPermission = "DiagnosticWarn",
  AcpPermissionKey = "Special",
  AcpPermissionHidden = "DiagnosticWarn",
  AcpForm = "DiagnosticWarn",
  AcpFormField = "Identifier",
  AcpFormRequired = "DiagnosticWarn",
  AcpFormValue = "String",
  AcpFormProblem = "DiagnosticError",
  AcpFormKey = "Special",
  AcpFormHost = "DiagnosticOk",
  AcpPlaceholder = "NonText",
  AcpSuggestion = "NonText",
  AcpMention = "Special",
  AcpMentionRefused = "DiagnosticWarn",
  AcpFollowLine = "Visual",
  AcpFollowWindow = "WildMenu",
  AcpAgentSign = "DiagnosticInfo",
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
  AcpReviewComment = "DiagnosticInfo",
  AcpReviewGroup = "Title",
  AcpReviewUnknown = "DiagnosticWarn",
  AcpReviewSignAdd = "Added",
  AcpReviewSignChange = "Changed",
  AcpReviewSignDelete = "Removed",
  AcpReviewSignConflict = "DiagnosticWarn",
}

local defined = false

local function link_all()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { default = true, link = target })
  end
end

---Defines the groups once, and again after each colour scheme, which clears them. Each definition causes a redraw.
function M.define()
  if defined then
    return
  end
  defined = true
  link_all()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("acp_nvim.highlights", {}),
    callback = link_all,
  })
end

return M

-- The highlight groups, all of them links that a colour scheme may replace.
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
  AcpPlaceholder = "NonText",
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
  AcpReviewSignAdd = "Added",
  AcpReviewSignChange = "Changed",
  AcpReviewSignDelete = "Removed",
  AcpReviewSignConflict = "DiagnosticWarn",
}

function M.define()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { default = true, link = target })
  end
end

return M

-- The tool that lists the user's review comments on files of the session.
local comments = require("acp_nvim.review.comments")
local inside = require("acp_nvim.mcp.inside")
local lookup = require("acp_nvim.buffers.lookup")
local marks = require("acp_nvim.review.comments.marks")
local name_of = require("acp_nvim.kernel.relative_path")

local M = {}

local NONE = "The user has no review comments."

---@type acp.mcp.Tool
function M.list(args, answer)
  comments.restore()
  local lines = {}
  for _, comment in ipairs(comments.all()) do
    if inside(lookup.real(comment.path), args) then
      local place = ("%s:%d:1"):format(name_of(comment.path, args.cwd), comment.first)
      lines[#lines + 1] = vim.trim(("%s: %s %s"):format(place, comment.text, marks.range_words(comment)))
    end
  end
  answer({ lines = #lines > 0 and lines or { NONE } })
end

return M

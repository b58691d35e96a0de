-- Puts headers above blocks and colours them: extmarks only, no text.
local M = {}

local api = vim.api
local USER = api.nvim_create_namespace("acp_nvim.user")
local LOOKS = api.nvim_create_namespace("acp_nvim.looks")

---Headers of user messages are in a namespace of their own, to be found quickly.
---@param bufnr integer
---@param block acp.Block
---@param row integer of its first line
---@param agent? string
function M.header(bufnr, block, row, agent)
  local words, group = agent or "Agent", "AcpAgentHeader"
  if block.kind == "user" then
    words, group = "You", "AcpUserHeader"
  elseif block.kind == "thought" then
    words, group = "Thought", "AcpThoughtHeader"
  end
  api.nvim_buf_set_extmark(bufnr, block.kind == "user" and USER or LOOKS, row - 1, 0, {
    virt_text = { { words, group } },
    virt_text_pos = "overlay",
    virt_lines = row > 1 and { { { "" } } } or nil, -- air above the header
    virt_lines_above = true,
  })
end

---@param bufnr integer
---@param first integer row of the block's first line
---@param highlights acp.Highlight[]
function M.colour(bufnr, first, highlights)
  for _, highlight in ipairs(highlights) do
    local row = first + highlight.row
    if highlight.to == -1 then
      api.nvim_buf_set_extmark(bufnr, LOOKS, row, 0, { line_hl_group = highlight.group })
    elseif highlight.after then
      local virtual = { { highlight.after, highlight.group } }
      api.nvim_buf_set_extmark(bufnr, LOOKS, row, highlight.from, { virt_text = virtual, virt_text_pos = "inline" })
    else
      api.nvim_buf_set_extmark(bufnr, LOOKS, row, highlight.from, {
        end_col = highlight.to,
        hl_group = highlight.group,
        strict = false,
      })
    end
  end
end

---@param bufnr integer
---@param first integer row
---@param last integer row after the last
function M.strip(bufnr, first, last)
  api.nvim_buf_clear_namespace(bufnr, LOOKS, first, last)
end

---@param bufnr integer
function M.strip_all(bufnr)
  api.nvim_buf_clear_namespace(bufnr, LOOKS, 0, -1)
  api.nvim_buf_clear_namespace(bufnr, USER, 0, -1)
end

---Makes these lines the whole text of a buffer that the user cannot change.
---@param bufnr integer
---@param lines string[]
---@param highlights acp.Highlight[]
function M.fill(bufnr, lines, highlights)
  vim.bo[bufnr].modifiable = true
  M.strip_all(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  M.colour(bufnr, 0, highlights)
  vim.bo[bufnr].modifiable = false
end

---@param bufnr integer
---@param row integer
---@param backwards boolean
---@return integer? row of the next header of a user message
function M.user_message(bufnr, row, backwards)
  if backwards and row < 2 then
    return nil
  end
  local from, to = { row, 0 }, -1
  if backwards then
    from, to = { math.max(row - 2, 0), -1 }, 0
  end
  local marks = api.nvim_buf_get_extmarks(bufnr, USER, from, to, { limit = 1 })
  return marks[1] and marks[1][2]
end

return M

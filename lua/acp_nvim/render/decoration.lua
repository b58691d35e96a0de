-- Adds headers and highlights to blocks, as extmarks only.
local M = {}

local api = vim.api
local USER_HEADERS = api.nvim_create_namespace("acp_nvim.user")
local NAMESPACE = api.nvim_create_namespace("acp_nvim.looks")

---Adds a header above a block. Those of user messages have a separate namespace, to find them quickly.
---@param row integer of its first line
---@param agent? string
function M.header(bufnr, block, row, agent)
  local words, group = agent or "Agent", "AcpAgentHeader"
  if block.kind == "user" then
    words, group = "You", "AcpUserHeader"
  elseif block.kind == "thought" then
    words, group = "Thought", "AcpThoughtHeader"
  end
  api.nvim_buf_set_extmark(bufnr, block.kind == "user" and USER_HEADERS or NAMESPACE, row - 1, 0, {
    virt_text = { { words, group } },
    virt_text_pos = "overlay",
    virt_lines = row > 1 and { { { "" } } } or nil, -- space above the header
    virt_lines_above = true,
  })
end

---@param first integer row of the block's first line
---@param highlights acp.Highlight[]
function M.colour(bufnr, first, highlights)
  for _, highlight in ipairs(highlights) do
    local row = first + highlight.row
    if highlight.to == -1 then
      api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, 0, { line_hl_group = highlight.group })
    elseif highlight.after then
      local virtual = { { highlight.after, highlight.group } }
      api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, highlight.from, { virt_text = virtual, virt_text_pos = "inline" })
    else
      api.nvim_buf_set_extmark(bufnr, NAMESPACE, row, highlight.from, {
        end_col = highlight.to,
        hl_group = highlight.group,
        strict = false,
      })
    end
  end
end

---@param last integer row after the last
function M.strip(bufnr, first, last)
  api.nvim_buf_clear_namespace(bufnr, NAMESPACE, first, last)
end

function M.strip_all(bufnr)
  api.nvim_buf_clear_namespace(bufnr, NAMESPACE, 0, -1)
  api.nvim_buf_clear_namespace(bufnr, USER_HEADERS, 0, -1)
end

---Sets the whole text of a buffer, and makes the buffer unmodifiable.
---@param highlights acp.Highlight[]
function M.fill(bufnr, lines, highlights)
  vim.bo[bufnr].modifiable = true
  M.strip_all(bufnr)
  api.nvim_buf_set_lines(bufnr, 0, -1, true, lines)
  M.colour(bufnr, 0, highlights)
  vim.bo[bufnr].modifiable = false
end

---@return integer? row of the next header of a user message
function M.user_message(bufnr, row, backwards)
  if backwards and row < 2 then
    return nil
  end
  local from, to = { row, 0 }, -1
  if backwards then
    from, to = { math.max(row - 2, 0), -1 }, 0
  end
  local marks = api.nvim_buf_get_extmarks(bufnr, USER_HEADERS, from, to, { limit = 1 })
  return marks[1] and marks[1][2]
end

return M

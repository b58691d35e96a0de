-- Makes lines of a buffer other ones, where they differ and nowhere else: who reads there stays on their line.
local limits = require("acp_nvim.limits")

local api = vim.api
local HUNKS = 50 -- of a text of the chat that is replaced: with more changes it is another text

---@param old string[]
---@param new string[]
---@return integer head lines that both begin with
---@return integer tail lines that both end with
local function common(old, new)
  local shorter = math.min(#old, #new)
  local head = 0
  while head < shorter and old[head + 1] == new[head + 1] do
    head = head + 1
  end
  local tail = 0
  while tail < shorter - head and old[#old - tail] == new[#new - tail] do
    tail = tail + 1
  end
  return head, tail
end

---@param old string[]
---@param new string[]
---@return integer[][] hunks as vim.diff gives them: start and count in old, start and count in new
local function hunks_of(old, new)
  local before, after = table.concat(old, "\n") .. "\n", table.concat(new, "\n") .. "\n"
  if #old > 0 and #new > 0 and #before + #after <= limits.diff_bytes then
    local hunks = vim.diff(before, after, { result_type = "indices" }) --[[@as integer[][] ]]
    if #hunks <= HUNKS then
      return hunks
    end
  end
  return { { #old > 0 and 1 or 0, #old, #new > 0 and 1 or 0, #new } }
end

---@param bufnr integer
---@param first integer row of the first of the old lines
---@param old string[]
---@param new string[]
return function(bufnr, first, old, new)
  local head, tail = common(old, new)
  if head == #old and head == #new then
    return
  end
  local was, is = vim.list_slice(old, head + 1, #old - tail), vim.list_slice(new, head + 1, #new - tail)
  local hunks = hunks_of(was, is)
  for index = #hunks, 1, -1 do
    local from, count, to_from, to_count = unpack(hunks[index])
    local row = first + head + (count == 0 and from or from - 1)
    api.nvim_buf_set_lines(bufnr, row, row + count, true, vim.list_slice(is, to_from, to_from + to_count - 1))
  end
end

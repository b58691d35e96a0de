-- Fills a quickfix list with the hunks under review; those of files that have no buffer come when the host has told them.
local entry = require("acp_nvim.review.entry")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")

local M = {}

local QUICKFIX_BYTES = 200 -- of the text of one hunk in the quickfix list: more than a line of the screen

---@type integer? id of the list
local list
---@type table<string, true> files whose hunks are still to come
local missing = {}

---@param review acp.Review
---@return string
local function whose(review)
  local words = entry.WHOSE[review.by]
  return words and words .. ": " or ""
end

---@param review acp.Review
---@param hunk acp.HunkPlace|acp.ReviewHunk
---@param lines string[] the new ones
---@return string
local function text_of(review, hunk, lines)
  local shown = lines[1] or hunk.old[1] or ""
  local counts = entry.text(entry.counts({ added = hunk.count, removed = #hunk.old }))
  local what = hunk.by == "conflict" and "conflict" or counts
  local text = whose(review) .. vim.trim(what .. " " .. vim.trim(shown))
  return text:sub(1, QUICKFIX_BYTES + vim.str_utf_end(text, math.min(#text, QUICKFIX_BYTES)))
end

---@param review acp.Review
---@param bufnr? integer nil: the hunks are where the host has told
---@return table[] items
local function of_hunks(review, bufnr)
  return vim.tbl_map(function(hunk)
    local row, lines, last = hunk.row or hunk.first, {}, math.huge
    if bufnr then
      lines = vim.api.nvim_buf_get_lines(bufnr, row, row + math.min(hunk.count, 1), false)
      last = vim.api.nvim_buf_line_count(bufnr)
    end
    local text = text_of(review, hunk, lines)
    return { filename = review.path, lnum = math.min(row + 1, last), text = text, user_data = review.path }
  end, bufnr and files.hunks(bufnr) or review.hunks or {})
end

---@param review acp.Review
---@return table[] items
local function of_file(review)
  local is_there = review.operation ~= "delete"
  local bufnr = is_there and lookup.find(review.path) or nil
  local items = is_there and of_hunks(review, bufnr) or {}
  if #items > 0 then
    return items
  elseif is_there and not review.hunks then
    missing[review.path] = true
  end
  local words = whose(review) .. entry.text(vim.list_extend({ entry.letter(review) }, entry.counts(review)))
  local note = review.note and "  " .. review.note or ""
  if not is_there then -- nothing to go to
    return { { text = words .. "  " .. vim.fn.fnamemodify(review.path, ":."), valid = 0 } }
  end
  return { { filename = review.path, lnum = 1, text = words .. note, user_data = review.path } }
end

---@return table[] items
local function items()
  local out = {}
  for _, review in ipairs(files.to_review()) do
    vim.list_extend(out, of_file(review))
  end
  return out
end

---The line of a file becomes its hunks; all others, and the place in the list, stay.
---@param path string
local function told(path)
  local review = files.get(path)
  if not missing[path] or not review or not review.hunks then
    return
  end
  missing[path] = nil
  local what = vim.fn.getqflist({ id = list, items = 1, idx = 0 })
  local out, at = {}, what.idx
  for index, item in ipairs(what.items or {}) do
    if item.user_data ~= path then
      table.insert(out, item)
    else
      local mine = of_file(review)
      vim.list_extend(out, mine)
      at = index < what.idx and at + #mine - 1 or at
    end
  end
  if #out > 0 then
    vim.fn.setqflist({}, "r", { id = list, items = out, idx = at })
  end
end

---Makes the list of all files under review, and opens its window.
function M.open()
  missing = {}
  vim.fn.setqflist({}, " ", { title = "acp review", items = items() })
  list = vim.fn.getqflist({ id = 0 }).id
  for path in pairs(missing) do
    host.send("review_open", { path = path })
  end
  vim.cmd("botright copen")
end

files.on_change(told)

return M

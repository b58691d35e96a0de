-- Fills a quickfix list with the hunks under review. Unknown hunks are requested from the host, and added later.
local comments = require("acp_nvim.review.comments")
local entry = require("acp_nvim.render.file_changes")
local files = require("acp_nvim.review.files")
local host = require("acp_nvim.host")
local lookup = require("acp_nvim.buffers.lookup")
local marks = require("acp_nvim.review.comments.marks")

local M = {}

local QUICKFIX_BYTES = 200 -- of the text of one hunk: more than a line of the screen

---@type integer? id of the list
local list
---@type table<string, true> files whose hunks were requested
local missing = {}

local function whose(review)
  local words = entry.WHOSE[review.by]
  return words and words .. ": " or ""
end

---@param bufnr? integer nil: the rows of the hunks are those that the host sent
---@return table[] items
local function of_hunks(review, bufnr)
  return vim.tbl_map(function(hunk)
    local row, line, last = hunk.row or hunk.first, nil, math.huge
    if bufnr then
      line = vim.api.nvim_buf_get_lines(bufnr, row, row + math.min(hunk.count, 1), false)[1]
      last = vim.api.nvim_buf_line_count(bufnr)
    end
    local counts = entry.text(entry.counts({ added = hunk.count, removed = #hunk.old }))
    local what = hunk.by == "conflict" and "conflict" or counts
    local text = whose(review) .. vim.trim(what .. " " .. vim.trim(line or hunk.old[1] or ""))
    text = text:sub(1, QUICKFIX_BYTES + vim.str_utf_end(text, math.min(#text, QUICKFIX_BYTES)))
    return { filename = review.path, lnum = math.min(row + 1, last), text = text, user_data = review.path }
  end, bufnr and files.hunks(bufnr) or review.hunks or {})
end

---@return table[] items
local function of_file(review)
  local words = whose(review) .. entry.text(vim.list_extend({ entry.letter(review) }, entry.counts(review)))
  if review.operation == "delete" or entry.is_directory(review) then -- nothing to jump to
    return { { text = words .. "  " .. entry.short(review), valid = 0 } }
  end
  local items = of_hunks(review, lookup.find(review.path))
  if #items > 0 then
    return items
  elseif not review.hunks then
    missing[review.path] = true
  end
  local note = review.note and "  " .. review.note or ""
  return { { filename = review.path, lnum = 1, text = words .. note, user_data = review.path } }
end

---Replaces the item of a file by its hunks. The other items and the current position stay.
local function add_hunks(path)
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

---Creates the list of all hunks under review, and opens its window.
function M.open()
  missing = {}
  local items = {}
  for _, review in ipairs(files.to_review()) do
    vim.list_extend(items, of_file(review))
  end
  vim.fn.setqflist({}, " ", { title = "acp review", items = items })
  list = vim.fn.getqflist({ id = 0 }).id
  for path in pairs(missing) do
    host.send("review_open", { path = path })
  end
  vim.cmd("botright copen")
end

---Creates the list of all comments, and opens its window.
function M.open_comments()
  local items = vim.tbl_map(function(comment)
    local text = vim.trim(("%s %s"):format(comment.text, comment.is_gone and marks.range_words(comment) or ""))
    return { filename = comment.path, lnum = comment.first, end_lnum = comment.last, text = text }
  end, comments.all())
  vim.fn.setqflist({}, " ", { title = "acp comments", items = items })
  vim.cmd("botright copen")
end

files.on_change(add_hunks)

return M

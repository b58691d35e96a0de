-- Says what stands in the place of a closed fold of the chat.
local sessions = require("acp_nvim.sessions")
local transcript = require("acp_nvim.chat.transcript")

local api = vim.api

---@param text string
---@param room integer cells
---@return string
local function shortened(text, room)
  text = text:sub(1, 4 * math.max(room, 1))
  while vim.fn.strdisplaywidth(text) > room and text ~= "" do
    text = vim.fn.strcharpart(text, 0, vim.fn.strcharlen(text) - math.max(1, vim.fn.strdisplaywidth(text) - room))
  end
  return text
end

---@param count integer
---@return string
local function lines_words(count)
  return ("  %d line%s"):format(count, count == 1 and "" or "s")
end

---@return string[][]|nil chunks nil when no block begins there
local function chunks_of_fold()
  local session = sessions.of_buffer(api.nvim_get_current_buf())
  local block = session and transcript.block_at(session, vim.v.foldstart - 1)
  local count = lines_words(vim.v.foldend - vim.v.foldstart + 1)
  local room = api.nvim_win_get_width(0) - #count - 2
  if block and block.kind == "tool_call" and block.head then
    local chunks = vim.list_extend({}, block.head.before)
    local marks = vim.iter(block.head.before):fold(0, function(sum, chunk)
      return sum + vim.fn.strdisplaywidth(chunk[1])
    end)
    local behind = vim.iter(block.head.after):fold(0, function(sum, chunk)
      return sum + vim.fn.strdisplaywidth(chunk[1])
    end)
    table.insert(chunks, { shortened(block.head.title, math.max(room - marks - behind, 10)), "AcpToolTitle" })
    vim.list_extend(chunks, block.head.after)
    table.insert(chunks, { count, "AcpToolDetail" })
    return chunks
  elseif block and block.kind == "thought" then
    local line = api.nvim_buf_get_lines(0, vim.v.foldstart - 1, vim.v.foldstart, false)[1] or ""
    return {
      { "▸ ", "AcpToolDetail" },
      { shortened(line, room - 2) .. " …", "AcpThought" },
      { count, "AcpToolDetail" },
    }
  end
end

---What stands in the place of a closed fold, for 'foldtext'. The chat looks the same there as elsewhere: a group below
---each piece, to the edge of the window, says so; 'winhighlight' would say it as well, but costs much at each redraw.
---@return table[]|string
return function()
  local chunks = chunks_of_fold()
  if not chunks then
    return vim.fn.foldtext()
  end
  for index, chunk in ipairs(chunks) do
    chunks[index] = { chunk[1], { "AcpFold", chunk[2] } }
  end
  chunks[#chunks + 1] = { (" "):rep(api.nvim_win_get_width(0)), "AcpFold" }
  return chunks
end

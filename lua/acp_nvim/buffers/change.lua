-- Makes a change of a buffer that the host has sent.
local hunks = require("acp_nvim.buffers.hunks")
local pending = require("acp_nvim.buffers.pending")
local text = require("acp_nvim.buffers.text")

local M = {}

---@class acp.TextChange either the whole text, or the lines that take the place of some (of text in Neovim's lines)
---@field text? string
---@field first? integer lines before the changed ones
---@field count? integer lines that are replaced
---@field lines? string[] what takes their place

---@param bufnr integer
---@param change acp.TextChange
---@param is_read? boolean the file has the text already
function M.apply(bufnr, change, is_read)
  pending.with_selection(bufnr, function()
    if change.lines then
      return hunks.apply_range(bufnr, change.first, change.count, change.lines)
    end
    local lines, shape = text.take_apart(bufnr, change.text)
    hunks.apply(bufnr, lines)
    text.set_shape(bufnr, shape, is_read)
  end)
end

---@class acp.BufferWrite
---@field state? string of the buffer after it
---@field text? string what it has then, when that is not what was asked for
---@field stale? boolean somebody has changed the file when it was saved, a formatter for example
---@field torn? boolean the file is half written, and the host is to mend it
---@field changed? boolean the buffer or the file was in another state, and nothing was done
---@field busy? boolean the user is in the middle of a command, and nothing was done
---@field error? string why nothing was done

---@param err any why a buffer could not be changed
---@return acp.BufferWrite
function M.refusal(err)
  local is_text_lock = tostring(err):find("E565", 1, true) ~= nil -- it passes by itself
  return { busy = is_text_lock, error = not is_text_lock and ("the buffer takes no text: " .. tostring(err)) or nil }
end

return M

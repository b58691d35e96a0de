-- Tells at the end of each batch which blocks of a chat have new lines or were drawn again.
local block_rows = require("acp_nvim.chat.block_rows")

local M = {}

---@alias acp.ChangeListener fun(session: acp.Session, block: acp.Block, first: integer, last: integer)

---@type acp.ChangeListener[]
local listeners = {}
---@alias acp.ChangesListener fun(session: acp.Session, blocks: table<acp.Block, boolean>, following: integer[])

---@type acp.ChangesListener[]
local batch_listeners = {}

---Says which block changed, and its first and last row.
---@param listener acp.ChangeListener
function M.on_change(listener)
  table.insert(listeners, listener)
end

---Says the same once for all blocks of a chat, after the listeners above; and the windows that will go to its end.
---@param listener acp.ChangesListener
function M.on_changes(listener)
  table.insert(batch_listeners, listener)
end

---@param transcript acp.Transcript
---@param following integer[]
function M.tell(transcript, following)
  local changed = transcript.changed
  transcript.changed = {}
  for block in pairs(#listeners > 0 and changed or {}) do
    local first, last = block_rows.first(transcript, block), block_rows.after(transcript, block) - 1
    for _, listener in ipairs(listeners) do
      listener(transcript.session, block, first, last)
    end
  end
  for _, listener in ipairs(next(changed) and batch_listeners or {}) do
    listener(transcript.session, changed, following)
  end
end

return M

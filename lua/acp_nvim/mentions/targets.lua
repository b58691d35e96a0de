-- Resolves mentions to context items.
local code = require("acp_nvim.mentions.code")
local context = require("acp_nvim.mentions.context")
local limits = require("acp_nvim.limits")
local places = require("acp_nvim.mentions.places")
local symbols = require("acp_nvim.mentions.symbols")
local words = require("acp_nvim.mentions.words")

local M = {}

local api = vim.api

---@class acp.MentionTarget
---@field problem? string reason why the prompt must not be sent
---@field take fun(done: fun(items: acp.ContextItem[])) creates the context items and calls `done` once

---@param ... acp.ContextItem?
---@return acp.MentionTarget? nil without items
local function ready(...)
  local items = { ... }
  return #items > 0 and {
    take = function(done)
      done(items)
    end,
  } or nil
end

---@param reading acp.Reading
---@return acp.MentionTarget?
local function buffer_target(bufnr, reading, cwd, is_on_disk)
  local count = api.nvim_buf_line_count(bufnr)
  if reading.first then
    local first, last = math.max(reading.first, 1), math.min(reading.last, count)
    return first <= count and ready(context.lines(bufnr, first, last, cwd)) or nil
  end
  local size = api.nvim_buf_get_offset(bufnr, count)
  local on_disk = is_on_disk and not vim.bo[bufnr].modified
  if size <= limits.mention_bytes then
    return {
      take = function(done)
        done({ context.buffer(bufnr, cwd, on_disk) })
      end,
    }
  elseif on_disk then
    return ready(context.link(api.nvim_buf_get_name(bufnr), cwd))
  end
  local problem = "@%s has unsaved text of %.1f MB, which is too much for a prompt: write it, or mention lines of it"
  return { problem = problem:format(reading.text, size / (1024 * 1024)) }
end

---@return acp.MentionTarget
local function image_target(session, path)
  local takes = session.status.takes
  if takes and not takes.image then
    local name = vim.fs.basename(path)
    local no = "%s takes no images: take @%s out, or write it without the @"
    return { problem = no:format(session.agent or "the agent", name) }
  end
  return ready(context.image(path, session.cwd)) --[[@as acp.MentionTarget]]
end

---@param reading acp.Reading
---@param place acp.MentionPlace
---@return acp.MentionTarget?
local function place_target(session, reading, place)
  local cwd = session.cwd
  if place.bufnr and api.nvim_buf_is_loaded(place.bufnr) then
    return buffer_target(place.bufnr, reading, cwd, place.real ~= nil)
  elseif place.kind == "directory" and not reading.first then
    return ready(context.link(place.path, cwd))
  elseif place.kind ~= "file" then
    return nil
  elseif not reading.first and context.image_type(place.path) then
    return image_target(session, place.path)
  end
  return ready(context.file(place.path, cwd, reading.first and math.max(reading.first, 1), reading.last))
end

---@type table<string, fun(session: acp.Session): acp.MentionTarget?>
local of_words = {
  selection = function(session)
    return ready(words.selection(session.cwd))
  end,
  diagnostics = function(session)
    return ready(words.diagnostics(session.cwd, false))
  end,
  ["diagnostics:workspace"] = function(session)
    return ready(words.diagnostics(session.cwd, true))
  end,
  quickfix = function(session)
    return ready(words.quickfix(session.cwd))
  end,
  diff = function(session)
    return words.has_git(session.cwd)
        and {
          take = function(done)
            words.diff(session.cwd, function(item)
              done({ item })
            end)
          end,
        }
      or nil
  end,
}

---@param done fun(target?: acp.MentionTarget)
local function symbol_target(session, name, done)
  symbols.find(name, function(found)
    done(ready(unpack(vim.tbl_map(function(symbol)
      local item = context.lines(symbol.bufnr, symbol.first, symbol.last, session.cwd)
      item.name = ("%s (%s)"):format(item.name, symbol.name)
      return item
    end, found))))
  end)
end

---@param reading acp.Reading
---@param done fun(target?: acp.MentionTarget) called once; nil: the reading names nothing
function M.find(session, reading, done)
  local text = reading.text
  local of_word = not reading.quoted and not reading.first and of_words[text]
  local symbol = not reading.quoted and not reading.first and text:match("^symbol:(.+)$")
  local number = not reading.quoted and tonumber(text:match("^buffer:(%d+)$"))
  if of_word then
    done(of_word(session))
  elseif symbol then
    symbol_target(session, symbol, done)
  elseif number and api.nvim_buf_is_valid(number) and code.is_code(number) then
    done(buffer_target(number, reading, session.cwd, false))
  elseif not text:find("[%w\128-\255]") or text:find("%z") then
    done(nil)
  else
    places.find_around(text, session.cwd, function(place)
      done(place and place_target(session, reading, place))
    end)
  end
end

return M

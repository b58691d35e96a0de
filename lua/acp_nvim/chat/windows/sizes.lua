-- Remembers how large the user has made the chat, in this Neovim and in those that come after it.
local config = require("acp_nvim.config")
local log = require("acp_nvim.log")
local state_files = require("acp_nvim.health.state_files")

local M = {}

---@class acp.KeptSize
---@field cells integer
---@field of integer cells that the screen had
---@field asked? number what the options asked for: when that is another now, this counts no more

---@type table<string, acp.KeptSize>? by position
local kept
local is_new = false

---@return string
local function file()
  return vim.fs.joinpath(state_files.root(), "windows.json")
end

---@return table<string, acp.KeptSize>
local function read()
  if not kept then
    local ok, value = pcall(function()
      return vim.json.decode(state_files.read(file()) or "")
    end)
    kept = ok and type(value) == "table" and value or {}
  end
  return kept
end

---Which of the two sizes a position has.
---@param position string
---@return "width"|"height"
function M.axis(position)
  return position == "bottom" and "height" or "width"
end

---@param position string
---@param all integer cells of the screen
---@return integer? cells
function M.kept(position, all)
  local one = read()[position]
  local is_sound = type(one) == "table" and type(one.cells) == "number" and type(one.of) == "number" and one.of > 0
  if not is_sound or one.asked ~= config.get().ui[M.axis(position)] then
    return nil
  end
  return all == one.of and one.cells or math.floor(one.cells * all / one.of + 0.5)
end

---@param position string
---@param cells integer
---@param all integer
function M.keep(position, cells, all)
  read()[position] = { cells = cells, of = all, asked = config.get().ui[M.axis(position)] }
  is_new = true
end

---Writes what is new; another Neovim may have written other positions meanwhile.
function M.write()
  if not is_new then
    return
  end
  local mine = read()
  kept = nil
  mine = vim.tbl_extend("force", read(), mine)
  kept, is_new = mine, false
  local problem = state_files.replace(file(), vim.json.encode(mine) .. "\n")
  if problem then
    log.write("the sizes of windows could not be kept: " .. problem)
  end
end

return M

-- Stores the size that the user has given to the chat, for this Neovim and later ones.
local config = require("acp_nvim.config")
local log = require("acp_nvim.kernel.log")
local state_files = require("acp_nvim.kernel.state_files")

local M = {}

---@class acp.KeptSize
---@field cells integer
---@field of integer cells of the screen
---@field asked? number the option's value; when it has changed, this size is ignored

---@type table<string, acp.KeptSize>? by position
local kept
local is_new = false

local function file()
  return vim.fs.joinpath(state_files.root(), "windows.json")
end

local function read()
  if not kept then
    local ok, value = pcall(function()
      return vim.json.decode(state_files.read(file()) or "")
    end)
    kept = ok and type(value) == "table" and value or {}
  end
  return kept
end

---Returns the dimension that can be resized at a position.
---@return "width"|"height"
function M.axis(position)
  return position == "bottom" and "height" or "width"
end

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

function M.keep(position, cells, all)
  read()[position] = { cells = cells, of = all, asked = config.get().ui[M.axis(position)] }
  is_new = true
end

---Writes new sizes to the file, keeping those of other positions that another Neovim has written.
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
    log.write("cannot store the sizes of windows: " .. problem)
  end
end

return M

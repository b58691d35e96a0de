-- Defines the highlight groups of changed text: backgrounds derived from the colour scheme, below the syntax colours.
local M = {}

---Share of a foreground mixed into the background where the colour scheme defines no background.
local FAINT, STRONG = 0.22, 0.45
local DARK, LIGHT = 0x14161b, 0xe0e2ea

---@class acp.Tint
---@field of string[] groups to take the colour from: the first that has one
---@field part number share of their foreground, used when they have no background
---@field stronger? boolean make it differ from the group's own background, which another tint uses

---@type table<string, acp.Tint>
local TINTS = {
  AcpReviewAdd = { of = { "DiffAdd", "Added" }, part = FAINT },
  AcpReviewAddText = { of = { "DiffText", "DiffAdd" }, part = STRONG },
  AcpReviewChange = { of = { "DiffChange", "Changed" }, part = FAINT },
  AcpReviewDelete = { of = { "DiffDelete", "Removed" }, part = FAINT },
  AcpReviewDeleteText = { of = { "DiffDelete", "Removed" }, part = STRONG, stronger = true },
  AcpConflictMine = { of = { "DiagnosticWarn" }, part = FAINT },
  AcpConflictTheirs = { of = { "DiagnosticInfo" }, part = FAINT },
}

local function attributes(group)
  return vim.api.nvim_get_hl(0, { name = group, link = false })
end

---@param over integer RGB
---@param under integer RGB
---@param part number of `over`
---@return integer RGB
local function mixed(over, under, part)
  local out = 0
  for _, unit in ipairs({ 0x10000, 0x100, 1 }) do
    local a, b = math.floor(over / unit) % 256, math.floor(under / unit) % 256
    out = out + math.floor(a * part + b * (1 - part) + 0.5) * unit
  end
  return out
end

---@return integer RGB foreground
---@return integer RGB background
local function normal()
  local has, is_light = attributes("Normal"), vim.o.background == "light"
  return has.fg or (is_light and DARK or LIGHT), has.bg or (is_light and LIGHT or DARK)
end

---A reversed group paints its foreground; as a background under other colours that would be too much of it.
---@return integer? RGB
local function gui(tint)
  local foreground, background = normal()
  for _, group in ipairs(tint.of) do
    local has = attributes(group)
    if has.bg and not has.reverse then
      return tint.stronger and mixed(foreground, has.bg, FAINT) or has.bg
    elseif has.fg then
      return mixed(has.fg, background, tint.part)
    end
  end
end

---Terminals of few colours: their backgrounds need the foreground that goes with them.
---@return integer? foreground
---@return integer? background
local function cterm(tint)
  for _, group in ipairs(tint.of) do
    local has = attributes(group)
    if has.ctermbg then
      return has.ctermfg, has.ctermbg
    elseif has.ctermfg then
      return 0, has.ctermfg
    end
  end
end

function M.define()
  for group, tint in pairs(TINTS) do
    local ctermfg, ctermbg = cterm(tint)
    local bold = tint.part == STRONG or nil
    vim.api.nvim_set_hl(0, group, { default = true, bg = gui(tint), ctermfg = ctermfg, ctermbg = ctermbg, bold = bold })
  end
end

return M

-- The colours of changed text: backgrounds alone, made of the colour scheme's own, so that the syntax is seen on them.
local M = {}

---How much of a colour is mixed into the background, where the scheme has a foreground only.
local FAINT, STRONG = 0.22, 0.45
local DARK, LIGHT = 0x14161b, 0xe0e2ea

---@class acp.Tint
---@field of string[] groups whose colour it is, the first that has one
---@field part number of their foreground that is mixed in, when there is no background
---@field stronger? boolean than the background of the group, which another tint has

---@type table<string, acp.Tint>
M.tints = {
  AcpReviewAdd = { of = { "DiffAdd", "Added" }, part = FAINT },
  AcpReviewAddText = { of = { "DiffText", "DiffAdd" }, part = STRONG },
  AcpReviewChange = { of = { "DiffChange", "Changed" }, part = FAINT },
  AcpReviewDelete = { of = { "DiffDelete", "Removed" }, part = FAINT },
  AcpReviewDeleteText = { of = { "DiffDelete", "Removed" }, part = STRONG, stronger = true },
  AcpConflictMine = { of = { "DiagnosticWarn" }, part = FAINT },
  AcpConflictTheirs = { of = { "DiagnosticInfo" }, part = FAINT },
}

---@param group string
---@return vim.api.keyset.get_hl_info
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
---@param tint acp.Tint
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
---@param tint acp.Tint
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
  for group, tint in pairs(M.tints) do
    local ctermfg, ctermbg = cterm(tint)
    local bold = tint.part == STRONG or nil
    vim.api.nvim_set_hl(0, group, { default = true, bg = gui(tint), ctermfg = ctermfg, ctermbg = ctermbg, bold = bold })
  end
end

return M

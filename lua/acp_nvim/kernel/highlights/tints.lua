-- Computes the backgrounds of changed text from the colour scheme, so that syntax colours stay readable on them.
local M = {}

local READABLE = 4.5 -- contrast of text with its background: WCAG 2.2, 1.4.3
local ALMOST = 4.3 -- contrast on the scheme's own background from which text has to be READABLE on ours, too
local KEPT = 0.85 -- share of its contrast that any other text keeps: colour schemes may have faint comments
local STRONG, FAINT, LEAST = 0.45, 0.22, 0.12 -- shares of a colour in a background
local LINE = 0.65 -- share in the background of a line, relative to that of words
local CTERM_STRONG, CTERM_FAINT = 0.45, 0.3 -- the same; the 256 colours have no fainter ones
local DARK, LIGHT = 0x14161b, 0xe0e2ea
local GREY = 24 -- difference between the parts of a colour below which it has no hue

---@class acp.Tint
---@field of string[] groups to take the colour from: the first that has one
---@field is_line? boolean below whole lines; else below words, which are also bold
---@field stronger? boolean make it differ from the group's own background, which another tint uses

---@type table<string, acp.Tint>
M.tints = {
  AcpReviewAdd = { of = { "DiffAdd", "Added" }, is_line = true },
  AcpReviewAddText = { of = { "DiffText", "DiffAdd" } },
  AcpReviewChange = { of = { "DiffChange", "Changed" }, is_line = true },
  AcpReviewDelete = { of = { "DiffDelete", "Removed" }, is_line = true },
  AcpReviewDeleteText = { of = { "DiffDelete", "Removed" }, stronger = true },
  AcpConflictMine = { of = { "DiagnosticWarn" }, is_line = true },
  AcpConflictTheirs = { of = { "DiagnosticInfo" }, is_line = true },
  AcpFollowLine = { of = { "DiagnosticHint" }, is_line = true },
}

-- Groups of text on these backgrounds: what 'syntax' and tree-sitter's groups are linked to, and our hints.
local TEXT = vim.split(
  "Normal Comment Constant String Number Identifier Function Statement Operator Type PreProc Special Delimiter "
    .. "Title Added Changed Removed DiagnosticError DiagnosticWarn DiagnosticInfo DiagnosticHint",
  " "
)

local function attributes(group)
  return vim.api.nvim_get_hl(0, { name = group, link = false })
end

---@param colour integer RGB
---@return integer, integer, integer
local function parts(colour)
  return math.floor(colour / 0x10000) % 256, math.floor(colour / 0x100) % 256, colour % 256
end

---@param over integer RGB
---@param under integer RGB
---@param share number of `over`
---@return integer RGB
local function mixed(over, under, share)
  local out = 0
  for _, unit in ipairs({ 0x10000, 0x100, 1 }) do
    local a, b = math.floor(over / unit) % 256, math.floor(under / unit) % 256
    out = out + math.floor(a * share + b * (1 - share) + 0.5) * unit
  end
  return out
end

---@param colour integer RGB
---@return number relative luminance, from 0 to 1
local function luminance(colour)
  local sum, weights = 0, { 0.2126, 0.7152, 0.0722 }
  for index, value in ipairs({ parts(colour) }) do
    local share = value / 255
    sum = sum + weights[index] * (share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4)
  end
  return sum
end

local function contrast(one, other)
  return (math.max(one, other) + 0.05) / (math.min(one, other) + 0.05)
end

---@return integer RGB foreground
---@return integer RGB background
local function normal()
  local has, is_light = attributes("Normal"), vim.o.background == "light"
  return has.fg or (is_light and DARK or LIGHT), has.bg or (is_light and LIGHT or DARK)
end

---@class acp.TintScheme what the colours are computed from
---@field foreground integer RGB
---@field background integer RGB
---@field extreme integer RGB white or black
---@field text { luminance: number, least: number }[] least contrast of each colour of text
---@field is_default boolean Neovim's own colours, which we replace where they are not readable

---@return acp.TintScheme
local function scheme()
  local foreground, background = normal()
  local text, seen, on = {}, {}, luminance(background)
  for _, group in ipairs(TEXT) do
    local colour = attributes(group).fg or foreground
    if not seen[colour] then
      seen[colour] = true
      local own = luminance(colour)
      local now = contrast(own, on)
      text[#text + 1] = { luminance = own, least = now >= ALMOST and READABLE or now * KEPT }
    end
  end
  local extreme = vim.o.background == "light" and 0xffffff or 0
  local is_default = vim.g.colors_name == nil or vim.g.colors_name == "default"
  return { foreground = foreground, background = background, extreme = extreme, text = text, is_default = is_default }
end

---@param from acp.TintScheme
---@param colour integer RGB
local function is_readable_on(from, colour)
  local on = luminance(colour)
  for _, text in ipairs(from.text) do
    if contrast(text.luminance, on) < text.least then
      return false
    end
  end
  return true
end

---@param colour integer RGB
---@return integer? RGB of the same hue, as saturated as possible; nil: it is grey
local function vivid(colour)
  local red, green, blue = parts(colour)
  local least, most = math.min(red, green, blue), math.max(red, green, blue)
  if most - least < GREY then
    return nil
  end
  local out = 0
  for _, value in ipairs({ red, green, blue }) do
    out = out * 256 + math.floor((value - least) * 255 / (most - least) + 0.5)
  end
  return out
end

---@return integer? RGB the first colour with a hue, else the first one. A reversed group paints its foreground.
local function hue_of(tint)
  local grey
  for _, group in ipairs(tint.of) do
    local has = attributes(group)
    local colour = not has.reverse and has.bg or has.fg
    local hue = colour and vivid(colour)
    if hue then
      return hue
    end
    grey = grey or colour
  end
  return grey
end

---Mixes as much as possible of the colour into the background, and as much white or black as that needs.
---@param from acp.TintScheme
---@param hue integer RGB
---@param is_line? boolean
---@return integer RGB
local function derived(from, hue, is_line)
  local base
  for quarters = 0, 4 do
    base = mixed(from.extreme, from.background, quarters / 4)
    for share = STRONG, LEAST, -0.03 do
      if is_readable_on(from, mixed(hue, base, share)) then
        return mixed(hue, base, is_line and share * LINE or share)
      end
    end
  end
  return mixed(hue, base, is_line and LEAST * LINE or LEAST)
end

---@param from acp.TintScheme
---@param tint acp.Tint
---@return integer? RGB
local function gui(from, tint)
  for _, group in ipairs(tint.of) do
    local has = attributes(group)
    if has.bg and not has.reverse then
      local own = tint.stronger and mixed(from.foreground, has.bg, FAINT) or has.bg
      if not from.is_default or is_readable_on(from, own) then
        return own
      end
    end
    if has.bg or has.fg then
      break
    end
  end
  local hue = hue_of(tint)
  return hue and derived(from, hue, tint.is_line)
end

---@param value integer
---@return integer index of the nearest of the six steps of a colour
---@return integer that step
local function step(value)
  local best, least = 0, math.huge
  for index, one in ipairs({ 0, 95, 135, 175, 215, 255 }) do
    if math.abs(value - one) < least then
      best, least = index - 1, math.abs(value - one)
    end
  end
  return best, best == 0 and 0 or 55 + 40 * best
end

---@param colour integer RGB
---@return integer index of the nearest one of 256 colours
local function of_256(colour)
  local red, green, blue = parts(colour)
  local grey = math.min(math.max(math.floor(((red + green + blue) / 3 - 8) / 10 + 0.5), 0), 23)
  local r, near_red = step(red)
  local g, near_green = step(green)
  local b, near_blue = step(blue)
  local function distance(to_red, to_green, to_blue)
    return (red - to_red) ^ 2 + (green - to_green) ^ 2 + (blue - to_blue) ^ 2
  end
  local level = 8 + 10 * grey
  local is_grey = distance(level, level, level) < distance(near_red, near_green, near_blue)
  return is_grey and 232 + grey or 16 + 36 * r + 6 * g + b
end

---@return boolean a terminal has fewer than 256 colours
local function has_few_colours()
  for _, ui in ipairs(vim.api.nvim_list_uis()) do
    if (ui.term_colors or 0) > 0 and ui.term_colors < 256 then
      return true
    end
  end
  return false
end

---Without RGB colours syntax has the terminal's 16 colours, which are not known. The background is one of the 256 that are.
---Where there are fewer, it is one of the 16, with the foreground that goes with it.
---@param from acp.TintScheme
---@param tint acp.Tint
---@return integer? foreground
---@return integer? background
local function cterm(from, tint)
  local hue = hue_of(tint)
  if hue and not has_few_colours() then
    return nil, of_256(mixed(hue, from.extreme, tint.is_line and CTERM_FAINT or CTERM_STRONG))
  end
  for _, group in ipairs(tint.of) do
    local has = attributes(group)
    if has.ctermbg then
      return has.ctermfg, has.ctermbg
    elseif has.ctermfg then
      return 0, has.ctermfg
    end
  end
end

---@return table<string, vim.api.keyset.highlight> definitions of the groups for the present colour scheme
function M.definitions()
  local from, out = scheme(), {}
  for group, tint in pairs(M.tints) do
    local ctermfg, ctermbg = cterm(from, tint)
    out[group] = { bg = gui(from, tint), ctermfg = ctermfg, ctermbg = ctermbg, bold = not tint.is_line or nil }
  end
  return out
end

return M

-- Checks the icons in a user's table: which there are, and that they are short.
local icons = require("acp_nvim.chat.icon_names")
local nearest = require("acp_nvim.config.nearest")

---@param value any
---@param problems string[] more are added
---@return table<string, string>
return function(value, problems)
  local good = {}
  if type(value) ~= "table" then
    problems[#problems + 1] = ("ui.icons: must be a table, not a %s"):format(type(value))
    return good
  end
  local names = vim.tbl_keys(icons)
  for name, icon in pairs(value) do
    local is_icon = type(icon) == "string" and icon ~= "" and not icon:find("%c")
    if not icons[name] then
      local near = nearest(tostring(name), names)
      local hint = near and ("; did you mean %q?"):format(near) or ""
      problems[#problems + 1] = ("ui.icons.%s: no such icon%s"):format(tostring(name), hint)
    elseif not is_icon or vim.fn.strdisplaywidth(icon) > 2 then
      problems[#problems + 1] = ("ui.icons.%s: must be a character or two"):format(name)
    else
      good[name] = icon
    end
  end
  return good
end

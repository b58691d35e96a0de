-- Finds the rows of a window that can be seen, as drawn last: not those in closed folds, below a float, or cut off.
local api = vim.api
local ABOVE_ALL = 1000 -- Neovim's own menu covers all windows

---@class acp.Area in cells of the screen, from 0; `bottom` and `right` are exclusive
---@field top integer
---@field left integer
---@field bottom integer
---@field right integer
---@field zindex integer

---@param config table of nvim_win_get_config()
---@return acp.Area
local function area_of(win, config)
  local position = api.nvim_win_get_position(win)
  local edge = config.border and config.border ~= "none" and 2 or 0
  return {
    top = position[1],
    left = position[2],
    bottom = position[1] + api.nvim_win_get_height(win) + edge,
    right = position[2] + api.nvim_win_get_width(win) + edge,
    zindex = config.relative ~= "" and config.zindex or 0,
  }
end

---@return acp.Area[] of the floats and the menu of this tab page
local function covering_areas()
  local areas = {}
  for _, win in ipairs(api.nvim_tabpage_list_wins(0)) do
    local config = api.nvim_win_get_config(win)
    if config.relative ~= "" and not config.hide then
      areas[#areas + 1] = area_of(win, config)
    end
  end
  local menu = vim.fn.pumvisible() == 1 and vim.fn.pum_getpos()
  if menu then
    areas[#areas + 1] = {
      top = menu.row,
      left = menu.col,
      bottom = menu.row + menu.height,
      right = menu.col + menu.width + (menu.scrollbar and 1 or 0),
      zindex = ABOVE_ALL,
    }
  end
  return areas
end

---@param one acp.Area
---@param other acp.Area
local function overlap(one, other)
  return one.top < other.bottom and other.top < one.bottom and one.left < other.right and other.left < one.right
end

---@param info table of getwininfo()
---@return integer columns of the line's text, and of the cell behind it, where virtual text may be
local function width_of(info, line)
  local text = api.nvim_buf_get_lines(info.bufnr, line - 1, line, false)[1] or ""
  return api.nvim_win_call(info.winid, function()
    return vim.fn.strdisplaywidth(text)
  end) + 1
end

---@return integer rows of the screen that the line's text takes
local function height_of(win, line)
  local height = api.nvim_win_text_height(win, { start_row = line - 1, end_row = line - 1 })
  return height.all - height.fill
end

---@param info table of getwininfo()
---@return acp.Area where the line's text is
local function area_of_line(info, line)
  local rows = height_of(info.winid, line)
  local top = vim.fn.screenpos(info.winid, line, 1).row - 1
  local left = info.wincol - 1 + info.textoff
  local width = info.width - info.textoff
  width = rows == 1 and math.min(width, width_of(info, line)) or width
  return { top = top, left = left, bottom = top + rows, right = left + width, zindex = 0 }
end

---@param info table of getwininfo()
---@param view table of winsaveview()
---@return boolean a part of the line is not in the window
local function is_cut(info, view, line)
  if not vim.wo[info.winid].wrap then
    return view.leftcol > 0 or width_of(info, line) > info.width - info.textoff
  elseif line ~= info.topline then
    return false
  end
  return view.skipcol > 0 or height_of(info.winid, line) > info.height
end

---@param win integer of the current tab page
---@return { first: integer, last: integer, is_seen: fun(row: integer): boolean } rows of the window, from 0
return function(win)
  local info = vim.fn.getwininfo(win)[1]
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  local own = area_of(win, api.nvim_win_get_config(win))
  local covering = vim.tbl_filter(function(area)
    return area.zindex > own.zindex and overlap(area, own)
  end, covering_areas())
  return {
    first = info.topline - 1,
    last = info.botline - 1,
    is_seen = function(row)
      local line = row + 1
      local folded = api.nvim_win_call(win, function()
        return vim.fn.foldclosed(line)
      end)
      if folded ~= -1 or is_cut(info, view, line) then
        return false
      end
      local area = #covering > 0 and area_of_line(info, line)
      return not area or not vim.iter(covering):any(function(other)
        return overlap(area, other)
      end)
    end,
  }
end

-- Which rows of a window a person can see, as it was drawn last: not those in closed folds, below a float, or cut off.
local api = vim.api
local ABOVE_ALL = 1000 -- Neovim's own menu covers all windows

---@class acp.Area in cells of the screen, from 0; `bottom` and `right` are behind it
---@field top integer
---@field left integer
---@field bottom integer
---@field right integer
---@field zindex integer

---@param win integer
---@param config table
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
---@return boolean
local function overlap(one, other)
  return one.top < other.bottom and other.top < one.bottom and one.left < other.right and other.left < one.right
end

---@param win integer
---@param bufnr integer
---@param line integer
---@return integer columns of its text
local function width_of(win, bufnr, line)
  local text = api.nvim_buf_get_lines(bufnr, line - 1, line, false)[1] or ""
  return api.nvim_win_call(win, function()
    return vim.fn.strdisplaywidth(text)
  end) + 1 -- what is drawn behind it
end

---@param info table of getwininfo()
---@param line integer
---@return acp.Area where its text is
local function area_of_line(info, line)
  local height = api.nvim_win_text_height(info.winid, { start_row = line - 1, end_row = line - 1 })
  local rows = height.all - height.fill
  local top = vim.fn.screenpos(info.winid, line, 1).row - 1
  local left = info.wincol - 1 + info.textoff
  local width = info.width - info.textoff
  width = rows == 1 and math.min(width, width_of(info.winid, info.bufnr, line)) or width
  return { top = top, left = left, bottom = top + rows, right = left + width, zindex = 0 }
end

---@param info table of getwininfo()
---@return fun(line: integer): boolean the line is below a float, or partly
local function covering(info)
  local own = area_of(info.winid, api.nvim_win_get_config(info.winid))
  local areas = vim.tbl_filter(function(area)
    return area.zindex > own.zindex and overlap(area, own)
  end, covering_areas())
  return function(line)
    local area = #areas > 0 and area_of_line(info, line)
    return area and vim.iter(areas):any(function(other)
      return overlap(area, other)
    end) or false
  end
end

---@param info table of getwininfo()
---@param view table of winsaveview()
---@param line integer
---@return boolean a part of the line is not in the window
local function is_cut(info, view, line)
  if not vim.wo[info.winid].wrap then
    return view.leftcol > 0 or width_of(info.winid, info.bufnr, line) > info.width - info.textoff
  elseif line ~= info.topline then
    return false
  end
  local rows = api.nvim_win_text_height(info.winid, { start_row = line - 1, end_row = line - 1 })
  return view.skipcol > 0 or rows.all - rows.fill > info.height
end

---@class acp.VisibleRows
---@field first integer row, from 0
---@field last integer row
---@field is_seen fun(row: integer): boolean for rows from the first to the last

---@param win integer of the current tab page
---@return acp.VisibleRows
return function(win)
  local info = vim.fn.getwininfo(win)[1]
  local view = api.nvim_win_call(win, vim.fn.winsaveview)
  local is_covered = covering(info)
  return {
    first = info.topline - 1,
    last = info.botline - 1,
    is_seen = function(row)
      local line = row + 1
      local folded = api.nvim_win_call(win, function()
        return vim.fn.foldclosed(line)
      end)
      return folded == -1 and not is_cut(info, view, line) and not is_covered(line)
    end,
  }
end

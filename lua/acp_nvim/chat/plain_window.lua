-- What all windows of a chat have in common: nothing beside the text, whatever the user has chosen for code.
return {
  breakindent = false, -- it takes as long as all else that is measured to place the cursor
  colorcolumn = "",
  concealcursor = "",
  cursorbind = false,
  cursorline = false,
  diff = false,
  foldcolumn = "0",
  list = false,
  number = false,
  relativenumber = false,
  scrollbind = false,
  signcolumn = "no",
  spell = false,
  statuscolumn = "",
  winhighlight = "", -- with groups of a window Neovim finds out what all groups look like, at each redraw
}

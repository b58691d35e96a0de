-- Every number of the Lua side that somebody chose, with its reason.
return {
  output_lines = 20, -- of a tool call's text: a screen half; the agent has the whole of it, the log too
  diff_lines = 60, -- of one diff: about one tall screen; the file itself shows the rest
  diffs_lines = 400, -- of all diffs of one tool call: several tall screens; each further file has its name
  plan_lines = 200, -- of a plan that is a text: people read it whole; who writes more writes no plan
  event_types = 20, -- unknown types of events that are logged: a newer host has a few
  line_bytes = 2000, -- of one line in a tool call: minified files would make each redraw slow
  diff_bytes = 1024 * 1024, -- of old and new text: beyond it a diff would take more than a frame
  stderr_lines = 20, -- of the host, kept for the message when it ends
  message_lines = 3, -- of one message: more would ask for a key
  message_bytes = 240, -- of one message: three short lines of 80 columns
  history = 100, -- prompts that are remembered in a session
  textlock_retry_ms = 20, -- until a batch that met a text lock is tried again
  follow_bytes = 8 * 1024 * 1024, -- of a file that is opened to follow the agent
  follow_light_ms = 800, -- how long the line stays lit
  menu_ms = 3000, -- that a change of a buffer waits for a menu of completions: as long as one looks for a word in it
  realpath_ms = 2000, -- how long the real path of a buffer is believed
  saved_text_bytes = 16 * 1024 * 1024, -- of a buffer whose saved text is kept for merging: as much as people edit by hand
  health_ms = 2000, -- how long :checkhealth waits for Python
  key_bytes = 50, -- of a key that is mapped: Neovim takes no more
  hunks = 50, -- of a text of the chat that is replaced: with more changes it is another text
  paired_lines = 50, -- changed line by line up to here, so that marks keep their columns
}

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
  review_load_ms = 3000, -- until nothing was left to review: a host that starts on a slow machine has told by then
  list_columns = 60, -- for the names of files under review: beside them stand counts, and notes
  quickfix_bytes = 200, -- of the text of one hunk in the quickfix list: more than a line of the screen
  summary_files = 200, -- of one turn in the chat: several tall screens; the list has all of them
  deleted_lines = 60, -- of one hunk that are shown: about one tall screen
  word_bytes = 20 * 1024, -- of the old and new lines of a hunk that are compared word by word: a millisecond or so
  same_part = 0.34, -- of a line's words that must stand in the other text: with less it is another line
  syntax_context = 30, -- lines around old ones that are read to colour them: a string or a comment begins there
  syntax_bytes = 32 * 1024, -- of old lines and what is around them: parsed within a few milliseconds
  syntax_columns = 4000, -- of the old lines of one hunk: each column is asked for by itself
  line_spans = 200, -- coloured pieces of one old line: more are minified code
  dress_ns = 2e6, -- that words and colours may take before the editor has its turn again
  edit_steps = 500, -- changes of a buffer by which rows are found again: more than come before the host's answer
  edit_pause_ms = 100, -- without a change until the host is told: no word is typed that slowly
  paired_lines = 50, -- changed line by line up to here, so that marks keep their columns
}

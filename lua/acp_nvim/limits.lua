-- Numbers that several modules use, or that tests change, with their reasons; each other one stands beside its user.
return {
  output_lines = 20, -- of a tool call's text: a screen half; the agent has the whole of it, the log too
  details_part = 0.5, -- of the screen's lines, for the details of a tool call: they are read, and closed
  request_lines = 5000, -- of a text or a command that is to be allowed: people see the whole of what they allow
  request_indent = 40, -- columns of blanks at the beginning of a request's lines that stay: code is indented
  seen_ms = 150, -- that a row is on the screen until it counts as seen; keys that are held down repeat sooner
  answer_pause_ms = 500, -- that a request is there before a key allows it: who presses earlier meant the one before
  line_bytes = 2000, -- of one line in a tool call: minified files would make each redraw slow
  diff_bytes = 1024 * 1024, -- of old and new text: beyond it a diff would take more than a frame
  textlock_retry_ms = 20, -- until a batch that met a text lock is tried again
  follow_share = 0.025, -- of a processor that showing places may take; with what comes of it that is less than 5 %
  follow_pause_ms = 100, -- between two places that are shown: nobody reads faster
  health_ms = 2000, -- how long :checkhealth waits for Python
  list_columns = 60, -- for the names of files under review: beside them stand counts, and notes
  deleted_lines = 60, -- of one hunk that are shown: about one tall screen
  edit_pause_ms = 100, -- without a change until the host is told: no word is typed that slowly
  terminal_name = 60, -- characters of a command in the name of its buffer
  segment_bytes = 4096, -- of a segment of markdown: read within a fraction of a millisecond
  inline_bytes = 2000, -- of one line, in which words are coloured: a long paragraph; what comes after is plain
  rule_columns = 200, -- of a rule or a table that are drawn as lines: more than a screen is wide
  code_line_bytes = 1000, -- of a line of code: longer ones are minified, and stay plain
  mention_bytes = 1024 * 1024, -- of one buffer or diff: more than the context of a model (the host's MENTION_BYTES)
  git_ms = 2000, -- of one git in a project: 100,000 files take 0.3 s; a FIFO among its own files would take for ever
  mention_ms = 5000, -- to look up what a prompt mentions: disks take milliseconds, git and servers a second
  symbol_ms = 1000, -- until language servers that have not answered are left out
  files = 200000, -- of a directory that are offered: larger ones are many projects
  files_rest_ms = 3000, -- until files are listed again: a file that was just made is there the next time
  files_rest = 20, -- the same, in durations of the last listing: git takes 0.3 s for 100,000 files
  completions = 100, -- entries of one menu: nobody scrolls through more, they type on
  image_bytes = 7 * 1024 * 1024, -- of an image: 10 MB in base64, which is what agents take (the host's IMAGE_BYTES)
}

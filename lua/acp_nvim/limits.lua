-- Limits that several modules use or that tests change. Each other limit is defined in the module that uses it.
return {
  output_lines = 20, -- of a tool call's text: half a screen; the details have the whole text
  output_first = 8, -- of these from the beginning (the host's FIRST_LINES), the others from the end: results are there
  details_part = 0.5, -- of the screen's lines for the details of a tool call, which are read and closed
  request_lines = 5000, -- of a text or command in a permission request: users see all that they allow
  request_indent = 40, -- columns of leading blanks that a line of a request keeps: code is indented
  seen_ms = 150, -- that a row has to be visible to count as seen; held keys repeat faster
  answer_pause_ms = 500, -- from the display of a request until a key can allow it: earlier keys had another purpose
  line_bytes = 2000, -- of one line in a tool call: minified files would make each redraw slow
  diff_bytes = 1024 * 1024, -- of old and new text: the diff of more would take longer than a frame
  textlock_retry_ms = 20, -- until a batch that met a text lock is tried again
  follow_share = 0.025, -- of a processor for showing locations; with the redraws that follow it is less than 5 %
  follow_pause_ms = 100, -- between two locations that are shown: nobody reads faster
  health_ms = 2000, -- that :checkhealth waits for Python
  list_columns = 60, -- for the names of files under review: counts and notes stand beside them
  deleted_lines = 60, -- shown of one hunk: about one tall screen
  edit_pause_ms = 100, -- without a change until the host is sent the edits: longer than between two keys
  terminal_name = 60, -- characters of a command in the name of its buffer
  segment_bytes = 4096, -- of a segment of markdown: parsed within a fraction of a millisecond
  inline_bytes = 2000, -- of one line that are highlighted: a long paragraph; the rest is plain
  rule_columns = 200, -- of a rule or a table that are drawn as lines: wider than a screen
  code_line_bytes = 1000, -- of a line of code: longer lines are minified, and are not highlighted
  mention_bytes = 1024 * 1024, -- of one buffer or diff: more than the context of a model (the host's MENTION_BYTES)
  git_ms = 2000, -- of one git in a project: 100,000 files take 0.3 s; reading a FIFO would never end
  mention_ms = 5000, -- to resolve the mentions of a prompt: disks take milliseconds, git and language servers a second
  symbol_ms = 1000, -- that language servers have to answer
  files = 200000, -- of a directory that are offered: larger ones are several projects
  files_rest_ms = 3000, -- until the list of files is renewed: a new file is offered by then
  files_rest = 20, -- the same, in multiples of the time that the last listing took: git takes 0.3 s for 100,000 files
  commands_ms = 10000, -- that a completion waits for the commands of an agent that starts
  completions = 100, -- entries of one menu: users type on rather than scroll through more
  image_bytes = 7 * 1024 * 1024, -- of an image: 10 MB in base64, which is what agents accept (the host's IMAGE_BYTES)
}

-- The options `keymaps.*`: each key, and what it does.

---@param name string
---@param default string|string[]|false
---@param doc string
---@return acp.Option.Schema
local function key(name, default, doc)
  return { name = "keymaps." .. name, types = { "key" }, default = default, doc = doc }
end

---@type acp.Option.Schema[]
return {
  key("send", "<CR>", "Prompt, normal mode: send."),
  key("send_insert", "<C-s>", "Prompt, normal and insert mode: send."),
  key("history_previous", "<M-p>", "Prompt: the prompt sent before."),
  key("history_next", "<M-n>", "Prompt: the prompt sent after, or your draft."),
  key("paste_image", "<M-v>", "Prompt: attach the image in the clipboard."),
  key("history_pick", "<M-h>", "Prompt: choose from the prompts of this project."),
  key("steer", "<M-s>", "Prompt: send into the turn that runs, where the agent can; else it is queued."),
  key("drop_context", "<M-x>", "Prompt: attach nothing after all."),
  key("focus_prompt", "i", "Chat: go to the prompt."),
  key("close", "q", "Chat and form: close the windows; the session goes on. The review's list: close it."),
  key("session_actions", "gs", "Chat: choose what is done with this session: go on with it, fork, close, delete."),
  key("cancel", "<C-c>", "Chat and prompt, normal mode: cancel the turn."),
  key("sign_in", "gl", "Chat and prompt, normal mode: sign in to the agent."),
  key("help", "g?", "Chat, prompt and form: show the keys."),
  key("mode_next", "<M-m>", "Chat and prompt: the agent's next mode."),
  key("model", "<M-l>", "Chat and prompt: choose the model."),
  key("config", "<M-c>", "Chat and prompt: set what the agent offers to set."),
  key("details", "K", "Chat, on a tool call or a permission: all that there is of the tool call."),
  key("next_message", "]]", "Chat: your next message."),
  key("previous_message", "[[", "Chat: your previous message."),
  key("allow_once", "a", "Chat, while a permission is asked: allow once."),
  key("allow_always", "A", "Chat, while a permission is asked: allow always."),
  key("reject_once", "r", "Chat, while a permission is asked: reject once."),
  key("reject_always", "R", "Chat, while a permission is asked: reject always."),
  key("choose", "<CR>", "Chat, while a permission is asked: the option under the cursor."),
  key("preview", "p", "Chat, while a permission is asked: preview the change in its files, one after the other."),
  key(
    "open",
    { "<CR>", "gf" },
    "Chat and the review's list: open what this line leads to: a file, a link, a picture, all output of a terminal."
  ),
  key("form_edit", { "<CR>", "i" }, "Form: fill in the field under the cursor: type, choose, or change it."),
  key("form_toggle", "<Space>", "Form: the next value of the field under the cursor."),
  key("form_clear", "x", "Form: take the value of the field under the cursor away."),
  key("form_next", "<Tab>", "Form: the next field."),
  key("form_previous", "<S-Tab>", "Form: the previous field."),
  key("form_review", "<C-s>", "Form: look at what will be sent."),
  key("form_send", "<CR>", "Form, when you have looked at it: send it."),
  key("form_back", { "<BS>", "u" }, "Form, when you look at it: back to the fields."),
  key("form_open", "o", "Form with a web page: agree, and open it in the browser."),
  key("form_opened", "O", "Form with a web page: agree, and open it yourself."),
  key("form_decline", "<C-x>", "Form: decline to answer."),
  key("form_cancel", "<C-c>", "Form: cancel the question, without an answer."),
  key("review_next", "]h", "Files under review: the next hunk, with a count: that many further."),
  key("review_previous", "[h", "Files under review: the previous hunk."),
  key("review_keep", "ghk", "Files under review: keep this hunk, or the selected ones. In the list: the file."),
  key("review_reject", "ghr", "Files under review: reject this hunk, or the selected ones. In the list: the file."),
  key("review_keep_all", "ghK", "Files under review: keep all hunks of this file."),
  key("review_reject_all", "ghR", "Files under review: reject all hunks of this file."),
  key("review_mine", "gho", "Files under review, on a conflict: keep your text."),
  key("review_theirs", "ght", "Files under review, on a conflict: take the other text."),
  key("review_both", "ghb", "Files under review, on a conflict: both, yours first."),
  key("review_help", "g?", "Files under review and the review's list: show the keys."),
  key("preview_allow", "ghk", "Files with a preview: allow once what is asked."),
  key("preview_reject", "ghr", "Files with a preview: reject once what is asked."),
  key("preview_options", "gho", "Files with a preview: choose from all options."),
  key("preview_next", "]h", "Files with a preview: the next hunk, also in the next file of the request."),
  key("preview_previous", "[h", "Files with a preview: the previous hunk."),
  key("preview_help", "g?", "Files with a preview: show the keys."),
  key("review_quickfix", "Q", "The review's list: all hunks as a quickfix list."),
}

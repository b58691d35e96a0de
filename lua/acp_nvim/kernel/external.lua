-- Opens addresses and files with the system's program: the only module that does. Agents name what is opened, so only
-- ordinary web and mail addresses are opened at once; the user is asked about everything else, which they see whole.
local dialog = require("acp_nvim.kernel.dialog")
local message = require("acp_nvim.kernel.message")
local reveal = require("acp_nvim.render.reveal")

local M = {}

local ADDRESS_BYTES = 2000 -- of what is opened from here: more than that nobody looks through
local NO, YES = "no", "open it"
local HOST = "^[%w_.-]+$" -- names in ASCII, and IPv4 addresses
local IPV6 = "^%[[%x:.]+%]$"
local PLAIN = "^[%w%-._~:/?#%[%]@!$&'()*+,;=%%\128-\255]*$" -- RFC 3986, and letters that browsers encode

---@param text string
---@return string? scheme in lower case
---@return string rest after the colon
local function parts(text)
  local scheme, rest = text:match("^(%a[%w+.-]*):(.*)$")
  return scheme and scheme:lower(), rest or text
end

---@param rest string of an address, after its scheme
---@return string? host in lower case, without user and port; "" if there is none
---@return string? user
local function host_of(rest)
  local authority = rest:match("^//([^/?#\\]*)")
  local user = authority and authority:match("^(.*)@")
  local host = authority and authority:sub(user and #user + 2 or 1):gsub(":%d*$", "")
  return host and host:lower(), user
end

---@param text string that the reader sees in place of an address
---@param address string
---@return string? host that the text seems to lead to
local function shown_host(text, address)
  local rest = text:match("%a[%w+.-]*:(//%S+)")
  if not rest then
    local name = vim.trim(text):match("^[*_`]*([%w.-]+%.%a%a+[:/?#]?%S-)[*_`.]*$")
    rest = name and not vim.endswith(address, "/" .. name) and "//" .. name or nil -- else the name of a file
  end
  return rest and host_of(rest)
end

---@param host string
local function bare(host)
  return (host:gsub("^www%.", ""):gsub("%.$", ""))
end

---@param scheme string
---@param rest string
---@param shown? string
---@return string? why the user is asked before a web address is opened
local function why_web(scheme, rest, shown)
  local host, user = host_of(rest)
  local other = shown and shown_host(shown, rest)
  if not host or host == "" then
    return "It names no host."
  elseif user then
    return ("What stands before the @ is not the host. The page is at %s."):format(host)
  elseif not (host:find(HOST) or host:find(IPV6)) or ("." .. host):find(".xn--", 1, true) then
    return "The name of the host has other characters than ASCII letters, or encodes them: some look like others."
  elseif not rest:find(PLAIN) then
    return "It has characters that do not belong into an address: programs read it in different ways."
  elseif other and bare(other) ~= bare(host) then
    return ("The text of the link shows %s, but it leads to %s (%s)."):format(other, host, scheme)
  end
end

---@param address string
---@param shown? string text of the link
---@return string? why the user is asked before it is opened
local function why_asked(address, shown)
  local scheme, rest = parts(address)
  if scheme == "http" or scheme == "https" then
    local why = why_web(scheme, rest, shown)
    return why or reveal.line(address) ~= address and "It has characters in it that nobody can see." or nil
  elseif scheme == "mailto" then
    local is_plain = rest:find("^[%w+_][%w.+_-]*@[%w.-]+$")
    return not is_plain and "It says more than whom to write to." or nil
  end
  return scheme and ("Another program than a browser opens addresses that begin with %s:"):format(scheme)
    or "The system decides by its name what it does with it."
end

---@param address string
---@return string? why it is never opened
local function refusal(address)
  local scheme = parts(address)
  if #address > ADDRESS_BYTES then
    return ("it has %d characters, more than can be looked through"):format(#address)
  elseif address:find("%c") then
    return "it has control characters in it"
  elseif not scheme and address:sub(1, 1) ~= "/" or scheme == "file" then
    -- the system's program could take it for an option, or open a file that was not checked
    return "it is neither an existing file nor a URL"
  end
end

---Opens an address or an absolute path without asking, after the user has agreed to it.
---@param address string
---@return string? problem
function M.start(address)
  if address:sub(1, 1) == "/" and address:find("[$:]") then -- Neovim would replace variables
    address = vim.uri_from_fname(address)
  end
  local ok, started, problem = pcall(vim.ui.open, address)
  local why = not ok and started or problem
  return why and tostring(why) or nil
end

---@param address string
---@param problem? string
local function report(address, problem)
  if problem then
    local words = "this could not be opened, %s: %s" -- the reason first: a message has one line
    message.news(words:format(problem, reveal.line(address:sub(1, ADDRESS_BYTES))), vim.log.levels.WARN)
  end
end

---Opens a file that acp_nvim has written itself.
---@param path string absolute
function M.file(path)
  report(path, M.start(path))
end

---Opens an address, or a directory, that an agent names. Asks unless it is an ordinary web or mail address.
---@param address string URI, or absolute path
---@param shown? string text of the link, which may show another address
function M.open(address, shown)
  local problem = refusal(address)
  local why = not problem and why_asked(address, shown)
  if problem or not why then
    return report(address, problem or M.start(address))
  end
  local prompt = ("Open this with the system's program?\n  %s\n%s"):format(reveal.line(address), reveal.line(why))
  dialog.confirm({ prompt = prompt, kind = "acp_open", yes = YES, no = NO, is_careful = true }, function(is_yes)
    if is_yes then
      report(address, M.start(address))
    end
  end)
end

return M

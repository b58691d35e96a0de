-- Lists the files of a git repository below a directory, those that git ignores left out.
local git = require("acp_nvim.git")
local limits = require("acp_nvim.limits")
local slices = require("acp_nvim.prompt.complete.slices")

local M = {}

---@class acp.GitListing
---@field chunks table<integer, string> that are to be read
---@field next integer of the chunk that is read next
---@field last integer of the last one
---@field rest string the beginning of a path
---@field count integer
---@field reading boolean
---@field over? boolean git has ended
---@field process? vim.SystemObj

---@param listing acp.GitListing
---@return string[] paths of the next chunk
local function take(listing)
  local text, paths = listing.rest .. listing.chunks[listing.next], {}
  listing.chunks[listing.next] = nil
  listing.next = listing.next + 1
  local whole = text:match("^.*()%z") or 0
  listing.rest = text:sub(whole + 1)
  for path in text:sub(1, whole):gmatch("[^%z]+") do
    if not path:find("%c") then
      paths[#paths + 1] = path
    end
  end
  listing.count = listing.count + #paths
  return paths
end

---@param listing acp.GitListing
---@param found fun(paths: string[])
---@param done fun(ok: boolean)
local function read_all(listing, found, done)
  if listing.reading then
    return
  end
  listing.reading = true
  slices.run(function()
    if listing.chunks[listing.next] and listing.count < limits.files then
      found(take(listing))
      return false
    end
    listing.reading = false
    if listing.over then
      done(listing.count > 0) -- all of it may be ignored, by a repository of the whole home
    end
    return true
  end)
end

---@param cwd string
---@param found fun(paths: string[]) relative to it; maybe called in fast events
---@param done fun(ok: boolean) false: it is in no repository, all of it is ignored, or there is no git; called once, maybe in a fast event
function M.start(cwd, found, done)
  local listing = { chunks = {}, next = 1, last = 0, rest = "", count = 0, reading = false }
  local function read(_, chunk)
    if chunk and listing.count < limits.files then
      listing.last = listing.last + 1
      listing.chunks[listing.last] = chunk
      read_all(listing, found, done)
    elseif chunk and listing.process then
      listing.process:kill("sigterm")
    end
  end
  local function ended()
    listing.over = true
    read_all(listing, found, done)
  end
  listing.process = git.run(cwd, { "ls-files", "--cached", "--others", "--exclude-standard", "-z" }, read, ended)
end

return M

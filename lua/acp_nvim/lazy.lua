-- Defers the loading of modules to their first use, so that the first command shows the prompt without waiting for them.
-- .luarc.json tells the language server to treat `lazy(name)` like `require(name)`.
local M = {}

---Returns a stand-in for a module. Reading a field of it, or calling it, loads the module. Functions are kept, so that
---they cost the same as those of the module from then on.
---@param name string
---@return any
local function module(name)
  return setmetatable({}, {
    __index = function(self, key)
      local value = require(name)[key]
      if type(value) == "function" then
        rawset(self, key, value)
      end
      return value
    end,
    __call = function(_, ...)
      return require(name)(...)
    end,
  })
end

---Returns a function of a module, to pass it on. Calling it loads the module.
---@param name string of the module
---@param field string of the function
---@return fun(...): ...
function M.fn(name, field)
  return function(...)
    return require(name)[field](...)
  end
end

---@overload fun(name: string): any
return setmetatable(M, {
  __call = function(_, name)
    return module(name)
  end,
})

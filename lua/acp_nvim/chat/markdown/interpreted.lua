-- Keeps the compiler away from a module: patterns cannot be compiled, and to try it takes longer than to run them.
local jit = rawget(_G, "jit")

---Called by a module at its beginning, for all of its functions.
return function()
  if jit then
    jit.off(debug.getinfo(2, "f").func, true)
  end
end

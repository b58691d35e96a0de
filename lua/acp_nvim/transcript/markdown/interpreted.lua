-- Switches the JIT compiler off for a module: it cannot compile patterns, and attempts take longer than interpreting.
local jit = rawget(_G, "jit")

---Applies to all functions of the module that calls it at its beginning.
return function()
  if jit then
    jit.off(debug.getinfo(2, "f").func, true)
  end
end

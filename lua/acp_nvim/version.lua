-- The version of this plugin; the host must have the same.
return "0.1.0"

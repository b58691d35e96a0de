"""One agent floods, another one works: what the second, the editor and the memory notice of it."""

"""Child processes: spawning, the tail of their stderr, and an end that leaves nothing behind."""

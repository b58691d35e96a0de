"""Work trees of git that sessions have for themselves: made, looked at, removed; the user's own is never touched."""

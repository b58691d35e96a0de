"""Creates, inspects and removes git worktrees for sessions; never changes the user's own work tree."""

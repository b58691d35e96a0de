"""The review of file changes: attribution, hunks, decisions, checkpoints, and restores."""

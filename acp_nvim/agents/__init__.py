"""Who can be started, and how."""

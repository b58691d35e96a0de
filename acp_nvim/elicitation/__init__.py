"""Questions of agents to the user: forms to fill in, and URLs to open."""

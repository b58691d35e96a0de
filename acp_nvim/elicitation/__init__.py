"""Questions of agents to the user: forms that are filled in, and URLs that are opened."""

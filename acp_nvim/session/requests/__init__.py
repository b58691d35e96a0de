"""Serves the requests of agents: files, terminals and questions, and permissions by `permissions.request`."""

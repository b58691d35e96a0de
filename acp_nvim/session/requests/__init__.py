"""Serves the requests of agents: permissions, files, terminals and questions."""

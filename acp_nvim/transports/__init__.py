"""Where agents run: the interface that a process of ours and a connection over a network have in common."""

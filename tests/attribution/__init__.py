"""Random sequences of what users, agents and git do to files, and who is said to have done it."""

"""A demo agent: what a new user meets before any real agent is set up. No model, standard library only."""

"""One conversation with an agent: its turns, its queue and its state; and the agent that is opened for it."""

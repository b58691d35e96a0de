"""One permission request of an agent: what it is about, what is shown of it, and what answers it."""

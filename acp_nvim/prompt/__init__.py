"""A prompt and what it attaches: the items that the user gives, what is read of them, and what an agent gets."""

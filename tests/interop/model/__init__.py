"""A model server on loopback that says what a prompt asks it to say, in each of the usual dialects."""

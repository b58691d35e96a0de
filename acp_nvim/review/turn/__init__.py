"""What an agent changes in one turn of a session, and what it is told of the user's decisions."""

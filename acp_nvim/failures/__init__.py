"""What an agent's failures mean, in words for the user."""

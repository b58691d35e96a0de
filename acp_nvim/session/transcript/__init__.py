"""What was said and done in a session: its blocks, and what the editor is told of them."""

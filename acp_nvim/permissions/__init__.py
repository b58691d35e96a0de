"""Rules that answer permission requests, and requests that wait for the user: each is answered exactly once."""

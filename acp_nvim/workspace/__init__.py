"""The files of a session: which ones an agent may touch; reading and writing them without losing the user's text."""

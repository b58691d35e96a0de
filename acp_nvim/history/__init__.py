"""Transcripts of conversations in the state directory: writing, reading, searching, removal, and export."""

"""The shadow git repository of a workspace: what all of its files were at some moments."""

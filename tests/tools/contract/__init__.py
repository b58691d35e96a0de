"""Writes what is generated from the structs that Neovim and the host exchange."""

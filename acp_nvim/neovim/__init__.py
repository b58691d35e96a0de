"""Neovim: the only layer that knows pynvim."""

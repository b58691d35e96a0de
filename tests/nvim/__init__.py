"""Tests with a real Neovim."""

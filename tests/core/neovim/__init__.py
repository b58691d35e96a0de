"""Tests of acp_nvim.neovim."""

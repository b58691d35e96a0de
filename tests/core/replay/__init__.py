"""Tests of acp_nvim.replay."""

"""Tests of acp_nvim.rpc."""

"""acp_nvim: work with any coding agent inside Neovim, over the Agent Client Protocol."""

__version__ = "0.8.1"
"""The version of this plugin, and the only place that has it: Lua and pyproject.toml read it from here."""

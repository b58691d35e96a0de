"""acp_nvim: work with any coding agent inside Neovim, over the Agent Client Protocol."""

__version__ = "0.1.0"

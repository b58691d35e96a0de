"""The editor as an MCP server: agents see unsaved text, diagnostics and the language servers of this Neovim."""

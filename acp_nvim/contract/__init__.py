"""What Neovim and the host exchange: events and views, messages and settings, and the interface of an editor."""

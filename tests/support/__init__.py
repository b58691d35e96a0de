"""What tests stand on: a real Neovim, processes, waiting, measuring."""

"""Files of a session in real Neovim, with the real host and a real agent process: nothing the user typed is lost."""

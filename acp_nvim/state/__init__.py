"""Files of ours that outlive a Neovim: private, shared between hosts, and cleaned up."""

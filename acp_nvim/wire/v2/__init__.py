"""Version 2 of the protocol, as far as its draft goes."""

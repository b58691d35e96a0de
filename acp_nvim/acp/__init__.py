"""ACP's own words: what is sent, what arrives, and the one model that every protocol version is translated into."""

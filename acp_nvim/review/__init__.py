"""What agents did to files, to be looked at, kept and rejected: the texts, their hunks, the ledger, the checkpoints."""

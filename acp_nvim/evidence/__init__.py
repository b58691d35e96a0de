"""Who changed a file: what agents did, what the user saved, and what git wrote."""

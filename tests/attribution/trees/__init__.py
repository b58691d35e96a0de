"""Random work trees, what agents do to them, and whether the review tells, rejects and spares what it should."""

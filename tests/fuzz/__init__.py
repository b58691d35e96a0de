"""Any bytes at all against the wire layer."""

"""Both protocol versions as they are written on the wire: the types of the official schemas, and nothing else."""

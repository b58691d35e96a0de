"""A shadow git repository for each workspace, with snapshots of all its files."""

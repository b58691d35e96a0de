"""What agents ask of the editor and its user: permissions, files, terminals, forms."""
